/** Each price shown before a click, against what the fake provider then bills: through the real owner, loop, wire and adapter. */
import { factsOf } from "@varve/agent";
import { type ContextBody, isFault, type Preview, type SystemData } from "@varve/protocol";
import type { ScriptItem } from "@varve/sim";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idle, says, send } from "../workspace/testing/acts.ts";
import { makeRig, type Rig } from "../workspace/testing/rig.ts";

const opus = "anthropic/claude-opus-5-5";
const sonnet = "anthropic/claude-sonnet-5";
const minute = 60_000;

type Usage = Extract<SystemData, { kind: "usage" }>;

/** Words enough that a sentence more or less is no twentieth of it. */
const words = (seed: number, count: number): string =>
  Array.from(
    { length: count },
    (_, index) => ["fold", "row", "cache", "price", "wire", "tab"][(index * 7 + seed) % 6],
  ).join(" ");
const answers: readonly ScriptItem[] = Array.from({ length: 20 }, (_, index) => says(words(index, 700)));

async function billed(rig: Rig, purpose: "step" | "warm" | "compaction" = "step"): Promise<Usage> {
  const row = (await rig.rows()).findLast(
    ({ type, data }) => type === "system" && data.kind === "usage" && (data.purpose ?? "step") === purpose,
  );
  if (row?.type !== "system" || row.data.kind !== "usage") throw new Error("nothing was billed");
  return row.data;
}

/** US dollars of the input alone. */
function inputPrice(usage: Usage): number {
  const output = factsOf("anthropic", usage.model.replace("anthropic/", "")).prices?.output ?? Number.NaN;
  return (usage.price ?? Number.NaN) - ((usage.output ?? 0) * output) / 1e6;
}
const totalOf = (usage: Usage): number =>
  (usage.fresh ?? 0) + (usage.read ?? 0) + (usage.write5m ?? 0) + (usage.write1h ?? 0);

function isNear(shown: number | null, paid: number): void {
  expect(shown).not.toBeNull();
  expect(Math.abs((shown ?? 0) - paid) / paid).toBeLessThan(0.05);
}

const look = async (rig: Rig): Promise<ContextBody> => {
  const body = await rig.workspace.contexts.look(rig.tab);
  if (isFault(body)) throw new Error(body.message);
  return body;
};
const preview = async (
  rig: Rig,
  asked: { model?: string; effort?: "high"; cacheTtl?: "1h" } = {},
): Promise<Preview> => {
  const body = await rig.workspace.contexts.preview(rig.tab, asked);
  if (isFault(body)) throw new Error(body.message);
  return body.preview;
};

let turns = 0;
async function turn(rig: Rig, text = "go on"): Promise<Usage> {
  turns += 1;
  const sent = await send(rig, `m${turns}`, text);
  if (isFault(sent)) throw new Error(sent.message);
  await rig.until("it is idle", idle(rig));
  return billed(rig);
}

async function patch(rig: Rig, change: Parameters<Rig["workspace"]["patch"]>[1]): Promise<void> {
  const changed = await rig.workspace.patch(rig.tab, change);
  if (isFault(changed)) throw new Error(changed.message);
}
async function must<T>(answer: Promise<T>): Promise<T> {
  const value = await answer;
  if (isFault(value)) throw new Error(value.message);
  return value;
}

