import type { ChunkId, HeadBody, LogChunk } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { type Promised, promiseProblems } from "./promises.ts";

const id = "m-1" as ChunkId;
const row = (text: string): LogChunk =>
  // Only these fields are looked at.
  ({ id, seq: 1, role: "user", type: "text", data: { text } }) as LogChunk;
const waiting = (text: string): HeadBody["queue"][number] => ({
  ...{ id, state: "held", delivery: "queue", position: 1, version: 1, text },
});
const promised = (more: Partial<Promised> = {}): Promised => ({
  ...{ id, sending: "accepted", removal: "none", texts: ["hello"] },
  ...more,
});

describe("what a sender was promised", () => {
  test.each<[string, Promised, number, number, number]>([
    ["in the log", promised(), 1, 0, 0],
    ["waiting", promised(), 0, 1, 0],
    ["nowhere", promised(), 0, 0, 1],
    ["in the log and waiting", promised(), 1, 1, 1],
    ["twice in the log", promised(), 2, 0, 1],
    ["unanswered and nowhere", promised({ sending: "unanswered" }), 0, 0, 0],
    ["unanswered and twice there", promised({ sending: "unanswered" }), 2, 0, 1],
    ["refused and there all the same", promised({ sending: "refused" }), 1, 0, 1],
    ["removed and there all the same", promised({ removal: "removed" }), 0, 1, 1],
    ["removed as far as nobody knows", promised({ removal: "unknown" }), 0, 0, 0],
    ["with a text that nobody wrote", promised({ texts: ["other"] }), 1, 0, 1],
    ["with one of two texts", promised({ texts: ["other", "hello"] }), 1, 0, 0],
  ])("[SIM-60] a message that is %s", (_what, message, rows, queue, problems) => {
    const found = {
      rows: Array.from({ length: rows }, () => row("hello")),
      queue: Array.from({ length: queue }, () => waiting("hello")),
    };
    expect(promiseProblems([message], found)).toHaveLength(problems);
  });
});
