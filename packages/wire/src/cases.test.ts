/** The sharp cases of the wire, on the body that the real Anthropic adapter sends. */
import { describe, expect, test } from "vitest";
import {
  anthropicBody,
  bodyBlocks,
  capture,
  compatibleModel,
  isPrefix,
  requestFor,
  wireMessages,
} from "./testing/capture.ts";
import { toCompatible } from "./testing/folded.ts";
import { C, E, K, logOf, P, R, RE, T, U } from "./testing/rows.ts";

const text = (value: string) => ({ type: "text", text: value });
const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const result = (id: string, content: string) => ({ type: "tool_result", tool_use_id: id, content });
const failed = (id: string, content: string) => ({ ...result(id, content), is_error: true });
const at = (step: number) => ({ step });
const t2 = { turn: "t2" };
const t3 = { turn: "t3" };

describe("cases", () => {
  test("[WIRE-1] H01: a message in mid-turn, three steps, each request a prefix of the next", async () => {
    const rows = logOf(
      P(),
      U("fix the bug"),
      K("SIG0", { text: "look" }),
      T("Reading."),
      C("toolu_A", '{"path":"a.ts"}', { name: "read_file" }),
      R("toolu_A", "AAA"),
      T("Running.", at(1)),
      C("toolu_B", '{"command":"npm test"}', at(1)),
      RE("toolu_B", "1 failed", at(1)),
      U("use vitest instead", at(1)),
      C("toolu_C", '{"command":"npx vitest"}', at(2)),
      R("toolu_C", "ok", at(2)),
    );
    const points = [2, 6, 10, 12];
    const bodies = await Promise.all(points.map((end) => anthropicBody(rows.slice(0, end))));
    const last = bodies[3];
    expect(last && wireMessages(last)).toEqual([
      { role: "user", content: [text("fix the bug")] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "look", signature: "SIG0" },
          text("Reading."),
          use("toolu_A", "read_file", { path: "a.ts" }),
        ],
      },
      { role: "user", content: [result("toolu_A", "AAA")] },
      { role: "assistant", content: [text("Running."), use("toolu_B", "bash", { command: "npm test" })] },
      { role: "user", content: [failed("toolu_B", "1 failed"), text("use vitest instead")] },
      { role: "assistant", content: [use("toolu_C", "bash", { command: "npx vitest" })] },
      { role: "user", content: [result("toolu_C", "ok")] },
    ]);
    const blocks = bodies.map(bodyBlocks);
    for (let index = 1; index < blocks.length; index++) {
      expect(isPrefix(blocks[index - 1] ?? [], blocks[index] ?? [])).toBe(true);
      expect(blocks[index]?.length).toBeGreaterThan(blocks[index - 1]?.length ?? 0);
    }
  });

  test("[WIRE-5] H02: parallel results that finish in the other order", async () => {
    const rows = logOf(
      P(),
      U("go"),
      C("A", '{"command":"sleep 2"}'),
      C("B", '{"command":"true"}'),
      R("B", "b"),
      R("A", "a"),
    );
    expect(wireMessages(await anthropicBody(rows))).toEqual([
      { role: "user", content: [text("go")] },
      { role: "assistant", content: [use("A", "bash", { command: "sleep 2" }), use("B", "bash", { command: "true" })] },
      { role: "user", content: [result("A", "a"), result("B", "b")] },
    ]);
  });

  test("[WIRE-3] H04: a failed turn, then a second message, for both providers", async () => {
    const rows = logOf(P(), U("first"), E(), U("second", t2));
    const body = await anthropicBody(rows);
    expect(wireMessages(body)).toEqual([{ role: "user", content: [text("first"), text("second")] }]);
    expect(isPrefix(bodyBlocks(await anthropicBody(rows.slice(0, 2))), bodyBlocks(body))).toBe(true);
    const request = requestFor(rows, { target: toCompatible });
    const { body: chat } = await capture(request, compatibleModel("model-a"));
    expect(chat.messages.slice(1)).toEqual([
      { role: "user", content: "first" },
      { role: "user", content: "second" },
    ]);
  });

  test("[WIRE-6] H05: a call without a result, and its late result", async () => {
    const rows = logOf(
      P(),
      U("go"),
      C("A", '{"command":"sleep 60"}'),
      C("B", '{"command":"echo hi"}'),
      R("B", "hi\n"),
      U("continue", t2),
      R("A", "late output", { turn: "t2", step: 1 }),
    );
    const before = await anthropicBody(rows.slice(0, 6));
    expect(wireMessages(before)).toEqual([
      { role: "user", content: [text("go")] },
      {
        role: "assistant",
        content: [use("A", "bash", { command: "sleep 60" }), use("B", "bash", { command: "echo hi" })],
      },
      {
        role: "user",
        content: [failed("A", "[interrupted: no result was recorded]"), result("B", "hi\n"), text("continue")],
      },
    ]);
    expect(wireMessages(await anthropicBody(rows))).toEqual(wireMessages(before));
  });

  test("[WIRE-12] H06: malformed arguments and a trailing error", async () => {
    const rows = logOf(
      P(),
      U("plan it"),
      T("Wave 0 verified."),
      C("A", '{"todos":[{"content" "x"}]}', { name: "todo_write" }),
      RE("A", "todo_write args must be an object with a `todos` array"),
      E(at(1)),
      U("continue", t2),
    );
    expect(wireMessages(await anthropicBody(rows))).toEqual([
      { role: "user", content: [text("plan it")] },
      {
        role: "assistant",
        content: [text("Wave 0 verified."), use("A", "todo_write", { _invalid: '{"todos":[{"content" "x"}]}' })],
      },
      {
        role: "user",
        content: [failed("A", "todo_write args must be an object with a `todos` array"), text("continue")],
      },
    ]);
  });

  test("[WIRE-7] H07: steps with nothing to send", async () => {
    const rows = logOf(
      P(),
      U("hi"),
      K("S1", { text: "hmm" }),
      E(),
      U("again", t2),
      T("  \n", t2),
      E(t2),
      U("third", t3),
    );
    expect(wireMessages(await anthropicBody(rows))).toEqual([
      { role: "user", content: [text("hi"), text("again"), text("third")] },
    ]);
  });
});
