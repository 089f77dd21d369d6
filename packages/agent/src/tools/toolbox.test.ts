import type { JsonObject } from "@varve/protocol";
import { toolDefinitionSchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "./define-tool.ts";
import { toolLimits } from "./limits.ts";
import { finish } from "./outcome.ts";
import { runPrepared, scratch } from "./testing/scratch.ts";
import type { ToolOutcome } from "./tool.ts";

const names = [
  "ask",
  "bash",
  "edit",
  "fetch",
  "glob",
  "grep",
  "job",
  "list",
  "patch",
  "read",
  "recall",
  "todo",
  "write",
];

describe("the tool box", () => {
  test("[TOOL-1] definitions ascend by name and are the same bytes in every box", async () => {
    await using one = scratch();
    await using two = scratch();
    expect(one.box.definitions.map(({ name }) => name)).toEqual(names);
    expect(JSON.stringify(one.box.definitions)).toBe(JSON.stringify(two.box.definitions));
    expect(JSON.stringify(one.box.definitions)).not.toContain(one.base);
    expect(one.box.get("nope")).toBeUndefined();
  });

  test("[TOOL-1] a definition is a plain JSON object schema without dialect", async () => {
    await using at = scratch();
    for (const definition of at.box.definitions) {
      expect(toolDefinitionSchema.parse(definition)).toEqual(definition);
      expect(definition.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(JSON.stringify(definition)).not.toContain("$schema");
      expect(definition.description.length).toBeGreaterThan(40);
    }
  });

  const bad: readonly (readonly [string, JsonObject, RegExp])[] = [
    ["read", {}, /"path"/],
    ["read", { path: 3 }, /"path"/],
    ["read", { path: "" }, /"path"/],
    ["read", { path: "x", offset: 0 }, /"offset"/],
    ["read", { path: "x", offset: 1.5 }, /"offset"/],
    ["read", { path: "x", line: 3 }, /line/],
    ["read", { _invalid: "{" }, /not a JSON object/],
    ["edit", { path: "x", oldText: "a" }, /"newText"/],
    ["patch", { path: "x", patch: "x" }, /path/],
    ["grep", { pattern: "x", context: 99 }, /"context"/],
    ["glob", { pattern: "x".repeat(2_000) }, /"pattern"/],
    ["job", { action: "dance" }, /"action"/],
    ["todo", { items: [{ text: "x", state: "lost" }] }, /"items.0.state"/],
    ["ask", { question: "q", options: Array.from({ length: 9 }, () => "x") }, /"options"/],
  ];
  test.each(bad)("[TOOL-4] %s %j: a text names what is wrong", async (name, args, words) => {
    await using at = scratch();
    expect(await at.box.get(name)?.prepare(args, at.place)).toEqual({ error: expect.stringMatching(words) });
  });

  test("[TOOL-4] null for what is left out is no mistake", async () => {
    await using at = scratch();
    at.file("f", "x\n");
    expect((await at.call("read", { path: "f", offset: null, limit: null })).text).toBe("1\tx");
  });

  test.each([
    ["empty", "", "⟨no output⟩"],
    ["half a pair", "a\ud800b", "a\ufffdb"],
    ["a byte order mark stays", "\ufeffa", "\ufeffa"],
  ])("[TOOL-3] a result is non-empty and well-formed: %s", (_name, text, expected) => {
    expect(finish({ text, isError: false }).text).toBe(expected);
  });

  test("[TOOL-3] a result is bounded", () => {
    const { text } = finish({ text: "𝄞".repeat(toolLimits.resultCharsMax), isError: false });
    expect(text.length).toBeLessThan(toolLimits.resultCharsMax + 20);
    expect(text.endsWith("𝄞\n⟨cut here⟩")).toBe(true);
  });

  test("[TOOL-5] a tool that fails by its own mistake still answers", async () => {
    const tool = (run: () => Promise<ToolOutcome>) =>
      defineTool({
        name: "todo",
        schema: z.strictObject({}),
        prepare: async () => ({ effect: "read", subject: { tool: "todo", key: "" }, lock: null, run }),
      });
    await using at = scratch();
    const prepared = await tool(() => Promise.reject(new Error("boom"))).prepare({}, at.place);
    if ("error" in prepared) throw new Error("it prepares");
    expect(await runPrepared(prepared)).toMatchObject({ isError: true, text: expect.stringContaining("boom") });
  });

  test("[TOOL-6] closing twice is fine, and a closed tab may begin anew", async () => {
    await using at = scratch();
    at.file("f", "x\n");
    await at.call("read", { path: "f" });
    await at.box.closePlace(at.place.tabId);
    await at.box.closePlace(at.place.tabId);
    expect((await at.call("read", { path: "f" })).isError).toBe(false);
    await at.box.close();
    await at.box.close();
  });
});

describe("todo and ask", () => {
  test("[TOOL-96] the list is the whole list, and needs no permission", async () => {
    await using at = scratch();
    const items = [
      { text: "one", state: "done" },
      { text: "two", state: "doing" },
    ];
    expect((await at.prepare("todo", { items })).effect).toBe("read");
    expect(await at.call("todo", { items })).toEqual({
      text: "The list has 2 items, 1 done.",
      isError: false,
      details: { summary: "1 of 2 done", items },
    });
  });

  test.each([
    { answer: "blue", text: "blue", isError: false },
    { answer: "  ", text: "⟨the person answered with nothing⟩", isError: false },
    { answer: null, text: "⟨not answered⟩", isError: true },
  ])("[TOOL-97] a question gets its answer: $answer", async ({ answer, text, isError }) => {
    await using at = scratch();
    const asked: unknown[] = [];
    const prepared = await at.prepare("ask", { question: "Which?", options: ["red", "blue"] });
    expect(prepared.effect).toBe("ask");
    const outcome = await runPrepared(prepared, {
      ask: async (question, options) => {
        asked.push(question, options);
        return answer;
      },
    });
    expect(outcome).toMatchObject({ text, isError });
    expect(asked).toEqual(["Which?", ["red", "blue"]]);
  });
});
