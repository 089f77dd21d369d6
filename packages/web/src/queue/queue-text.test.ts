import type { LogChunk, LongCall, QueuedMessage, TabStatus } from "@varve/protocol";
import { parseTabId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { chunkId, known, RowWriter } from "../dev/fake-rows.ts";
import { callSubject, cardWords, jobOf, queueGoesOn, quoted, runningFor, waitsFor, waysOn } from "./queue-text.ts";

type Waiting = Pick<QueuedMessage, "state" | "delivery">;
const idle: TabStatus = { state: "idle", turnId: null, step: 0, waits: [], lastSealed: null };
const runs: TabStatus = { ...idle, state: "running" };
const asks: TabStatus = { ...idle, state: "waiting", waits: [{ askId: chunkId("q"), kind: "ask", callId: "a" }] };
const long = (callId: string, movable = true): LongCall => ({ callId, name: "bash", since: 1000, movable });
const steer: Waiting = { state: "queued", delivery: "steer" };
const queue: Waiting = { state: "queued", delivery: "queue" };
const stop: Waiting = { state: "queued", delivery: "stop" };

describe("when a message goes", () => {
  test.each<[string, Waiting, TabStatus]>([
    ["held: goes when you send it", { ...steer, state: "held" }, runs],
    ["held: goes when you send it", { ...queue, state: "held" }, idle],
    ["goes next", steer, idle],
    ["goes next", queue, { ...idle, state: "error" }],
    ["joins at the next step", steer, runs],
    ["joins when the question is answered", steer, asks],
    ["after this turn", queue, runs],
    ["after this turn", queue, asks],
    ["stops this turn", stop, runs],
  ])("%s: %j", (words, message, status) => {
    expect(cardWords(message, status)).toBe(words);
  });
});

test.each<[boolean, TabStatus["state"], readonly ("done" | "stopped" | "error" | "restart")[]]>([
  [true, "running", ["stopped"]],
  [true, "waiting", []],
  [true, "idle", ["stopped", "done"]],
  [false, "idle", ["done", "stopped"]],
  [false, "error", ["error"]],
  [false, "idle", ["restart"]],
  [false, "idle", []],
])("what waits goes by itself (%s) while the tab is %s after turns that ended as %j", (goes, state, reasons) => {
  const writer = new RowWriter(known(parseTabId("t")), 0);
  for (const reason of reasons) writer.system({ kind: "turn-end", reason }, { turn: reason });
  expect(queueGoesOn({ state }, writer.rows)).toBe(goes);
});

describe("a long call is waited for", () => {
  const busy: TabStatus = { ...runs, calls: [long("a"), long("b")] };
  test.each<[string, number, Waiting, TabStatus]>([
    ["by a steer", 2, steer, busy],
    ["not by what waits for the turn", 0, queue, busy],
    ["not by what stops the turn", 0, stop, busy],
    ["not by what is held", 0, { ...steer, state: "held" }, busy],
    ["not when none is long", 0, steer, runs],
  ])("%s", (_name, count, message, status) => {
    expect(waitsFor(message, status)).toHaveLength(count);
  });
});

test.each<[string | null, string, readonly LongCall[]]>([
  ["Move to background and deliver", "Stop it and deliver", [long("a")]],
  ["Move to background and deliver", "Stop them and deliver", [long("a"), long("b")]],
  ["Move 1 of 2 to background", "Stop them and deliver", [long("a"), long("b", false)]],
  [null, "Stop it and deliver", [long("a", false)]],
])("the ways on are %j and %j", (move, stopping, calls) => {
  expect(waysOn(calls)).toEqual({ move, stop: stopping });
});

test.each([
  [1000, "running for 1 s"],
  [900, "running for 1 s"],
  [13_400, "running for 12 s"],
  [131_000, "running for 2 min 10 s"],
])("at %d the call that began at 1000 is %s", (now, words) => {
  expect(runningFor(long("a"), now)).toBe(words);
});

describe("a call is named", () => {
  const rows = (name: string, args: Record<string, string>): readonly LogChunk[] => {
    const writer = new RowWriter(known(parseTabId("t")), 0);
    writer.call("a", name, args, {});
    return writer.rows;
  };
  test.each([
    ["by its command", "npm test", rows("bash", { command: "npm test" })],
    ["in one line", "a b", rows("bash", { command: "a\n  b" })],
    ["with what would reorder it written out", "a⟨U+202E⟩b", rows("bash", { command: "a\u202eb" })],
    ["by its name when its row is not there", "bash", []],
    ["in part when it is long", `${"x".repeat(79)}…`, rows("bash", { command: "x".repeat(200) })],
  ])("%s", (_name, subject, held) => {
    expect(callSubject(long("a"), held)).toBe(subject);
  });
});

test("a call that was moved is known by its job, an ordinary end is none", () => {
  const writer = new RowWriter(known(parseTabId("t")), 0);
  const result = { name: "bash", result: "", isError: false };
  writer.result({ ...result, callId: "a", details: { job: "3" } }, {});
  writer.result({ ...result, callId: "b", details: { exitCode: 0 } }, {});
  expect([jobOf("a", writer.rows), jobOf("b", writer.rows), jobOf("c", writer.rows)]).toEqual(["3", null, null]);
});

test.each([
  ["short", "“short”"],
  ["two\nlines", "“two lines”"],
  ["x".repeat(50), `“${"x".repeat(39)}…”`],
])("%j is quoted as %j", (text, words) => {
  expect(quoted(text)).toBe(words);
});
