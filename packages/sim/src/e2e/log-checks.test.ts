import type { LogChunk } from "@varve/protocol";
import { chunkIdSchema, logChunkSchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { logProblems } from "./log-checks.ts";

type Given = Pick<LogChunk, "role" | "type"> & {
  readonly data: unknown;
  readonly turnId?: string;
  readonly id?: string;
};

const rowsOf = (given: readonly Given[]): readonly LogChunk[] =>
  given.map((row, index) =>
    logChunkSchema.parse({
      id: `r${index}`,
      turnId: "t1",
      ...row,
      tabId: "t",
      seq: index + 1,
      term: 1,
      step: 0,
      createdAt: 0,
    }),
  );

const user: Given = { role: "user", type: "text", data: { text: "hello" }, id: "m1" };
const call: Given = {
  role: "assistant",
  type: "tool_call",
  data: { callId: "c1", name: "bash", arguments: {}, argsText: "{}" },
};
const result: Given = {
  role: "tool",
  type: "tool_result",
  data: { callId: "c1", name: "bash", result: "", isError: false },
};
/** The stream of the step broke behind a whole call: the step is tried again, and nothing of it counts. */
const stepVoid = (turnId = "t1"): Given => {
  return { role: "system", type: "system", data: { kind: "step-void", turnId, step: 0, reason: "it broke off" } };
};
const end: Given = { role: "system", type: "system", data: { kind: "turn-end", reason: "done" } };
const acknowledged = [chunkIdSchema.parse("m1")];

describe("what a log must never be", () => {
  test("a turn that was answered and ended has no problems", () => {
    expect(logProblems(rowsOf([user, call, result, end]), acknowledged)).toEqual([]);
  });

  test("a call of a step that was voided has no result", () => {
    expect(logProblems(rowsOf([user, call, stepVoid(), end]), acknowledged)).toEqual([]);
  });

  test.each<[string, readonly Given[], string]>([
    ["an acknowledged message that is not there", [call, result, end], "the acknowledged message m1 is there 0 times"],
    ["an id twice", [user, user, end], "an id has two rows"],
    ["a call without a result", [user, call, end], "the call c1 has 0 results"],
    ["a call with two results", [user, call, result, result, end], "the call c1 has 2 results"],
    ["a call of a voided step with a result", [user, call, stepVoid(), result, end], "the call c1 has 1 results"],
    ["a void of another turn", [user, call, stepVoid("t2"), end], "the call c1 has 0 results"],
    ["a turn that did not end", [user, call, result], "turn t1 ended 0 times, or is not over with that"],
    [
      "a turn that goes on behind its end",
      [user, end, call, result],
      "turn t1 ended 1 times, or is not over with that",
    ],
    ["two turns in one another", [user, { ...end, turnId: "t2" }, end], "turn t1 goes on after another began"],
  ])("%s is told", (_what, given, problem) => {
    expect(logProblems(rowsOf(given), acknowledged)).toContain(problem);
  });

  test("a gap in the seqs is told", () => {
    const [first, second] = rowsOf([user, end]);
    if (first === undefined || second === undefined) throw new Error("two rows were made");
    expect(logProblems([first, { ...second, seq: 3 }], acknowledged)).toContain("row 2 has seq 3");
  });
});
