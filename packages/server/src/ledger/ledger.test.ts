import { type ModelFacts, unknownFacts } from "@varve/agent";
import { type Fence, type Log, memoryLog } from "@varve/log";
import { isFault, type LogId, type NewRow, type SystemData, type TabId } from "@varve/protocol";
import { createFakeClock, createFakeIds, type FakeClock } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { Ledger, type LedgerLog } from "./ledger.ts";
import { tabLedger } from "./tab-ledger.ts";
import { usageBody } from "./usage-body.ts";

const dayMs = 86_400_000;
const noon = Date.UTC(2026, 10, 30, 12);
const ids = createFakeIds("l");
const rates = { input: 10, output: 20, read: 1, write5m: 12.5, write1h: 20 };
const facts: ModelFacts = {
  ...unknownFacts,
  prices: { ...rates, tiers: [] },
  cache: { minTokens: 0, shortMs: 300_000, longMs: 3_600_000 },
};
const usage = (more: Partial<Extract<SystemData, { kind: "usage" }>> = {}): SystemData => ({
  kind: "usage",
  model: "a/known",
  fresh: 1_000_000,
  read: 1_000_000,
  write5m: 0,
  write1h: 0,
  output: 0,
  reasoning: 0,
  price: 11,
  attainable: 2_000_000,
  ...more,
});

interface Desk {
  readonly log: Log;
  readonly clock: FakeClock;
  readonly ledger: Ledger;
  readonly tab: Fence;
  /** Seals rows of a turn and tells the ledger, as an owner does. */
  seal(rows: readonly SystemData[], turn?: string, at?: number): Promise<boolean>;
  /** The ledger of another start on the same log. */
  again(): Promise<Ledger>;
}

async function desk(startMs = noon): Promise<Desk> {
  const [log, clock] = [memoryLog(), createFakeClock(startMs)];
  const base = { title: "T", cwd: "/", model: "a/known", effort: "default", permissions: "ask", parentId: null };
  const made = await log.createTab({ ...base, id: ids.tab(), logId: ids.log(), createdAt: 0, options: {} });
  if (isFault(made)) throw new Error(made.message);
  const claim = await log.claim(made.id, 1);
  if (claim === null || isFault(claim)) throw new Error("no claim");
  const again = async (): Promise<Ledger> => {
    const known = (model: string): ModelFacts => (model === "a/known" ? facts : unknownFacts);
    return Ledger.load({ log, clock, facts: known, offsetAt: () => 0 }, await log.tabs());
  };
  const ledger = await again();
  return {
    log,
    clock,
    ledger,
    tab: claim,
    again,
    async seal(datas, turn = "t1", at = clock.now()) {
      const rows = datas.map((data, step): NewRow => {
        const place = { turnId: turn as NewRow["turnId"], step, createdAt: at };
        return { id: ids.chunk(), ...place, role: "system", type: "system", data };
      });
      const outcome = await log.commit(claim, { rows });
      if (outcome.kind !== "committed") throw new Error(outcome.kind);
      return ledger.sealed(claim, outcome.rows);
    },
  };
}

const bodyOf = async ({ log, tab }: Desk, ledger: Ledger, page: { before?: number; limit?: number } = {}) => {
  const tabs = new Map((await log.tabs()).map((entry) => [entry.id, entry]));
  const entry = tabs.get(tab.tabId);
  if (entry === undefined) throw new Error("no tab");
  return tabLedger(ledger, tabs, { tab: entry, ...page });
};

