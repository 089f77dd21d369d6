import { memoryLog } from "@varve/log";
import { isFault, type NewRow, type StoredRow } from "@varve/protocol";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { anthropic, makePrefixData, wireTarget } from "@varve/wire";
import { describe, expect, test } from "vitest";
import { unknownFacts } from "./model/facts.ts";
import type { ResolvedModel } from "./model/model.ts";
import type { TurnOwner } from "./owner.ts";
import { makeRequest, modelInForce, parseEffort } from "./request.ts";
import { fakeToolBox } from "./testing/fake-tools.ts";
import { RowList, turnIdOf } from "./testing/rows.ts";
import { scriptModel } from "./testing/script-model.ts";
import { optionsOf, wordsOf } from "./testing/world.ts";
import { newTurn } from "./turn.ts";

/** An owner that only keeps rows: whatever else is asked of it is a mistake of the test. */
function rowsOnly(list: RowList): TurnOwner {
  const never = (): never => expect.fail("not part of making a request");
  const { signal } = new AbortController();
  return {
    rows: () => list.rows,
    seal: async (rows: readonly NewRow[]): Promise<readonly StoredRow[]> => {
      list.append(rows);
      return list.rows.slice(-rows.length);
    },
    open: never,
    grow: never,
    drop: never,
    output: never,
    progress: never,
    ask: never,
    takeCompactionWish: never,
    drainSteers: never,
    endTurn: never,
    cancel: signal,
    cancelOf: () => signal,
    runs: never,
  };
}

const log = (): RowList =>
  new RowList()
    .at("", 0)
    .system(makePrefixData({ system: ["SYS"], tools: [] }))
    .system({ kind: "model-changed", model: "script/m", effort: "high" })
    .at("t1", 0);

function request(list: RowList, strict = true) {
  const clock = createFakeClock();
  const { models } = scriptModel(clock, []);
  const { ports } = optionsOf({ log: memoryLog(), clock, ids: createFakeIds(), tools: fakeToolBox([]), models });
  const turn = newTurn({ ...ports, strict }, rowsOnly(list), turnIdOf("t1"));
  const info = { id: "script/m", label: "m", provider: "x", available: true, contextTokens: null, prices: null };
  const never: ResolvedModel["stream"] = () => expect.fail("nothing is sent here");
  const generate: ResolvedModel["generate"] = () => expect.fail("nothing is sent here");
  const model = { info, facts: unknownFacts, generate, target: wireTarget(anthropic, "m"), stream: never };
  return makeRequest(turn, { step: 1, model, effort: "default" });
}

describe("a request", () => {
  test("[LOOP-18] whose end would be made up is not sent: a visible continue is sealed first", async () => {
    const list = log().user("go").text("half");
    const made = await request(list);
    if (isFault(made)) expect.fail(made.message);
    expect(wordsOf(list.rows)).toEqual(["user:go", "text:half", "user:continue"]);
    expect(list.rows.at(-1)).toMatchObject({ turnId: "t1", step: 0 });
    expect(JSON.stringify(made.options.prompt.at(-1))).toContain('"continue"');
  });

  test("[LOOP-18] with a call that has no result is not sent", async () => {
    const made = await request(log().user("go").call("A"));
    expect(made).toMatchObject({ kind: "fault", code: "internal" });
  });

  test("[LOOP-18] that does not extend the last one is a mistake, in strict runs", async () => {
    const list = log().user("go").request().text("a").user("more");
    expect(await request(list, true)).toMatchObject({
      code: "internal",
      message: expect.stringContaining("does not extend"),
    });
  });

  test("[LOOP-18] and elsewhere is sent with a notice in front of its row", async () => {
    const made = await request(log().user("go").request().text("a").user("more"), false);
    if (isFault(made)) expect.fail(made.message);
    expect(made.before.map((row) => row.type === "system" && row.data)).toMatchObject([
      { kind: "notice", code: "prefix-changed" },
    ]);
  });

  test("[LOOP-19] with nothing to say is a fault in words", async () => {
    expect(await request(log().user("  "))).toMatchObject({ kind: "fault", code: "empty-conversation" });
    expect(await request(new RowList().user("go"))).toMatchObject({ kind: "fault", code: "log-damaged" });
  });
});

test("[CTX-6] the newest row says which model is in force, and an effort nobody knows is the default", () => {
  expect(modelInForce(log().rows)).toEqual({ model: "script/m", effort: "high" });
  const later = log().system({ kind: "model-changed", model: "x/y", effort: "extreme" });
  expect(modelInForce(later.rows)).toEqual({ model: "x/y", effort: "default" });
  expect(modelInForce([])).toEqual({ model: "", effort: "default" });
  expect(["low", "medium", "high", "default", ""].map(parseEffort)).toEqual([
    "low",
    "medium",
    "high",
    "default",
    "default",
  ]);
});
