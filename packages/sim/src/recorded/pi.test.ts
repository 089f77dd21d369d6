import { storedRowSchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { recordedDataDir, WITHOUT_RECORDINGS } from "./data-dir.ts";
import { convertPiRecording, readPiRecording } from "./pi.ts";

const user = (text: string, timestamp = 1) => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }], timestamp },
});
const assistant = (content: unknown[], stopReason = "stop", more: object = {}) => ({
  type: "message",
  message: { role: "assistant", provider: "p", model: "m", content, stopReason, timestamp: 2, ...more },
});
const call = (id: string) => ({ type: "toolCall", id, name: "read", arguments: { z: 1, a: 2 } });
const text = (words: string) => ({ type: "text", text: words });
const result = (toolCallId: string, words = "ok") => ({
  type: "message",
  message: { role: "toolResult", toolCallId, toolName: "read", content: [text(words)], isError: false, timestamp: 3 },
});

/** Rows behind the prefix as `turn.step type words`. */
function shown(...lines: readonly object[]) {
  const { rows, requestPoints } = convertPiRecording(lines.map((line) => JSON.stringify(line)).join("\n"));
  const words = rows.map((row) => {
    const place = `${row.turnId.replace("turn-00000", "t")}.${row.step}`;
    if (row.type === "system")
      return `${place} ${row.data.kind}${row.data.kind === "turn-end" ? ` ${row.data.reason}` : ""}`;
    if (row.type === "tool_call") return `${place} call ${row.data.callId}`;
    if (row.type === "tool_result") return `${place} result ${row.data.callId}${row.data.isError ? " error" : ""}`;
    if (row.type === "error") return `${place} error ${row.data.message}`;
    return `${place} ${row.role} ${row.data.text}${row.data.partial === true ? " (partial)" : ""}`;
  });
  return { words, requestPoints };
}

describe("each recorded case becomes what our loop would have sealed", () => {
  test("a turn of two steps, then another turn", () => {
    const { words, requestPoints } = shown(
      user("go"),
      assistant([text("I read."), call("c1")], "toolUse"),
      result("c1"),
      assistant([text("Done.")]),
      user("again"),
      assistant([text("Yes.")]),
    );
    expect(words).toEqual([
      ".0 prefix",
      ".0 model-changed",
      "t1.0 user go",
      "t1.0 assistant I read.",
      "t1.0 call c1",
      "t1.0 result c1",
      "t1.1 assistant Done.",
      "t1.1 turn-end done",
      "t2.0 user again",
      "t2.0 assistant Yes.",
      "t2.0 turn-end done",
    ]);
    expect(requestPoints).toEqual([3, 6, 9]);
  });

  test("a message in the middle of a turn is a steer behind the results of its step", () => {
    const { words } = shown(
      user("go"),
      assistant([call("c1")], "toolUse"),
      result("c1"),
      user("use b"),
      assistant([text("ok")]),
    );
    expect(words.slice(2)).toEqual([
      "t1.0 user go",
      "t1.0 call c1",
      "t1.0 result c1",
      "t1.0 user use b",
      "t1.1 assistant ok",
      "t1.1 turn-end done",
    ]);
  });

  test("an abort leaves partial text, an error result for each open call, and a stopped turn", () => {
    const { words } = shown(
      user("go"),
      assistant([call("c1"), call("c2"), text("hal")], "aborted"),
      user("on"),
      assistant([], "aborted"),
    );
    expect(words.slice(2)).toEqual([
      "t1.0 user go",
      "t1.0 call c1",
      "t1.0 call c2",
      "t1.0 assistant hal (partial)",
      "t1.0 result c1 error",
      "t1.0 result c2 error",
      "t1.0 turn-end stopped",
      "t2.0 user on",
      "t2.0 turn-end stopped",
    ]);
  });

  test("an error answers open calls, is a row, and ends the turn; a late result is ignored", () => {
    const { words } = shown(
      user("go"),
      assistant([call("c1")], "error", { errorMessage: "529" }),
      result("c1"),
      user("on"),
    );
    expect(words.slice(2)).toEqual([
      "t1.0 user go",
      "t1.0 call c1",
      "t1.0 result c1 error",
      "t1.0 error 529",
      "t1.0 turn-end error",
      "t2.0 user on",
      "t2.0 turn-end restart",
    ]);
  });
});

const dataDir = recordedDataDir();
describe.skipIf(dataDir === null)(`the long recording${WITHOUT_RECORDINGS}`, () => {
  test("[SIM-13] is 453 requests of valid, dense rows in which every call has one result", () => {
    const { rows, requestPoints } = readPiRecording(dataDir ?? "");
    expect(requestPoints).toHaveLength(453);
    expect(rows.map((row) => row.seq)).toEqual(rows.map((_, index) => index + 1));
    for (const row of rows) expect(storedRowSchema.safeParse(row).error).toBeUndefined();
    const calls = rows.flatMap((row) => (row.type === "tool_call" ? [row.data.callId] : []));
    const results = rows.flatMap((row) => (row.type === "tool_result" ? [row.data.callId] : []));
    expect(calls).toHaveLength(391);
    expect([...results].sort()).toEqual([...calls].sort());
    expect(requestPoints.every((point, index) => point >= (requestPoints[index - 1] ?? 1))).toBe(true);
    for (const point of requestPoints) {
      const before = rows[point - 1];
      expect(before?.type === "tool_result" || before?.role === "user").toBe(true);
    }
    const ends = rows.flatMap((row) =>
      row.type === "system" && row.data.kind === "turn-end" ? [row.data.reason] : [],
    );
    expect(ends.filter((reason) => reason === "stopped")).toHaveLength(21);
    expect(ends.filter((reason) => reason === "error")).toHaveLength(1);
    const partials = rows.filter((row) => row.type === "text" && row.data.partial === true);
    expect(partials.length).toBeGreaterThan(3);
  });
});