describe("sums", () => {
  test("follow each usage row, and are the same after a restart", async () => {
    const d = await desk();
    expect(await d.seal([{ kind: "notice", level: "info", code: "x", text: "y" }])).toBe(false);
    expect(await d.seal([usage(), usage({ model: "b/unknown", price: null, attainable: null })])).toBe(true);
    expect(await d.seal([usage({ purpose: "warm", price: 0.5 })], "")).toBe(true);
    const again = await d.again();
    for (const ledger of [d.ledger, again]) {
      expect([ledger.costOf(d.tab.tabId), ledger.today()]).toEqual([
        { price: 11.5, unpriced: 1 },
        { price: 11.5, unpriced: 1 },
      ]);
    }
    const byModel = (ledger: Ledger) => ledger.sumsOf(d.tab.tabId).toSorted((a, b) => (a.price < b.price ? 1 : -1));
    expect(byModel(again)).toEqual(byModel(d.ledger));
    expect(d.ledger.costOf("other" as TabId)).toEqual({ price: 0, unpriced: 0 });
  });

  test("of a day end with it; a clock that is put back finds its day again", async () => {
    const d = await desk();
    await d.seal([usage()]);
    d.clock.jump(dayMs);
    expect(d.ledger.today()).toEqual({ price: 0, unpriced: 0 });
    await d.seal([usage({ price: 1 })]);
    expect(d.ledger.today().price).toBe(1);
    d.clock.jump(-dayMs);
    expect(d.ledger.today().price).toBe(11);
    expect(d.ledger.costOf(d.tab.tabId).price).toBe(12);
  });

  test("a row that was made before midnight and sealed behind it belongs to the day before", async () => {
    const d = await desk(Date.UTC(2026, 11, 1) - 5);
    d.clock.jump(10);
    await d.seal([usage()], "t1", d.clock.now() - 10);
    expect(d.ledger.today().price).toBe(0);
    expect((await d.ledger.days(2)).map(({ day, sums }) => [day, sums.length])).toEqual([
      ["2026-11-30", 1],
      ["2026-12-01", 0],
    ]);
  });
});

