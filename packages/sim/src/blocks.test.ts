import { expect, test } from "vitest";
import { anthropicBlocks, anthropicPrefix, firstDivergence, isBlockPrefix, openaiMessages } from "./blocks.ts";

const mark = { cache_control: { type: "ephemeral" } };

test("message boundaries, string content and breakpoints make no difference to Anthropic blocks", () => {
  const a = {
    messages: [
      { role: "user", content: "x" },
      { role: "user", content: [{ type: "text", text: "y", ...mark }] },
    ],
  };
  const b = {
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "x", ...mark },
          { type: "text", text: "y" },
        ],
      },
    ],
  };
  expect(anthropicBlocks(a)).toEqual(anthropicBlocks(b));
  expect(anthropicBlocks(a)).toEqual([
    ["user", '{"type":"text","text":"x"}'],
    ["user", '{"type":"text","text":"y"}'],
  ]);
});

test("breakpoints inside a tool result are left out, the rest is byte for byte", () => {
  const inner = { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "x", ...mark }] };
  const [block] = anthropicBlocks({ messages: [{ role: "user", content: [inner] }] });
  expect(block?.[1]).toBe('{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}]}');
  const swapped = anthropicBlocks({
    messages: [{ role: "user", content: [{ tool_use_id: "a", type: "tool_result" }] }],
  });
  expect(swapped[0]?.[1]).toBe('{"tool_use_id":"a","type":"tool_result"}');
});

test("the whole prefix is tools, system, messages", () => {
  const body = { messages: [{ role: "user", content: "x" }], system: "S", tools: [{ name: "t", ...mark }] };
  expect(anthropicPrefix(body).map(([role]) => role)).toEqual(["tools", "system", "user"]);
});

test("OpenAI messages stay messages, and their form counts", () => {
  const text = openaiMessages({ messages: [{ role: "user", content: "x" }] });
  const list = openaiMessages({ messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] });
  expect(isBlockPrefix(text, list)).toBe(false);
  expect(text).toEqual([["user", '{"role":"user","content":"x"}']]);
});

test("a prefix is a prefix; the first difference is named", () => {
  const a = [["user", "1"] as const];
  const b = [...a, ["assistant", "2"] as const];
  expect(isBlockPrefix(a, b)).toBe(true);
  expect(isBlockPrefix(b, a)).toBe(false);
  expect(firstDivergence(b, [...a, ["user", "2"] as const])).toBe(1);
  expect(isBlockPrefix([], [])).toBe(true);
});
