import { describe, expect, test } from "vitest";
import type { CallPart, ModelMessage, ResultPart } from "./model-message.ts";
import { anthropic } from "./profiles/anthropic.ts";
import { mistral } from "./profiles/mistral.ts";
import { openaiCompatible } from "./profiles/openai-compatible.ts";
import { type ViolationCode, validateMessages } from "./validate.ts";

const system: ModelMessage = { role: "system", content: "SYS" };
const user = (text = "a"): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
const says = (text = "t"): ModelMessage => ({ role: "assistant", content: [{ type: "text", text }] });
const call = (id = "c1", input: unknown = {}, toolName = "bash"): CallPart => ({
  type: "tool-call",
  toolCallId: id,
  toolName,
  input,
});
const calls = (...parts: readonly CallPart[]): ModelMessage => ({ role: "assistant", content: [...parts] });
const result = (id = "c1", value = "ok"): ResultPart => ({
  type: "tool-result",
  toolCallId: id,
  toolName: "bash",
  output: { type: "text", value },
});
const results = (...parts: readonly ResultPart[]): ModelMessage => ({ role: "tool", content: [...parts] });
const good = [system, user(), calls(call()), results(result()), user("q")];
const marked = (message: ModelMessage): ModelMessage => ({
  ...message,
  providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
});
const imageResult: ResultPart = { ...result(), output: { type: "content", value: [] } };

const bad: readonly (readonly [ViolationCode, string, readonly ModelMessage[]])[] = [
  ["no-system", "no system prompt", [user()]],
  ["no-system", "nothing at all", []],
  ["not-user-first", "an assistant in front", [system, says(), user()]],
  ["not-user-last", "an assistant at the end", [system, user(), says()]],
  ["not-user-last", "a system prompt alone", [system]],
  ["assistant-after-assistant", "two assistants", [system, user(), says(), says(), user()]],
  ["empty-content", "an empty text", [system, user("")]],
  ["empty-content", "a blank text", [system, user(" \n")]],
  ["empty-content", "a blank system block", [{ role: "system", content: " " }, user()]],
  ["empty-content", "no parts", [system, user(), { role: "assistant", content: [] }, user()]],
  ["empty-content", "an empty result", [system, user(), calls(call()), results(result("c1", ""))]],
  ["empty-content", "a result without items", [system, user(), calls(call()), results(imageResult)]],
  [
    "empty-content",
    "an image without bytes",
    [system, { role: "user", content: [{ type: "file", mediaType: "image/png", data: "" }] }],
  ],
  [
    "ends-in-thinking",
    "thinking at a message's end",
    [
      system,
      user(),
      {
        role: "assistant",
        content: [
          { type: "text", text: "t" },
          { type: "reasoning", text: "" },
        ],
      },
      user(),
    ],
  ],
  ["unanswered-call", "a call without a result", [system, user(), calls(call()), user()]],
  ["unanswered-call", "one of two unanswered", [system, user(), calls(call(), call("c2")), results(result())]],
  ["unanswered-call", "a call at the end", [system, user(), calls(call())]],
  ["orphan-result", "a result without a call", [system, user(), calls(call()), results(result(), result("zz"))]],
  ["orphan-result", "a result twice", [system, user(), calls(call()), results(result(), result())]],
  ["orphan-result", "a result too late", [system, user(), calls(call()), results(result()), results(result())]],
  ["bad-call-id", "an illegal id", [system, user(), calls(call("a|b")), results(result("a|b"))]],
  [
    "bad-call-id",
    "an id of 41 letters",
    [system, user(), calls(call("x".repeat(41))), results(result("x".repeat(41)))],
  ],
  [
    "repeated-call-id",
    "an id used twice",
    [system, user(), calls(call()), results(result()), calls(call()), results(result())],
  ],
  ["bad-tool-name", "a name with a dot", [system, user(), calls(call("c1", {}, "a.b")), results(result())]],
  ["input-not-object", "a list as input", [system, user(), calls(call("c1", [])), results(result())]],
  ["input-not-object", "null as input", [system, user(), calls(call("c1", null)), results(result())]],
  ["input-not-object", "a text as input", [system, user(), calls(call("c1", "{}")), results(result())]],
  ["ill-formed-text", "half an emoji", [system, user("\ud83d")]],
  ["ill-formed-text", "half an emoji in a result", [system, user(), calls(call()), results(result("c1", "\ud83d"))]],
  [
    "ill-formed-text",
    "half an emoji deep in an input",
    [system, user(), calls(call("c1", { a: [{ b: "\ud83d" }] })), results(result())],
  ],
  [
    "ill-formed-text",
    "half an emoji in a key",
    [system, user(), calls(call("c1", { "\ud83d": 1 })), results(result())],
  ],
  [
    "ill-formed-text",
    "half an emoji in thinking",
    [
      system,
      user(),
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "\ud83d" },
          { type: "text", text: "t" },
        ],
      },
      user(),
    ],
  ],
  ["too-many-breakpoints", "five marks", [system, user(), user(), user(), user()].map(marked)],
];

describe("validation", () => {
  test("[WIRE-26] a right prompt has no violation", () => {
    expect(validateMessages(good, anthropic)).toEqual([]);
    expect(validateMessages(good, openaiCompatible)).toEqual([]);
  });

  test.each(bad)("[WIRE-26] %s: %s", (code, _, messages) => {
    expect(validateMessages(messages, anthropic).map((violation) => violation.code)).toContain(code);
  });

  test("[WIRE-26] each code has a case, and each case differs from a right prompt", () => {
    expect(new Set(bad.map(([code]) => code)).size).toBe(14);
  });

  test("[WIRE-26] a violation names its message", () => {
    expect(validateMessages([system, user(), user("")], anthropic)).toEqual([
      { code: "empty-content", messageIndex: 2, detail: "text without a visible character" },
    ]);
  });

  test("[WIRE-26] texts as input are legal where the adapter passes them, if they hold an object", () => {
    const withInput = (input: string) => [system, user(), calls(call("c1", input)), results(result())];
    expect(validateMessages(withInput('{"a":1}'), openaiCompatible)).toEqual([]);
    expect(validateMessages(withInput("[1]"), openaiCompatible)).toMatchObject([{ code: "input-not-object" }]);
  });

  test("[WIRE-20] strict templates refuse user after user and user after tool", () => {
    const codes = (messages: readonly ModelMessage[]) => validateMessages(messages, mistral).map(({ code }) => code);
    expect(codes([system, user(), user()])).toEqual(["user-after-user"]);
    const id = "abcdefghi";
    expect(codes([system, user(), calls(call(id)), results(result(id)), user()])).toEqual(["user-after-user"]);
    expect(codes([system, user(), calls(call(id)), results(result(id)), says("(ok)"), user()])).toEqual([]);
  });
});
