import type { LogChunk } from "@varve/protocol";
import { logChunkSchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import type { GroupItem, OpenView, RowGroup } from "./client.ts";
import { groupRows } from "./group.ts";
import { chunkId, textRow, theTab, turnId } from "./test-kit/owner.ts";

let made = 0;
const row = (id: string, parts: Record<string, unknown>, step = 0, turn = "t1"): LogChunk =>
  logChunkSchema.parse({ id, seq: ++made, term: 1, tabId: theTab, turnId: turn, step, createdAt: 0, ...parts });
const call = (id: string, callId: string, step = 0): LogChunk =>
  row(
    id,
    { role: "assistant", type: "tool_call", data: { callId, name: "bash", arguments: {}, argsText: "{}" } },
    step,
  );
const result = (id: string, callId: string, step = 0): LogChunk =>
  row(id, { role: "tool", type: "tool_result", data: { callId, name: "bash", result: "ok", isError: false } }, step);
const system = (id: string, data: Record<string, unknown>, step = 0): LogChunk =>
  row(id, { role: "system", type: "system", data }, step);
const asked = (id: string, callId: string): LogChunk =>
  system(id, { kind: "permission", state: "asked", askId: id, callId, subject: { tool: "bash", key: "ls" } });
const open = (id: string, parts: Partial<OpenView> = {}): OpenView => ({
  id: chunkId(id),
  turnId: turnId("t1"),
  step: 0,
  index: 0,
  role: "assistant",
  type: "text",
  at: 0,
  text: "",
  ...parts,
});
const none = { open: [], outputs: new Map() };
const grouped = (
  rows: readonly LogChunk[],
  more: Partial<Parameters<typeof groupRows>[0]> = {},
  former?: readonly RowGroup[],
) => groupRows({ rows, ...none, ...more }, former);
const said = (item: GroupItem): string => {
  if (item.item === "row") return item.row.id;
  if (item.item === "open") return `${item.open.id}...`;
  const parts = [
    item.call?.id ?? "-",
    item.result?.id ?? "-",
    item.live?.id ?? "-",
    ...item.questions.map(({ id }) => id),
  ];
  return `(${parts.join(" ")})`;
};
const shape = (groups: readonly RowGroup[]) =>
  groups.map((group) => `${group.kind} ${group.key}: ${group.items.map(said).join(" ")}`);

describe("what stands together", () => {
  test("[GROUP-1] rows of one author in one step are one group, in their order", () => {
    const rows = [
      textRow({ id: "u1", seq: 1, role: "user" }),
      textRow({ id: "u2", seq: 2, role: "user" }),
      textRow({ id: "a1", seq: 3 }),
      textRow({ id: "a2", seq: 4 }),
      textRow({ id: "a3", seq: 5, step: 1 }),
      textRow({ id: "a4", seq: 6, step: 1, turn: "t2" }),
    ];
    expect(shape(grouped(rows, { open: [open("o", { step: 1, turnId: turnId("t2") })] }))).toEqual([
      "user u1: u1 u2",
      "assistant a1: a1 a2",
      "assistant a3: a3",
      "assistant a4: a4 o...",
    ]);
  });
  test("[GROUP-2] a call, its result, its live output and its questions are one item, where the call stands", () => {
    const rows = [call("c1", "x"), call("c2", "y"), asked("q1", "y"), result("r2", "y"), result("r1", "x")];
    expect(shape(grouped(rows))).toEqual(["assistant c1: (c1 r1 -) (c2 r2 - q1)"]);
    const live = { open: [open("l", { role: "tool", type: "tool_result", callId: "x" })] };
    expect(shape(grouped(rows.slice(0, 2), live))).toEqual(["assistant c1: (c1 - l) (c2 - -)"]);
    const outputs = new Map([["x", { callId: "x", bytes: 9, tail: "end" }]]);
    expect(grouped(rows, { outputs })[0]?.items[0]).toMatchObject({ output: { bytes: 9 } });
  });
  test("[GROUP-2] a result in a later step still belongs to its call; of two results the first counts", () => {
    const rows = [
      call("c", "x"),
      textRow({ id: "u", seq: 1, role: "user", step: 1 }),
      result("r", "x", 1),
      result("r2", "x", 1),
    ];
    expect(shape(grouped(rows))).toEqual(["assistant c: (c r -)", "user u: u"]);
  });
  test("[GROUP-3] a half-read turn is shown as far as it is known", () => {
    expect(shape(grouped([result("r", "x"), asked("q", "y")]))).toEqual(["assistant r: (- r -) (- - - q)"]);
  });
  test("[GROUP-3] a call that is still written is an open block", () => {
    const writing = open("w", { type: "tool_call", callId: "x" });
    expect(shape(grouped([], { open: [writing] }))).toEqual(["assistant w: w..."]);
  });
});

describe("events", () => {
  test.each<[Record<string, unknown>, boolean]>([
    [{ kind: "notice", level: "info", code: "c", text: "t" }, true],
    [{ kind: "step-void", turnId: "t1", step: 0, reason: "cut" }, true],
    [{ kind: "compaction", summary: "s", keepFrom: 1, keptUserSeqs: [] }, true],
    [{ kind: "context-changed", text: "t" }, true],
    [{ kind: "turn-end", reason: "stopped" }, true],
    [{ kind: "turn-end", reason: "error" }, true],
    [{ kind: "turn-end", reason: "done" }, false],
    [{ kind: "request", model: "m", scopeHash: "s", tailHash: "t" }, false],
    [{ kind: "note", topic: "t", text: "t" }, false],
    [{ kind: "snapshot", text: "t" }, false],
    [{ kind: "note", topic: "instructions", text: "t" }, true],
    [{ kind: "limit", state: "asked", askId: "q", limit: "turn-steps", used: 1, max: 1 }, true],
    [{ kind: "limit", state: "answered", askId: "q", limit: "turn-steps", choice: "stop", by: "me" }, true],
  ])("[GROUP-4] %j is shown: %s", (data, shown) => {
    expect(shape(grouped([system("s", data)]))).toEqual(shown ? ["event s: s"] : []);
  });
  test.each([
    [3, false],
    [4, true],
  ])("[GROUP-4] another prefix or model than the log began with is shown: at seq %d %s", (seq, shown) => {
    const changed = row("m", {
      seq,
      role: "system",
      type: "system",
      data: { kind: "model-changed", model: "m", effort: "low" },
    });
    const applied = row("p", {
      seq,
      role: "system",
      type: "system",
      data: { kind: "prefix", hash: "h", bytes: 1, instructions: [] },
    });
    expect(shape(grouped([changed, applied]))).toEqual(shown ? ["event m: m p"] : []);
  });
  test("[GROUP-4] errors are events; rows that are not shown part nothing", () => {
    const error = row("e", { role: "system", type: "error", data: { message: "m" } });
    const hidden = system("h", { kind: "request", model: "m", scopeHash: "s", tailHash: "t" });
    const rows = [textRow({ id: "a", seq: 1 }), hidden, textRow({ id: "b", seq: 3 }), error];
    expect(shape(grouped(rows))).toEqual(["assistant a: a b", "event e: e"]);
  });
});

describe("identity", () => {
  const rows = [textRow({ id: "u", seq: 1, role: "user" }), call("c", "x"), textRow({ id: "a", seq: 3 })];
  test("[GROUP-5] the same again is the very same", () => {
    const once = grouped(rows);
    expect(grouped(rows, {}, once)).toBe(once);
    expect(grouped([...rows], {}, once)).toBe(once);
  });
  test("[GROUP-5] only what changed is new, down to the item", () => {
    const once = grouped(rows);
    const next = grouped([...rows, result("r", "x")], {}, once);
    expect(next[0]).toBe(once[0]);
    expect(next[1]).not.toBe(once[1]);
    expect(next[1]?.items[1]).toBe(once[1]?.items[1]);
    expect(next[1]?.items[0]).toMatchObject({ result: { id: "r" } });
  });
  test("[GROUP-5] a group's key stays when its block seals and when it grows", () => {
    const streaming = grouped([], { open: [open("b", { text: "Hel" })] });
    const sealed = grouped([textRow({ id: "b", seq: 1 })], { open: [open("c")] }, streaming);
    expect([streaming[0]?.key, sealed[0]?.key]).toEqual(["b", "b"]);
  });
});
