import { describe, expect, test } from "vitest";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { EditedFetch } from "./edited-fetch.ts";
import { countOf, onlyLastMark, otherForm, withBlankText, withHourMarks, withoutEagerFlag } from "./edits.ts";
import { replayed } from "./replayed.ts";

const mark = { type: "ephemeral" };
const body = {
  model: "m",
  system: [{ type: "text", text: "SYS", cache_control: mark }],
  tools: [{ name: "look", eager_input_streaming: true }],
  messages: [
    { role: "user", content: [{ type: "text", text: "go", cache_control: mark }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: "s" },
        { type: "tool_use", id: "c", name: "look", input: { cache: 1 } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "ok", cache_control: mark }] },
  ],
};

test("the last breakpoint alone is left, at the very end", () => {
  const edited = onlyLastMark(body);
  expect(countOf(edited, "cache_control")).toBe(1);
  expect(countOf(edited.messages, "cache_control")).toBe(1);
  expect(JSON.stringify(edited).lastIndexOf("cache_control")).toBeGreaterThan(
    JSON.stringify(edited).indexOf("tool_result"),
  );
});

test("breakpoints are lengthened where they stand, and nothing else moves", () => {
  const edited = withHourMarks(body);
  expect(countOf(edited, "ttl")).toBe(3);
  expect(JSON.stringify(edited).replaceAll(',"ttl":"1h"', "")).toBe(JSON.stringify(body));
});

test("the eager flag goes, the tool stays", () => {
  expect(withoutEagerFlag(body).tools).toEqual([{ name: "look" }]);
});

test("a blank text stands right behind the thinking", () => {
  const { messages } = withBlankText(body);
  expect(JSON.stringify(messages)).toContain('"signature":"s"},{"type":"text","text":" "},{"type":"tool_use"');
});

describe("the first user message in its other form", () => {
  const both = (body: Record<string, unknown>): unknown => otherForm(otherForm(body));

  test("text becomes list and list becomes text, and twice is nothing", () => {
    const spoken = {
      messages: [
        { role: "system", content: "S" },
        { role: "user", content: "hi" },
      ],
    };
    expect(otherForm(spoken).messages).toEqual([
      { role: "system", content: "S" },
      { role: "user", content: [{ type: "text", text: "hi" }] },
    ]);
    expect(both(spoken)).toEqual(spoken);
    const items = { input: [{ role: "user", content: [{ type: "input_text", text: "hi" }] }] };
    expect(otherForm(items).input).toEqual([{ role: "user", content: "hi" }]);
    expect(both(items)).toEqual(items);
  });
});

test("reasoning that goes back is counted in each vendor's own form", () => {
  expect(replayed("anthropic", body)).toBe(1);
  expect(replayed("openai", { store: false, input: [{ type: "reasoning", encrypted_content: "x" }] })).toBe(1);
  expect(replayed("openai", { input: [{ type: "reasoning", encrypted_content: "x" }] })).toBeNull();
  expect(replayed("google", { contents: [{ parts: [{ functionCall: {}, thoughtSignature: "x" }] }] })).toBe(1);
  expect(replayed("deepseek", { messages: [{ reasoning_content: "x" }, { reasoning_content: "" }] })).toBe(1);
  expect(replayed("openrouter", { messages: [{ reasoning_details: [{ type: "reasoning.text" }] }] })).toBe(1);
});

test("an edit changes one request, header and body, and the next goes out byte for byte", async () => {
  await using provider = await createFakeProvider({ reply: () => ({ blocks: [{ type: "text", text: "ok" }] }) });
  const wire = new EditedFetch(fetch);
  const text = '{"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "go"}]}';
  const send = async () => {
    const headers = { "x-api-key": "k", "anthropic-version": "2023-06-01", "anthropic-beta": "a" };
    await (await wire.fetch(`${provider.url}/v1/messages`, { method: "POST", headers, body: text })).text();
  };
  wire.next = {
    body: (sent) => ({ ...sent, max_tokens: 6 }),
    headers: (headers) => headers.set("anthropic-beta", "a,b"),
  };
  await send();
  await send();
  expect(provider.calls.map(({ headers }) => headers["anthropic-beta"])).toEqual(["a,b", "a"]);
  expect(provider.calls.map((call) => call.body.max_tokens)).toEqual([6, 5]);
  expect(provider.calls[1]?.rawBody).toBe(text);
});