describe("a tab's bill", () => {
  test("tells each step as it was told, with its request, its cause and what that cost", async () => {
    const d = await desk();
    const cause = { kind: "expired", tokens: 1_000_000, idleMs: 400_000 } as const;
    const request = { kind: "request", model: "a/known", scopeHash: "s", tailHash: "t" } as const;
    await d.seal([request, usage({ cause, startedAt: noon - 5 })]);
    await d.seal([usage({ model: "b/unknown", price: null, read: null, cause })], "t2");
    const { steps, turns, models, own, whole, children, more } = await bodyOf(d, d.ledger);
    expect(steps).toMatchObject([
      { requestSeq: 1, usageSeq: 3, turnId: "t2", model: "b/unknown", price: null, read: null, causePrice: null },
      {
        requestSeq: 1,
        usageSeq: 2,
        turnId: "t1",
        purpose: "step",
        startedAt: noon - 5,
        endedAt: noon,
        cause,
        causePrice: 9,
      },
    ]);
    expect(turns.map(({ turnId, startedAt, sum }) => [turnId, startedAt, sum.price])).toEqual([
      ["t2", noon, 0],
      ["t1", noon - 5, 11],
    ]);
    expect(models.map(({ model, sum }) => [model, sum.requests, sum.unpriced])).toEqual([
      ["a/known", 1, 0],
      ["b/unknown", 1, 1],
    ]);
    expect(own).toMatchObject({ requests: 2, fresh: 2_000_000, read: 1_000_000, price: 11, unpriced: 1, saved: 9 });
    expect([whole, children, more]).toEqual([own, [], false]);
  });

  test("comes in pages, and a turn is summed whole however the pages are cut", async () => {
    const d = await desk();
    for (let turn = 0; turn < 4; turn++) await d.seal([usage(), usage(), usage({ purpose: "compaction" })], `t${turn}`);
    const seen: number[] = [];
    let before: number | undefined;
    for (let page = 0; page < 9; page++) {
      const body = await bodyOf(d, d.ledger, { limit: 5, ...(before !== undefined && { before }) });
      for (const { sum } of body.turns) expect(sum.requests).toBe(3);
      seen.push(...body.steps.map(({ usageSeq }) => usageSeq));
      before = seen.at(-1);
      if (!body.more) break;
    }
    expect(seen).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("goes on through what the tab was cut from, and leaves out what another tab paid", async () => {
    const d = await desk();
    await d.seal([usage(), usage({ price: 3 })]);
    const child = { kind: "child", logId: ids.log(), parentId: d.tab.logId, parentSeq: 1 } as const;
    const pointed = await d.log.point(d.tab, child, 5);
    const claim = await d.log.claim(d.tab.tabId, 9);
    if (isFault(pointed) || claim === null || isFault(claim)) throw new Error("not pointed");
    const row = { id: ids.chunk(), turnId: "t5" as NewRow["turnId"], step: 0, createdAt: noon };
    await d.log.commit(claim, { rows: [{ ...row, role: "system", type: "system", data: usage({ price: 5 }) }] });
    const ledger = await d.again();
    const body = await bodyOf(d, ledger);
    // The step behind the cut is not in the log any more, yet it was paid.
    expect(body.steps.map(({ usageSeq, price }) => [usageSeq, price])).toEqual([
      [2, 5],
      [1, 11],
    ]);
    expect(body.own).toMatchObject({ requests: 3, price: 19 });

    const base = { title: "F", cwd: "/", model: "a/known", effort: "default", permissions: "ask", parentId: null };
    const target = { kind: "child", logId: ids.log(), parentId: child.logId, parentSeq: 2 } as const;
    const fork = await d.log.createTab(
      { ...base, id: ids.tab(), logId: target.logId, createdAt: 0, options: {} },
      target,
    );
    if (isFault(fork)) throw new Error(fork.message);
    const ofFork = await tabLedger(ledger, new Map([[fork.id, fork]]), { tab: fork });
    expect([ofFork.steps, ofFork.own.requests, ofFork.own.price]).toEqual([[], 0, 0]);
  });
});

describe("usage by day", () => {
  test("has every day, and past days are read once", async () => {
    const d = await desk();
    await d.seal([usage({ price: 4 })], "t1", noon - 2 * dayMs);
    await d.seal([usage(), usage({ model: "b/unknown", price: null })], "t2");
    let reads = 0;
    const log: LedgerLog = {
      billEntries: (query) => d.log.billEntries(query),
      requestBefore: (logId, seq) => d.log.requestBefore(logId, seq),
      logsOf: (tab) => d.log.logsOf(tab),
      billSums(query) {
        reads++;
        return d.log.billSums(query);
      },
    };
    const ports = { ...d.ledger.ports, log };
    const ledger = await Ledger.load(ports, []);
    const body = await usageBody(ledger, 4, { titleOf: () => null, dayMoneyMax: 3 });
    expect(body.days.map(({ day, sum }) => [day, sum.price, sum.unpriced])).toEqual([
      ["2026-11-27", 0, 0],
      ["2026-11-28", 4, 0],
      ["2026-11-29", 0, 0],
      ["2026-11-30", 11, 1],
    ]);
    expect([body.today, body.dayMoneyMax]).toEqual([body.days.at(-1)?.sum, 3]);
    expect(body.tabs.map(({ tab, title, sum }) => [tab, title, sum.price])).toEqual([[d.tab.tabId, null, 15]]);
    expect(body.models.map(({ model, sum }) => [model, sum.price])).toEqual([
      ["a/known", 15],
      ["b/unknown", 0],
    ]);
    const before = reads;
    await usageBody(ledger, 4, { titleOf: () => null, dayMoneyMax: null });
    expect(reads - before).toBe(1);
  });
});

describe("the cache's end", () => {
  const request = (ttl?: "5m" | "1h"): SystemData => ({
    kind: "request",
    model: "a/known",
    scopeHash: "s",
    tailHash: "t",
    ...(ttl && { ttl }),
  });
  const until = (d: Desk, ledger = d.ledger, logId: LogId = d.tab.logId) => ledger.cacheUntil(d.tab.tabId, logId);

  test("counts from the start of the newest request, warm ones too, with the lifetime it asked for", async () => {
    const d = await desk();
    expect(until(d)).toBeNull();
    await d.seal([request("1h"), usage({ startedAt: noon - 10_000 })]);
    expect(until(d)).toBe(noon - 10_000 + 3_600_000);
    await d.seal([request(), usage({ startedAt: noon - 5_000, purpose: "warm" })], "");
    expect(until(d)).toBe(noon - 5_000 + 300_000);
  });

  test("is not known without a start, of a model that caches nothing, and in another log", async () => {
    const d = await desk();
    await d.seal([usage({ startedAt: noon })]);
    expect(until(d, d.ledger, "other" as LogId)).toBeNull();
    await d.seal([usage({ startedAt: noon, model: "b/unknown" })]);
    expect(until(d)).toBeNull();
    await d.seal([usage()]);
    expect(until(d)).toBeNull();
  });

  test("is known again after a restart, with the lifetime that the tab asks for now", async () => {
    const d = await desk();
    await d.seal([request("1h"), usage({ startedAt: noon - 7 })]);
    expect(until(d, await d.again())).toBe(noon - 7 + 300_000);
    await d.log.changeTab(d.tab.tabId, { options: { cacheTtl: "1h" } });
    expect(until(d, await d.again())).toBe(noon - 7 + 3_600_000);
    d.clock.jump(2 * dayMs);
    expect(until(d, await d.again())).toBeNull();
  });

  test("is forgotten with a purged tab", async () => {
    const d = await desk();
    await d.seal([usage({ startedAt: noon })]);
    d.ledger.purged(d.tab.tabId);
    expect(until(d)).toBeNull();
    expect(d.ledger.costOf(d.tab.tabId).price).toBe(11);
  });
});
