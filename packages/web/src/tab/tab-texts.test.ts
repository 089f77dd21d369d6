import type { LogChunk, TabStatus } from "@varve/protocol";
import { parseChunkId, parseTabId, parseTurnId } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RowWriter } from "../dev/fake-rows.ts";
import { LINE_CHARS_MAX } from "../tools/clip-lines.ts";
import { eventText, wayOn } from "./event-text.ts";
import { faultText } from "./fault-text.ts";
import { logWords } from "./log-words.ts";
import { lostText, pendingText } from "./pending-text.ts";
import { statusWords } from "./status-words.ts";
import { callFacts, questionsOf, type ToolItem, tasksOf } from "./tool-facts.ts";
import { countText, usageByTurn, usageText } from "./usage.ts";
import { breakLines, wholeText } from "./whole-text.ts";

const known = <T>(value: T | null): T => {
  if (value === null) throw new Error("a legal id was expected");
  return value;
};
const tab = known(parseTabId("t"));
const ask = known(parseChunkId("ask"));
const turn = known(parseTurnId("turn"));
const writer = () => new RowWriter(tab, 0);
const last = (write: (w: RowWriter) => void): LogChunk => {
  const w = writer();
  write(w);
  const row = w.rows.at(-1);
  if (!row) throw new Error("nothing was written");
  return row;
};

describe("lines between messages", () => {
  test.each<[string, string | null, (w: RowWriter) => void]>([
    [
      "a stop",
      "Stopped. What was written up to here is kept.",
      (w) => w.system({ kind: "turn-end", reason: "stopped" }),
    ],
    ["a restart, which has its own notice", null, (w) => w.system({ kind: "turn-end", reason: "restart" })],
    ["a normal end", null, (w) => w.system({ kind: "turn-end", reason: "done" })],
    ["an end with an error, which has its own row", null, (w) => w.system({ kind: "turn-end", reason: "error" })],
    [
      "a notice",
      "Disk is nearly full.",
      (w) => w.system({ kind: "notice", level: "warning", code: "x", text: "Disk is nearly full." }),
    ],
    ["an error", "No.", (w) => w.error({ message: "No." }, {})],
    ["a usage row", null, (w) => w.usage({}, 1)],
    ["a text", null, (w) => w.say("hello", {})],
  ])("%s", (_name, text, write) => {
    expect(eventText(last(write))?.text ?? null).toBe(text);
  });

  test.each([
    [{ message: "x", statusCode: 401 }, "settings"],
    [{ message: "x", code: "credential-refused" }, "settings"],
    [{ message: "x", code: "provider-overloaded", statusCode: 529 }, "retry"],
    [{ message: "x" }, "retry"],
  ])("the way on from %j is %s", (error, way) => {
    expect(wayOn(error)).toBe(way);
  });
});

describe("the status at the end of a tab", () => {
  const idle: TabStatus = { state: "idle", turnId: null, step: 0, waits: [], lastSealed: null };
  const wait = { askId: ask, kind: "ask", callId: "c" } as const;
  test.each<[string | null, TabStatus]>([
    [null, idle],
    [null, { ...idle, state: "error" }],
    ["Working", { ...idle, state: "running" }],
    ["Waits for your answer.", { ...idle, state: "waiting", waits: [wait] }],
    ["2 questions wait for you.", { ...idle, state: "waiting", waits: [wait, wait] }],
    [
      "Overloaded. Attempt 2 comes in 4 s.",
      { ...idle, state: "running", retry: { attempt: 2, at: 5000, reason: "Overloaded." } },
    ],
    [
      "Overloaded. Attempt 2 comes now.",
      { ...idle, state: "running", retry: { attempt: 2, at: 0, reason: "Overloaded." } },
    ],
    ["Writing is paused", { ...idle, state: "running", fault: { code: "disk-full", message: "full" } }],
  ])("%s", (words, status) => {
    expect(statusWords(status, 1001)).toBe(words);
  });
});

describe("questions of a call", () => {
  const subject = { tool: "bash", key: "k", command: "ls" };
  const asked = (w: RowWriter): void =>
    w.system({ kind: "permission", state: "asked", askId: ask, callId: "c", subject }, { turn: "turn" });
  const item = (w: RowWriter): ToolItem => ({
    item: "tool",
    callId: "c",
    call: w.rows.find((row) => row.type === "tool_call") ?? null,
    result: w.rows.find((row) => row.type === "tool_result") ?? null,
    live: null,
    output: null,
    questions: w.rows.filter((row) => row.type === "system"),
  });

  test("an open one waits, an answered one carries its verdict", () => {
    const w = writer();
    w.call("c", "bash", { command: "ls" }, { turn: "turn" });
    asked(w);
    expect(callFacts(item(w), "/w", true).state).toBe("waiting");
    w.system({
      kind: "permission",
      state: "answered",
      askId: ask,
      callId: "c",
      verdict: "deny",
      reason: "no",
      by: "me",
    });
    expect(questionsOf(item(w).questions)).toEqual([
      { kind: "permission", askId: ask, subject, answer: { verdict: "deny", reason: "no", rules: [] } },
    ]);
    expect(callFacts(item(w), "/w", true).state).toBe("denied");
  });

  test("a result whose call is paged out still has its name and details", () => {
    const w = writer();
    w.result({ callId: "c", name: "grep", result: "x", isError: false, details: { matches: 2 } }, {});
    expect(callFacts(item(w), "/w", false)).toMatchObject({ name: "grep", state: "done", details: { matches: 2 } });
  });

  test("a call that never got its result failed with its turn", () => {
    const w = writer();
    w.call("c", "bash", {}, { turn: "turn" });
    expect(callFacts(item(w), "/w", true).state).toBe("running");
    expect(callFacts(item(w), "/w", false).state).toBe("failed");
  });
});

