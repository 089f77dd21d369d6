import { isFault, type StoredRow } from "@varve/protocol";
import type { ScriptItem } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { idle, says, send, toolRuns, works } from "../workspace/testing/acts.ts";
import { makeRig, type Rig, type RigOptions } from "../workspace/testing/rig.ts";

const opus = "anthropic/claude-opus-5-5";
const lifeMs = 300_000;
const long = "A sentence that makes this tab worth keeping. ".repeat(60);

async function warmRig(options: RigOptions & { readonly keepWarm?: { countMax?: number; moneyMax?: number } } = {}) {
  const script: readonly ScriptItem[] = options.script ?? [says("one"), says("two"), says("three")];
  const rig = await makeRig({ model: opus, ...options, script });
  await patch(rig, { keepWarm: { on: true, countMax: 3, moneyMax: 1, ...options.keepWarm } });
  return rig;
}
async function patch(rig: Rig, options: Parameters<Rig["workspace"]["patch"]>[1]["options"]): Promise<void> {
  const changed = await rig.workspace.patch(rig.tab, { options });
  if (isFault(changed)) throw new Error(changed.message);
}
let count = 0;
async function turn(rig: Rig, text = long): Promise<void> {
  count += 1;
  await send(rig, `w${count}`, text);
  await rig.until("it is idle", idle(rig));
}
const warmOf = async (rig: Rig) => {
  const body = await rig.workspace.contexts.look(rig.tab);
  return isFault(body) ? expect.fail(body.message) : body.warm;
};
type Kind = "request" | "usage";
const dataOf = (rows: readonly StoredRow[], kind: Kind, purpose: "step" | "warm") =>
  rows.flatMap(({ type, data }) =>
    type === "system" && data.kind === kind && (data.purpose ?? "step") === purpose ? [data] : [],
  );