describe("prices before a click", () => {
  const files: Record<string, string> = {};
  let rig: Rig;
  beforeAll(async () => {
    files["/project/AGENTS.md"] = words(1, 300);
    rig = await makeRig({ script: answers, model: opus, files });
    for (const text of ["begin", "go on", "and on"]) await turn(rig, text);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  test("[CONTEXT-1] the next request as it is; the meter is what was billed", async () => {
    const now = await preview(rig);
    const before = await billed(rig);
    const { meter } = await look(rig);
    expect(meter).toMatchObject({ tokens: totalOf(before) + (before.output ?? 0), estimated: false });
    const usage = await turn(rig);
    isNear(now.price, inputPrice(usage));
    isNear(now.tokens, totalOf(usage));
    expect(now.read).toBe(usage.read);
    expect(now.priceNow).toBe(now.price);
  });

  test("[CONTEXT-1] another model: the whole body is written at its rates; back: what the first one had is read", async () => {
    const there = await preview(rig, { model: sonnet });
    expect([there.read, there.fresh]).toEqual([0, 0]);
    await patch(rig, { model: sonnet });
    expect((await look(rig)).meter.estimated).toBe(true);
    const usage = await turn(rig);
    expect([usage.model, usage.read]).toEqual([sonnet, 0]);
    isNear(there.price, inputPrice(usage));
    const back = await preview(rig, { model: opus });
    expect(back.read).toBeGreaterThan(0);
    await patch(rig, { model: opus });
    const again = await turn(rig);
    expect(back.read).toBe(again.read);
    isNear(back.price, inputPrice(again));
  });

  test("[CONTEXT-1] another effort", async () => {
    const shown = await preview(rig, { effort: "high" });
    await patch(rig, { effort: "high" });
    const usage = await turn(rig);
    expect([shown.read, usage.read]).toEqual([0, 0]);
    isNear(shown.price, inputPrice(usage));
    await patch(rig, { effort: "default" });
    await turn(rig);
  });

  test("[CONTEXT-1] an hour: what is new is written at its price, what is cached is read", async () => {
    const shown = await preview(rig, { cacheTtl: "1h" });
    await patch(rig, { options: { cacheTtl: "1h" } });
    const usage = await turn(rig);
    expect(usage.write1h).toBeGreaterThan(0);
    isNear(shown.price, inputPrice(usage));
    const { cache } = await look(rig);
    expect(cache).toMatchObject({ ttl: "1h", tokens: totalOf(usage) });
    expect((cache.until ?? 0) - rig.clock.now()).toBeGreaterThan(59 * minute);
    await patch(rig, { options: { cacheTtl: null } });
    await turn(rig);
  });

  test("[CONTEXT-1] telling what changed costs its own tokens", async () => {
    files["/project/AGENTS.md"] = words(2, 250);
    const { changes, tell } = await look(rig);
    expect(changes.map(({ name, change }) => `${name} ${change}`)).toEqual(["/project/AGENTS.md edited"]);
    await must(rig.workspace.contexts.apply(rig.tab, "tell"));
    expect((await look(rig)).changes).toEqual([]);
    const usage = await turn(rig);
    expect(tell?.read).toBe(usage.read);
    isNear(tell?.price ?? null, inputPrice(usage));
  });

  test("[CONTEXT-1] rebuilding costs the whole", async () => {
    files["/project/AGENTS.md"] = words(3, 350);
    const { rebuild } = await look(rig);
    await must(rig.workspace.contexts.apply(rig.tab, "rebuild"));
    expect((await look(rig)).changes).toEqual([]);
    const usage = await turn(rig);
    expect([rebuild?.read, usage.read]).toEqual([0, 0]);
    isNear(rebuild?.price ?? null, inputPrice(usage));
  });

  test("[CONTEXT-1] a file that came: the system prompt before it is still read", async () => {
    files["/home/none/AGENTS.md"] = "";
    files["/project/CLAUDE.md"] = "never read beside AGENTS.md";
    const { rebuild } = await look(rig);
    expect(rebuild).toBeNull();
  });

  test("[CONTEXT-1] after the lifetime nothing is read", async () => {
    const { cache } = await look(rig);
    const priceNow = (await preview(rig)).price ?? Number.NaN;
    await rig.clock.advance((cache.until ?? 0) - rig.clock.now());
    expect((await look(rig)).cache).toMatchObject({ until: null, tokens: null });
    const shown = await preview(rig);
    isNear((shown.price ?? 0) - priceNow, cache.lossPrice ?? Number.NaN);
    const usage = await turn(rig);
    expect([shown.read, usage.read]).toEqual([0, 0]);
    isNear(shown.price, inputPrice(usage));
  });
});

describe("a compaction", () => {
  test("[CONTEXT-1] what the summary costs and what comes after", async () => {
    const script: readonly ScriptItem[] = [
      { match: { lastUserText: "write a summary" }, reply: { blocks: [{ type: "text", text: words(5, 1_200) }] } },
      ...answers,
    ];
    await using rig = await makeRig({ script, model: opus });
    for (const text of ["begin", "go on", "and on", "more", "last"]) await turn(rig, `${text} ${words(1, 200)}`);
    const { compact } = await look(rig);
    expect(await must(rig.workspace.contexts.compact(rig.tab))).toEqual({ state: "started" });
    await rig.until("it is compacted", idle(rig));
    const summary = await billed(rig, "compaction");
    expect(compact?.summary.read).toBe(summary.read);
    isNear(compact?.summary.price ?? null, inputPrice(summary));
    const body = await look(rig);
    expect(body.compactions).toHaveLength(1);
    expect(body.meter.estimated).toBe(true);
    const usage = await turn(rig);
    expect(totalOf(usage)).toBeLessThan(totalOf(summary));
    isNear(compact?.after.price ?? null, inputPrice(usage));
  });
});

describe("keeping warm", () => {
  test("[CONTEXT-1] what a refresh costs, and what a miss", async () => {
    await using rig = await makeRig({ script: answers, model: opus });
    for (const text of ["begin", "go on"]) await turn(rig, text);
    await patch(rig, { options: { keepWarm: { on: true, countMax: 2, moneyMax: 1 } } });
    const { warm } = await look(rig);
    expect(warm).toMatchObject({ state: "waiting", count: 0, breakEven: 24 });
    await rig.clock.advance((warm.nextAt ?? 0) - rig.clock.now());
    await rig.until("it was refreshed", async () => (await look(rig)).warm.count === 1);
    const usage = await billed(rig, "warm");
    isNear(warm.refreshPrice, usage.price ?? Number.NaN);
    expect(usage.output).toBe(0);
  });
});