test("tasks are read from details, else from the arguments, and odd ones are left out", () => {
  const items = [{ text: "a", state: "done" }, { text: "b", state: "doing" }, { content: "c" }, 7, { text: 1 }];
  const expected = [
    { text: "a", state: "done" },
    { text: "b", state: "active" },
    { text: "c", state: "open" },
  ];
  expect(tasksOf({ items }, {})).toEqual(expected);
  expect(tasksOf({}, { items })).toEqual(expected);
  expect(tasksOf({}, {})).toEqual([]);
});

describe("what a turn took", () => {
  test("is summed over its steps, and only of turns that ended", () => {
    const w = writer();
    w.user("go", { turn: "turn", at: 1000 });
    w.usage({ turn: "turn", at: 1000 }, 100);
    w.usage({ turn: "turn", step: 1, at: 1000 }, 900);
    expect(usageByTurn(w.rows).size).toBe(0);
    w.system({ kind: "turn-end", reason: "done" }, { turn: "turn", at: 1000 });
    const usage = usageByTurn(w.rows).get(turn);
    expect(usage).toMatchObject({ steps: 2, cached: 1000, output: 760, input: 2440, tookMs: 3000, endSeq: 4 });
    expect(usage && usageText(usage)).toBe("2 steps · 2.4k in · 41 % from cache · 760 out · $0.0082");
  });

  test("a try that broke off is paid for and is no step", () => {
    const w = writer();
    const place = { turn: "turn", at: 1000 };
    w.user("go", place);
    const told = { fresh: 100, read: 0, write5m: 0, write1h: null, output: 5, reasoning: null };
    const bill = { kind: "usage", model: "m", ...told, attainable: null } as const;
    w.system({ ...bill, price: 0.5, cut: true }, place);
    w.system({ ...bill, price: 0.5 }, { ...place, step: 1 });
    w.system({ kind: "turn-end", reason: "done" }, place);
    expect(usageByTurn(w.rows).get(turn)).toMatchObject({ steps: 1, input: 200, output: 10, price: 1 });
  });

  test("what was not told is not shown as zero", () => {
    const unknown = { steps: 1, input: null, cached: null, output: null, price: null, tookMs: 0, endSeq: 1 };
    expect(usageText(unknown)).toBe("1 step");
  });

  test.each([
    [999, "999"],
    [1000, "1.0k"],
    [31_400, "31k"],
    [2_500_000, "2.5M"],
  ])("%d is %s", (n, text) => {
    expect(countText(n)).toBe(text);
  });
});

describe("what is said about a message that the server has not accepted", () => {
  test.each<[string, Parameters<typeof pendingText>[0]]>([
    ["Kept here; goes out as soon as the server takes it", { state: "waiting", delivery: "steer" }],
    ["Kept here; goes into the queue as soon as the server takes it", { state: "waiting", delivery: "queue" }],
    ["Sending…", { state: "sent", delivery: "steer" }],
    ["Not accepted. The text is kept here.", { state: "refused", delivery: "steer" }],
    [
      "Too long. Cut it.",
      {
        state: "refused",
        delivery: "steer",
        error: { code: "message-too-large", message: "Too long.", hint: "Cut it." },
      },
    ],
  ])("%s", (words, message) => {
    expect(pendingText(message)).toBe(words);
  });

  test("lost ones are counted", () => {
    expect(lostText(1)).toContain("this message");
    expect(lostText(3)).toContain("these 3 messages");
  });
});

test.each([
  ["disk-full", /^Writing is paused: Full\. .*kept in memory.*Free some space/],
  ["log-unavailable", /^Writing is paused: Full\. .*kept in memory.*tried again/],
])("a pause in writing (%s) says what is kept and what to do", (code, words) => {
  expect(faultText({ code, message: "Full." })).toMatch(words);
});

test.each([
  ["1 row", { tail: 1, parentId: null, parentSeq: 0 }],
  ["12 rows", { tail: 12, parentId: null, parentSeq: 0 }],
  ["12 rows", { tail: 12, parentId: "l", parentSeq: 0 }],
  ["12 rows, the first 5 shared with the version it came from", { tail: 12, parentId: "l", parentSeq: 5 }],
])("a version has %s", (words, log) => {
  expect(logWords(log)).toBe(words);
});

describe("the whole of a row that was cut", () => {
  test("is all of its text, whatever its kind", () => {
    const w = writer();
    w.say("**said**", {});
    w.think("thought", {});
    w.call("c", "bash", { command: "ls" }, {});
    w.result({ callId: "c", name: "bash", result: "\u001b[31mred\u001b[0m", isError: false }, {});
    w.error({ message: "no" }, {});
    expect(w.rows.map(wholeText)).toEqual([
      "**said**",
      "thought",
      '{"command":"ls"}',
      "red",
      '{\n  "message": "no"\n}',
    ]);
  });

  test("breaks lines without end and loses no character", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 3 * LINE_CHARS_MAX }), { maxLength: 4 }), (lengths) => {
        const text = lengths.map((length) => "x".repeat(length)).join("|");
        const lines = breakLines(text).split("\n");
        expect(lines.join("")).toBe(text);
        expect(lines.every((line) => line.length <= LINE_CHARS_MAX)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
