import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { UsageData } from "../bill-rule.ts";
import type { BillEntry, BillQuery, BillSum, Claim, Log } from "../log.ts";
import {
  claimed,
  ids,
  makeTab,
  notice,
  type OpenLog,
  said,
  sealed,
  sound,
  startMs,
  system,
  turn,
  turnEnd,
  usage,
} from "./fixtures.ts";

const told: Partial<UsageData> = {
  model: "anthropic/a",
  fresh: 10,
  read: 90,
  write5m: 7,
  write1h: 3,
  output: 20,
  reasoning: 5,
  price: 0.25,
  attainable: 100,
};
const untold: Partial<UsageData> = { model: "local/b", fresh: null, output: null };
const at = (place: readonly [string, number], ms: number, more: Partial<UsageData>) => ({
  ...usage(place, more),
  createdAt: startMs + ms,
});

async function again(log: Log, claim: Claim): Promise<Claim> {
  return sound(await log.claim(claim.tabId, startMs));
}
const places = (entries: readonly BillEntry[]) => entries.map(({ tabId, logId, seq }) => ({ tabId, logId, seq }));

/** What was spent: entries and sums. */
export function describeBills(open: OpenLog): void {
  describe("the bill", () => {
    test("[LOG-46] a usage row is billed in its own transaction, whole but for the raw figures; no other row is", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const cause = { kind: "expired", tokens: 10, idleMs: 400_000 } as const;
      const full = { ...told, cause, purpose: "warm", startedAt: startMs - 5, raw: { input: 1 } } as const;
      const { rows } = await sealed(log, claim, {
        rows: [said(["t1", 0], "a"), usage(["t1", 2], full), notice(["t1", 2]), turnEnd(["t1", 2])],
      });
      const { raw: _, ...billed } = full;
      expect(await log.billEntries({})).toEqual([
        {
          tabId: claim.tabId,
          logId: claim.logId,
          seq: 2,
          turnId: "t1",
          step: 2,
          at: startMs,
          usage: { kind: "usage", ...billed },
        },
      ]);
      expect(rows[1]?.data).toMatchObject({ raw: { input: 1 } });
    });

    test("[LOG-46] a batch that is refused or fenced bills nothing", async () => {
      await using opened = await open();
      const { log } = opened;
      const old = await claimed(log);
      const claim = await again(log, old);
      const twice = said(["t1", 0], "x");
      await log.commit(old, { rows: [usage(["t1", 0])] });
      await log.commit(claim, { rows: [usage(["t1", 0]), twice, twice] });
      expect([await log.billEntries({}), await log.billSums({})]).toEqual([[], []]);
    });

    test("[LOG-47] sums count what is not known and never add it", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const halves = { ...told, read: null, price: null };
      await sealed(log, claim, {
        rows: [told, { ...told, read: 120 }, halves, untold, { ...told, purpose: "warm" as const }].map((more) =>
          usage(["t1", 0], more),
        ),
      });
      const sum = (more: Partial<BillSum>): BillSum => ({
        tabId: claim.tabId,
        model: "anthropic/a",
        purpose: "step",
        requests: 1,
        untold: 0,
        fresh: 10,
        read: 90,
        write5m: 7,
        write1h: 3,
        output: 20,
        reasoning: 5,
        attainable: 100,
        attained: 90,
        price: 0.25,
        unpriced: 0,
        startedAt: startMs,
        ...more,
      });
      const steps = { requests: 3, fresh: 30, read: 210, write5m: 21, write1h: 9, output: 60, reasoning: 15 };
      const none = { fresh: 0, read: 0, write5m: 0, write1h: 0, output: 0, reasoning: 0 };
      expect(await log.billSums({})).toEqual([
        sum({ ...steps, attainable: 200, attained: 190, price: 0.5, unpriced: 1 }),
        sum({ purpose: "warm" }),
        sum({ model: "local/b", ...none, untold: 1, attainable: 0, attained: 0, price: 0, unpriced: 1 }),
      ]);
    });

    test("[LOG-48] the bill is of the tab that sealed the row: a fork shares rows and is billed for its own", async () => {
      await using opened = await open();
      const { log } = opened;
      const parent = await claimed(log);
      await sealed(log, parent, { rows: [usage(["t1", 0], told), turnEnd(["t1", 0])] });
      const target = { kind: "child", logId: ids.log(), parentId: parent.logId, parentSeq: 2 } as const;
      const fork = await makeTab(log, { logId: target.logId }, target);
      const claim = sound(await log.claim(fork.id, startMs));
      expect(await log.billEntries({ tabId: fork.id })).toEqual([]);
      await sealed(log, claim, { rows: [usage(["t2", 0], told)] });
      expect(places(await log.billEntries({}))).toEqual([
        { tabId: fork.id, logId: target.logId, seq: 3 },
        { tabId: parent.tabId, logId: parent.logId, seq: 1 },
      ]);
      expect((await log.billSums({ tabId: parent.tabId })).map(({ requests }) => requests)).toEqual([1]);
    });

    test("[LOG-48] the bill stays when the tab points elsewhere, and when it was purged", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      await sealed(log, claim, { rows: [usage(["t1", 0], told)] });
      const fresh = { kind: "fresh", logId: ids.log() } as const;
      sound(await log.point(claim, fresh, startMs));
      await sealed(log, await again(log, claim), { rows: [usage(["t2", 0], told)] });
      const [before, sums] = [await log.billEntries({}), await log.billSums({})];
      expect(places(before).map(({ logId }) => logId)).toEqual([fresh.logId, claim.logId]);
      expect(sums.map(({ requests }) => requests)).toEqual([2]);
      await log.changeTab(claim.tabId, { trashedAt: startMs });
      expect(await log.purge(claim.tabId)).toBeNull();
      expect(await log.row(claim.logId, 1)).toBeNull();
      expect([await log.billEntries({}), await log.billSums({})]).toEqual([before, sums]);
    });

    test("[LOG-49] a query picks by tab, log, time and seq, newest first and at most so many", async () => {
      await using opened = await open();
      const { log } = opened;
      const [one, two] = [await claimed(log), await claimed(log)];
      await sealed(log, one, { rows: [0, 10, 20].map((ms) => at(["t1", 0], ms, told)) });
      await sealed(log, two, { rows: [10, 30].map((ms) => at(["t2", 0], ms, untold)) });
      const seqs = async (query: BillQuery) =>
        (await log.billEntries(query)).map(({ seq, at: ms }) => [seq, ms - startMs]);
      expect(await seqs({})).toEqual([
        [2, 30],
        [1, 10],
        [3, 20],
        [2, 10],
        [1, 0],
      ]);
      expect(await seqs({ limit: 2 })).toEqual([
        [2, 30],
        [1, 10],
      ]);
      expect(await seqs({ tabId: one.tabId, from: startMs + 10, to: startMs + 20 })).toEqual([[2, 10]]);
      expect(await seqs({ logId: one.logId, before: 3, limit: 1 })).toEqual([[2, 10]]);
      expect(await seqs({ logId: two.logId, limit: 0 })).toEqual([[2, 30]]);
      const between = await log.billSums({ from: startMs + 10, to: startMs + 30 });
      expect(between.map(({ tabId, requests }) => [tabId, requests])).toEqual([
        [one.tabId, 2],
        [two.tabId, 1],
      ]);
      expect(await log.billSums({ tabId: two.tabId, from: startMs + 31 })).toEqual([]);
    });

    test("[LOG-53] what a tab cost in all is what its lines add up to, whatever they say", async () => {
      const figure = fc.option(fc.integer({ min: 0, max: 900 }));
      // Eighths add up exactly.
      const price = fc.option(fc.integer({ min: 0, max: 80 }).map((eighths) => eighths / 8));
      const bill = fc.record({
        tab: fc.constantFrom(0, 1),
        model: fc.constantFrom("a/x", "b/y"),
        purpose: fc.constantFrom(undefined, "step", "warm", "compaction"),
        figures: fc.record({ fresh: figure, read: figure, write5m: figure, write1h: figure, output: figure }),
        rest: fc.record({ reasoning: figure, attainable: figure, price }),
        startedAt: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(bill, { maxLength: 12 }), async (bills) => {
          await using opened = await open();
          const { log } = opened;
          const tabs = [await claimed(log), await claimed(log)] as const;
          for (const { tab, figures, rest, model, purpose, startedAt } of bills) {
            const optional = { ...(purpose && { purpose }), ...(startedAt !== undefined && { startedAt }) };
            await sealed(log, tabs[tab], { rows: [usage(["t1", 0], { model, ...figures, ...rest, ...optional })] });
          }
          const whole = await log.billSums({});
          expect(whole).toEqual(await log.billSums({ from: 0 }));
          for (const { tabId } of tabs)
            expect(await log.billSums({ tabId })).toEqual(whole.filter((sum) => sum.tabId === tabId));
        }),
        { numRuns: 25 },
      );
    });

    test("[LOG-49] a turn is added up whole, and tells when its first request began", async () => {
      await using opened = await open();
      const { log } = opened;
      const [one, two] = [await claimed(log), await claimed(log)];
      const began = (ms: number) => ({ ...told, startedAt: startMs + ms });
      await sealed(log, one, {
        rows: [
          at(["t1", 0], 40, began(30)),
          at(["t1", 1], 50, began(45)),
          at(["t2", 0], 60, told),
          usage(["", 0], told),
        ],
      });
      await sealed(log, two, { rows: [at(["t1", 0], 5, told)] });
      const { tabId } = one;
      const sums = async (turnId: string) =>
        (await log.billSums({ tabId, turnId: turn(turnId) })).map(({ requests, startedAt }) => [
          requests,
          startedAt - startMs,
        ]);
      expect([await sums("t1"), await sums("t2"), await sums("t3"), await sums("")]).toEqual([
        [[2, 30]],
        [[1, 60]],
        [],
        [[1, 0]],
      ]);
      const entries = await log.billEntries({ tabId, turnId: turn("t1"), to: startMs + 50 });
      expect(entries.map(({ seq, usage: { startedAt } }) => [seq, startedAt])).toEqual([[1, startMs + 30]]);
    });

    test("[LOG-49] the request of an entry is the newest one below it in its own log", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const request = (step: number) =>
        system(["t1", step], { kind: "request", model: "a/b", scopeHash: "s", tailHash: "t" });
      await sealed(log, claim, {
        rows: [usage(["t1", 0]), request(1), said(["t1", 1], "a"), request(2), usage(["t1", 2])],
      });
      const found = [1, 2, 3, 4, 5, 6].map((seq) => log.requestBefore(claim.logId, seq));
      expect(await Promise.all(found)).toEqual([null, null, 2, 2, 4, 4]);
      const target = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq: 5 } as const;
      sound(await log.point(claim, target, startMs));
      await sealed(log, await again(log, claim), { rows: [usage(["t2", 0]), request(3)] });
      expect([await log.requestBefore(target.logId, 6), await log.requestBefore(target.logId, 9)]).toEqual([null, 7]);
      expect(await log.requestBefore(ids.log(), 9)).toBeNull();
    });

    test("[LOG-49] five hundred entries at most, whatever is asked for", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      await sealed(log, claim, { rows: Array.from({ length: 501 }, () => usage(["t1", 0])) });
      for (const limit of [undefined, 9_999])
        expect(await log.billEntries({ logId: claim.logId, ...(limit !== undefined && { limit }) })).toHaveLength(500);
    });
  });

  test("[LOG-52] whose child a tab was outlives the purge of either", async () => {
    await using opened = await open();
    const { log } = opened;
    const top = await makeTab(log);
    const middle = await makeTab(log, { parentId: top.id });
    const young = await makeTab(log, { parentId: middle.id });
    const other = await makeTab(log, { parentId: middle.id });
    const purge = async (id: typeof top.id) => {
      await log.changeTab(id, { trashedAt: startMs });
      expect(await log.purge(id)).toBeNull();
    };
    expect(await log.formerParents()).toEqual(new Map());
    await purge(other.id);
    expect([...(await log.formerParents())]).toEqual([[other.id, middle.id]]);
    await purge(middle.id);
    await purge(top.id);
    expect(await log.formerParents()).toEqual(
      new Map([
        [other.id, middle.id],
        [middle.id, top.id],
        [young.id, middle.id],
      ]),
    );
    await purge(young.id);
    expect((await log.formerParents()).get(young.id)).toBe(middle.id);
  });

  describe("options", () => {
    test("[LOG-50] a tab's options are JSON, kept as they were put last", async () => {
      await using opened = await open();
      const { log } = opened;
      const options = { moneyMax: 2.5, keepWarm: { on: true }, text: "x\ud800" };
      const tab = await makeTab(log, { options });
      expect(tab.options).toEqual({ ...options, text: "x\uFFFD" });
      expect(await log.tab(tab.id)).toEqual(tab);
      sound(await log.changeTab(tab.id, { title: "other" }));
      expect((await log.tab(tab.id))?.options).toEqual(tab.options);
      const claim = sound(await log.claim(tab.id, startMs));
      await sealed(log, claim, { tab: { options: { stepsMax: 3 } } });
      expect((await log.tab(tab.id))?.options).toEqual({ stepsMax: 3 });
      sound(await log.changeTab(tab.id, { options: {} }));
      expect((await log.tab(tab.id))?.options).toEqual({});
    });

    test("[LOG-50] whatever JSON they are, they are read back as they were answered", async () => {
      await using opened = await open();
      const { log } = opened;
      const tab = await makeTab(log);
      const object = fc.dictionary(fc.string({ unit: "binary", maxLength: 5 }), fc.jsonValue());
      await fc.assert(
        fc.asyncProperty(object, async (made) => {
          // What fast-check makes as JSON is JSON.
          const changed = sound(await log.changeTab(tab.id, { options: JSON.parse(JSON.stringify(made)) }));
          expect((await log.tab(tab.id))?.options).toEqual(changed.options);
        }),
        { numRuns: 60 },
      );
    });
  });
}
