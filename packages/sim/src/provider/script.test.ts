import { describe, expect, test } from "vitest";
import { type JsonObject, objectsIn } from "../json.ts";
import { viewRequest } from "./request-view.ts";
import { createScript, type Match, type Reply } from "./script.ts";

const say = (text: string): Reply => ({ blocks: [{ type: "text", text }] });
const anthropic: JsonObject = {
  model: "big-1",
  system: [{ type: "text", text: "You are careful." }],
  tools: [{ name: "read" }, { name: "bash" }],
  messages: [
    { role: "user", content: "fix it" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "c1", name: "read", input: { p: 1 } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "AAA" }], is_error: true },
        { type: "text", text: "hurry" },
      ],
    },
  ],
};
const openai: JsonObject = {
  model: "big-1",
  tools: [
    { type: "function", function: { name: "read" } },
    { type: "function", function: { name: "bash" } },
  ],
  messages: [
    { role: "system", content: "You are careful." },
    { role: "user", content: [{ type: "text", text: "fix it" }] },
    {
      role: "assistant",
      content: "I look.",
      tool_calls: [{ id: "c1", function: { name: "read", arguments: '{"p":1}' } }],
    },
    { role: "tool", tool_call_id: "c1", content: "AAA" },
    { role: "user", content: "hurry" },
  ],
};

describe("a request reads the same for both vendors", () => {
  test.each([
    ["anthropic", anthropic],
    ["openai", openai],
  ] as const)("%s", (vendor, body) => {
    const view = viewRequest(vendor, 3, body);
    expect(view).toMatchObject({ index: 3, model: "big-1", stream: false, system: "You are careful." });
    expect(view.toolNames).toEqual(["read", "bash"]);
    expect(view.lastUserText).toBe("hurry");
    expect(view.lastResults).toEqual([{ callId: "c1", name: "read", text: "AAA", isError: vendor === "anthropic" }]);
    const asked = view.messages.find((message) => message.role === "assistant");
    expect(asked).toMatchObject({ text: "I look.", calls: [{ id: "c1", name: "read", input: { p: 1 } }] });
  });

  test("results in front of an answer are no longer the last ones", () => {
    const later = {
      ...anthropic,
      messages: [
        ...objectsIn(anthropic.messages),
        { role: "assistant", content: "ok" },
        { role: "user", content: "on" },
      ],
    };
    const view = viewRequest("anthropic", 0, later);
    expect([view.lastResults, view.lastUserText]).toEqual([[], "on"]);
  });
});

describe("a match", () => {
  const request = viewRequest("anthropic", 0, anthropic);
  test.each<[Match, boolean]>([
    [{}, true],
    [{ vendor: "anthropic", model: "^big" }, true],
    [{ vendor: "openai" }, false],
    [{ model: "small" }, false],
    [{ lastUserText: "^hurry$" }, true],
    [{ lastUserText: "fix" }, false],
    [{ system: "careful" }, true],
    [{ toolResult: "A{3}" }, true],
    [{ toolResult: "B" }, false],
    [{ afterTools: true }, true],
    [{ afterTools: false }, false],
    [{ model: "big", toolResult: "B" }, false],
  ])("%j is %s", (match, isMatch) => {
    expect(createScript([{ match, reply: say("x") }]).take(request) !== null).toBe(isMatch);
  });

  test("entries are used as often as they say, and count what is left", () => {
    const script = createScript([
      { reply: say("a"), times: 2 },
      { reply: say("b"), times: "always" },
    ]);
    expect(script.left()).toBe(2);
    const taken = [1, 2, 3, 4].map(() => script.take(request));
    expect(taken).toEqual([say("a"), say("a"), say("b"), say("b")]);
    script.add([say("c")]);
    expect(script.left()).toBe(1);
  });
});
