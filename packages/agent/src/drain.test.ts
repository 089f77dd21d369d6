import type { ChunkId } from "@varve/protocol";
import { parseChunkId } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterTurn, atRest, steersToDrain, userRow, type WaitingMessage } from "./drain.ts";
import { turnIdOf } from "./testing/rows.ts";

const idOf = (text: string): ChunkId => parseChunkId(text) ?? expect.fail("a legal id");
const message = (word: string, position = 0): WaitingMessage => {
  const [id = "", delivery = "", state = "queued"] = word.split(" ");
  const known = delivery === "steer" || delivery === "queue" || delivery === "stop" ? delivery : expect.fail(word);
  return { id: idOf(id), delivery: known, state, position };
};
const list = (...words: readonly string[]) => words.map((word, index) => message(word, index));
const ids = (messages: readonly WaitingMessage[]) => messages.map((one) => one.id);

describe("at a step's end", () => {
  test("[DRAIN-1] steers join together in queue order; what is queued or held stays", () => {
    const waiting = [message("b steer", 2), message("a steer", 1), message("c queue", 3), message("d steer held", 0)];
    expect(ids(steersToDrain(waiting))).toEqual(["a", "b"]);
  });
});

describe("at a turn's end", () => {
  test.each<[string, readonly WaitingMessage[], readonly string[]]>([
    ["nothing waits", [], []],
    ["all steers go together", list("a queue", "b steer", "c steer"), ["b", "c"]],
    ["no steer: the first queued one alone", list("a queue", "b queue"), ["a"]],
    ["held ones are passed over", list("a steer held", "b queue held", "c queue"), ["c"]],
    ["only held ones: rest", list("a queue held"), []],
    ["a message meant to stop the turn that ended by itself goes first", list("a steer", "b stop"), ["b"]],
  ])("[DRAIN-2] done: %s, and nothing is held", (_name, waiting, send) => {
    const after = afterTurn(waiting, "done");
    expect(ids(after.send)).toEqual(send);
    expect(after.hold).toEqual([]);
  });

  test.each(["stopped", "deadline", "error", "restart"] as const)(
    "[DRAIN-3] H12 %s: all that waits is held, nothing is sent",
    (reason) => {
      const after = afterTurn(list("q1 queue", "q2 steer", "q3 queue held"), reason);
      expect(ids(after.send)).toEqual([]);
      expect(ids(after.hold)).toEqual(["q1", "q2"]);
    },
  );

  test("[DRAIN-3] H12 stop and send: that message begins the next turn, the others are held", () => {
    const after = afterTurn(list("q1 queue", "s stop", "q2 steer"), "stopped");
    expect(ids(after.send)).toEqual(["s"]);
    expect(ids(after.hold)).toEqual(["q1", "q2"]);
  });

  test("[DRAIN-3] after a restart a tab for unattended work may go on", () => {
    const waiting = list("q1 queue", "q2 queue");
    expect(ids(afterTurn(waiting, "restart", { sendAfterRestart: true }).send)).toEqual(["q1"]);
    expect(afterTurn(waiting, "error", { sendAfterRestart: true }).send).toEqual([]);
  });
});

describe("at rest", () => {
  test("[DRAIN-4] H12 a released message begins a turn by itself, the held one stays", () => {
    expect(ids(atRest(list("q1 queue", "q2 queue held")))).toEqual(["q1"]);
    expect(ids(atRest(list("q1 queue held", "q2 queue held")))).toEqual([]);
  });
});

test("[DRAIN-5] whatever waits and however the turn ends, a message is sent, held or left waiting, never two of them", () => {
  const any = fc.array(
    fc.record({
      delivery: fc.constantFrom("steer" as const, "queue" as const, "stop" as const),
      state: fc.constantFrom("queued", "held"),
      position: fc.double({ noNaN: true }),
    }),
    { maxLength: 8 },
  );
  const reasons = fc.constantFrom(
    "done" as const,
    "stopped" as const,
    "deadline" as const,
    "error" as const,
    "restart" as const,
  );
  fc.assert(
    fc.property(any, reasons, (shapes, reason) => {
      const waiting = shapes.map((shape, index) => ({ ...shape, id: idOf(`m${index}`) }));
      const { send, hold } = afterTurn(waiting, reason);
      expect(send.filter((one) => hold.includes(one))).toEqual([]);
      expect([...send, ...hold].every((one) => one.state === "queued")).toBe(true);
      const left = waiting.filter((one) => one.state === "queued" && !send.includes(one) && !hold.includes(one));
      if (reason !== "done") expect(left).toEqual([]);
      expect(send.map((one) => one.position)).toEqual(send.map((one) => one.position).toSorted((a, b) => a - b));
    }),
  );
});

test("[DRAIN-6] a message's id is its row's id", () => {
  const row = userRow({ id: idOf("m1"), data: { text: "ONE" }, by: "c1" }, { turnId: turnIdOf("t2"), step: 3, at: 9 });
  expect(row).toEqual({
    id: "m1",
    turnId: "t2",
    step: 3,
    role: "user",
    type: "text",
    data: { text: "ONE" },
    createdAt: 9,
    by: "c1",
  });
});