const requests = async (rig: Rig, purpose: "step" | "warm") => dataOf(await rig.rows(), "request", purpose);
const refreshed = async (rig: Rig): Promise<number> => dataOf(await rig.rows(), "usage", "warm").length;
/** The clock comes to the moment that is shown, and the request runs. */
async function due(rig: Rig, times: number): Promise<void> {
  const { nextAt } = await warmOf(rig);
  if (nextAt === null) return expect.fail("nothing is due");
  await rig.clock.advance(nextAt - rig.clock.now());
  await rig.until(`refresh ${times}`, async () => (await refreshed(rig)) === times);
}
/** A minute more than a lifetime, so that whatever is due happens. */
async function passes(rig: Rig): Promise<void> {
  for (let at = 0; at < 12; at++) {
    await rig.clock.advance(lifeMs / 10);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await rig.provider.idle();
}

describe("keep warm", () => {
  test("[WARM-1] B4 B21 the last body again, but for max_tokens 0 and no stream, at 90 % of the lifetime from its start", async () => {
    await using rig = await warmRig();
    await turn(rig);
    await turn(rig);
    const [, second] = dataOf(await rig.rows(), "usage", "step");
    const startedAt = second?.kind === "usage" ? (second.startedAt ?? 0) : 0;
    expect((await warmOf(rig)).nextAt).toBe(startedAt + lifeMs * 0.9);
    await due(rig, 1);
    const [step, warm] = rig.provider.calls.slice(-2).map(({ body }) => body);
    const { stream, max_tokens: _, ...sent } = step ?? {};
    expect(stream).toBe(true);
    expect(warm).toEqual({ ...sent, max_tokens: 0 });
    expect(JSON.stringify(warm)).not.toContain("[continue]");
    const usage = dataOf(await rig.rows(), "usage", "warm")[0];
    expect(usage).toMatchObject({ purpose: "warm", fresh: 0, output: 0 });
    const outside = (await rig.rows()).filter((row) => row.turnId === "" && row.type === "system" && row.step === 0);
    expect(outside.length).toBeGreaterThanOrEqual(2);
  });

  test("[WARM-1] the next turn reads what was kept alive long past its lifetime", async () => {
    await using rig = await warmRig();
    await turn(rig);
    await due(rig, 1);
    await due(rig, 2);
    await rig.clock.advance(lifeMs * 0.8);
    await turn(rig);
    const usage = dataOf(await rig.rows(), "usage", "step").at(-1);
    expect(usage).toMatchObject({ kind: "usage", purpose: "step" });
    expect(usage?.kind === "usage" && usage.read === usage.attainable).toBe(true);
  });

  test("[WARM-2] off unless it is wished; turned off it stops", async () => {
    await using rig = await makeRig({ model: opus, script: [says("one")] });
    await turn(rig);
    expect(await warmOf(rig)).toMatchObject({ state: "off", nextAt: null, count: 0, price: 0 });
    await patch(rig, { keepWarm: { on: true, countMax: 3, moneyMax: 1 } });
    await rig.until("it is armed", async () => (await warmOf(rig)).nextAt !== null);
    await patch(rig, { keepWarm: { on: false, countMax: 3, moneyMax: 1 } });
    await passes(rig);
    expect(await requests(rig, "warm")).toEqual([]);
  });

  test("[WARM-3] never during a turn: a long tool is not pinged, and the end of the turn arms it anew", async () => {
    await using rig = await warmRig({ script: [says("one"), works("c1"), says("done")] });
    await turn(rig);
    await send(rig, "busy", "work");
    await toolRuns(rig);
    expect((await warmOf(rig)).nextAt).toBeNull();
    await passes(rig);
    expect(await requests(rig, "warm")).toEqual([]);
    for (const work of rig.works.values()) work.end("ready");
    await rig.until("it is idle", idle(rig));
    await due(rig, 1);
  });

  test("[WARM-4] the cap in number holds, and a new turn begins its count anew", async () => {
    await using rig = await warmRig({ keepWarm: { countMax: 2 } });
    await turn(rig);
    await due(rig, 1);
    await due(rig, 2);
    expect(await warmOf(rig)).toMatchObject({ state: "over", nextAt: null, count: 2 });
    await passes(rig);
    expect(await refreshed(rig)).toBe(2);
    await turn(rig);
    expect(await warmOf(rig)).toMatchObject({ state: "waiting", count: 0 });
    await due(rig, 3);
  });

  test("[WARM-4] the cap in money holds before it is passed, and so does a limit of the tab", async () => {
    await using rig = await warmRig({ keepWarm: { moneyMax: 0.000_001 } });
    await turn(rig);
    expect(await warmOf(rig)).toMatchObject({ state: "over", count: 0 });
    await patch(rig, { keepWarm: { on: true, countMax: 3, moneyMax: 1 }, moneyMax: 0.000_001 });
    expect(await warmOf(rig)).toMatchObject({ state: "over" });
    await passes(rig);
    expect(await refreshed(rig)).toBe(0);
  });

  test.each([
    ["a model whose price nobody knows", { model: "anthropic/claude-test" }],
    ["a kind of model that has no way", { model: "demo/demo" }],
    ["thinking with a budget", { model: "anthropic/claude-haiku-4-5", effort: "high" }],
  ] as const)("[WARM-5] unsupported: %s", async (_, asked) => {
    await using rig = await warmRig({ model: asked.model });
    if ("effort" in asked) await rig.workspace.patch(rig.tab, { effort: asked.effort });
    await turn(rig);
    expect(await warmOf(rig)).toMatchObject({ state: "unsupported", nextAt: null });
  });

  test("[WARM-6] a failure is shown, tried again a few times and then given up; what it was worth is not billed", async () => {
    await using rig = await warmRig();
    await turn(rig);
    const { nextAt } = await warmOf(rig);
    await rig.provider.close();
    await rig.clock.advance((nextAt ?? 0) - rig.clock.now());
    for (const tries of [1, 2, 3]) {
      await rig.until(`try ${tries}`, async () => (await requests(rig, "warm")).length === tries);
      await rig.until("it was told", async () => (await warmOf(rig)).failure !== undefined);
      await rig.clock.advance(5_000);
    }
    await passes(rig);
    expect((await requests(rig, "warm")).length).toBe(3);
    expect(await warmOf(rig)).toMatchObject({ price: 0, nextAt: null });
    expect((await warmOf(rig)).failure).toMatch(/\S/);
  });

  test("[WARM-7] after a restart the rows tell when it is due", async () => {
    await using rig = await warmRig();
    await turn(rig);
    await due(rig, 1);
    const { nextAt } = await warmOf(rig);
    await rig.workspace.close(1);
    await using again = await rig.restarted();
    expect(await warmOf(again)).toMatchObject({ state: "waiting", nextAt, count: 1 });
    await due(again, 2);
  });

  test("[WARM-8] nothing is kept alive that the next request would not read", async () => {
    const files: Record<string, string> = { "/project/AGENTS.md": "one" };
    await using rig = await warmRig({ files });
    await turn(rig);
    files["/project/AGENTS.md"] = "two";
    await rig.workspace.contexts.apply(rig.tab, "tell");
    expect((await warmOf(rig)).nextAt).not.toBeNull();
    files["/project/AGENTS.md"] = "three";
    await rig.workspace.contexts.apply(rig.tab, "rebuild");
    expect(await warmOf(rig)).toMatchObject({ state: "waiting", nextAt: null });
    await turn(rig);
    await rig.workspace.patch(rig.tab, { effort: "high" });
    expect((await warmOf(rig)).nextAt).toBeNull();
  });

  test("[WARM-8] back on a model its own last body is kept alive, and billed against nothing but itself", async () => {
    await using rig = await warmRig();
    await turn(rig);
    await rig.workspace.patch(rig.tab, { model: "anthropic/claude-sonnet-5" });
    await turn(rig, long.repeat(3));
    await rig.workspace.patch(rig.tab, { model: opus });
    await due(rig, 1);
    const [usage] = dataOf(await rig.rows(), "usage", "warm");
    expect(usage).toMatchObject({ model: opus, purpose: "warm" });
    expect(usage).not.toHaveProperty("cause");
    expect(usage?.kind === "usage" && [usage.read, usage.read === usage.attainable]).toEqual([
      expect.any(Number),
      true,
    ]);
  });

  test("[WARM-3] a turn that begins while a refresh is under way is not held up, and both are billed once", async () => {
    await using rig = await warmRig({
      script: [says("one"), says("two"), says("three")],
    });
    await turn(rig);
    const { nextAt } = await warmOf(rig);
    await rig.clock.advance((nextAt ?? 0) - rig.clock.now());
    await turn(rig);
    await rig.until("the refresh is billed", async () => (await refreshed(rig)) === 1);
    expect(dataOf(await rig.rows(), "usage", "step")).toHaveLength(2);
    const last = dataOf(await rig.rows(), "usage", "step").at(-1);
    expect(last).not.toHaveProperty("cause");
    await turn(rig);
    expect(dataOf(await rig.rows(), "usage", "step").at(-1)).not.toHaveProperty("cause");
  });

  test("[WARM-2] a server that is closing arms nothing, whatever comes to rest meanwhile", async () => {
    await using rig = await warmRig({ script: [works("c1"), says("done")] });
    await send(rig, "busy", "work");
    await toolRuns(rig);
    const closing = rig.workspace.close(60_000);
    for (const work of rig.works.values()) work.end("ready");
    for (let at = 0; at < 20; at++) {
      await rig.clock.advance(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await closing;
    await passes(rig);
    expect(await requests(rig, "warm")).toEqual([]);
  });

  test("[WARM-9] its rows are no news for whoever had seen all", async () => {
    await using rig = await warmRig();
    await turn(rig);
    const record = () => {
      const got = rig.workspace.get(rig.tab);
      return isFault(got) ? expect.fail(got.message) : got;
    };
    await rig.workspace.seen(rig.tab, record().tail);
    await due(rig, 1);
    expect(record().seen).toBe(record().tail);
    await turn(rig);
    const { seen } = record();
    await due(rig, 2);
    expect(record().seen).toBe(seen);
  });
});
