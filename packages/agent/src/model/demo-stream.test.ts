import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { createFakeClock, settle } from "@varve/sim";
import { expect, test } from "vitest";
import { createDemoModel, partsOf } from "./demo-model.ts";

const options = (text: string): LanguageModelV3CallOptions => ({
  prompt: [
    { role: "system", content: "SYS" },
    {
      role: "user",
      content: [{ type: "text", text: "<system-note>Date: today, list the TODO comments</system-note>" }],
    },
    { role: "user", content: [{ type: "text", text }] },
  ],
  tools: [
    { type: "function", name: "grep", inputSchema: { type: "object", properties: { query: { type: "string" } } } },
  ],
});

test("[DEMO-6] thinking, text and calls come in small deltas, in that order, and the calls use the request's own names", () => {
  const parts = partsOf(options("where is fooBar?"));
  const kinds = [...new Set(parts.map((part) => part.type))];
  expect(kinds.indexOf("reasoning-delta")).toBeLessThan(kinds.indexOf("text-delta"));
  expect(kinds.indexOf("text-delta")).toBeLessThan(kinds.indexOf("tool-call"));
  for (const part of parts) if (part.type === "text-delta") expect(part.delta.length).toBeLessThanOrEqual(13);
  expect(parts.find((part) => part.type === "tool-call")).toMatchObject({
    toolName: "grep",
    input: '{"query":"fooBar"}',
  });
  expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "tool-calls" } });
});

test("[DEMO-6] the same request has the same answer, and notes are not the task", () => {
  expect(partsOf(options("hello"))).toEqual(partsOf(options("hello")));
  const text = partsOf(options("hello"))
    .flatMap((part) => (part.type === "text-delta" ? [part.delta] : []))
    .join("");
  expect(text).toContain("I am the **demo model**");
});

test("[DEMO-6] a tool that the request does not define is not called", () => {
  const parts = partsOf({ ...options("where is fooBar?"), tools: [] });
  expect(parts.some((part) => part.type === "tool-call")).toBe(false);
});

test("[DEMO-7] deltas are paced by the clock that it was given", async () => {
  const clock = createFakeClock();
  const { stream } = await createDemoModel({ clock, delayMs: 10 }).doStream(options("hello"));
  let heard = 0;
  const reading = (async () => {
    for await (const part of stream) if (part.type === "reasoning-delta" || part.type === "text-delta") heard += 1;
  })();
  await settle();
  expect(heard).toBe(0);
  await clock.advance(10);
  expect(heard).toBe(1);
  await clock.advance(50);
  expect(heard).toBe(6);
  await clock.advance(60_000);
  await reading;
});
