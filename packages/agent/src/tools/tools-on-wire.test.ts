/** What of our tools' definitions reaches each provider, through the very packages that requests go through. */
import type { ProviderName, ToolDefinition } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import { buildRequest, chooseProfile, makePrefixData, type WireDialect, wireTarget } from "@varve/wire";
import { describe, expect, test } from "vitest";
import { providerFactories } from "../model/factories.ts";
import { RowList } from "../testing/rows.ts";
import { scratch } from "./testing/scratch.ts";

const { definitions } = scratch().box;

/** The packages of today's models, and those of older ones that are spoken to in another way. */
const models: readonly (readonly [WireDialect, string])[] = [
  ["anthropic", "claude-opus-5-5"],
  ["anthropic", "claude-haiku-4-5"],
  ["openai", "gpt-5.6-sol"],
  ["openai", "gpt-4.1"],
  ["openai-chat", "gpt-5.6-sol"],
  ["google", "gemini-3.5-flash"],
  ["google", "gemini-2.5-pro"],
  ["deepseek", "deepseek-v4-pro"],
  ["openrouter", "anthropic/claude-opus-5.5"],
  ["openai-compatible", "mistral-large-latest"],
  ["openai-compatible", "llama-3.3"],
  ["local", "qwen3:32b"],
];

/** Bounds that Gemini's dialect of schema has no word for here. Each is checked once more when the call comes. */
const unsaidToGoogle = ["additionalProperties", "maxLength", "maxItems", "minimum", "maximum"];

async function toolsSent(dialect: WireDialect, model: string): Promise<{ tools: unknown; warnings: unknown }> {
  const target = wireTarget(chooseProfile(dialect, model), model);
  const rows = new RowList().system(makePrefixData({ system: ["S"], tools: definitions })).user("hi").rows;
  const built = buildRequest({ rows, target, modelName: "m", effort: "high" });
  if (isFault(built)) throw new Error(built.message);
  const bodies: string[] = [];
  const make = providerFactories(async (_input, init) => {
    bodies.push(String(init?.body));
    return new Response("data: [DONE]\n\n", { headers: { "content-type": "text/event-stream" } });
  })[dialect];
  const provider: ProviderName =
    dialect === "openai-chat" ? "openai" : dialect === "local" ? "openai-compatible" : dialect;
  const access = { id: "c", provider, key: "key", baseUrl: "http://127.0.0.1:9/v1", source: "stored" } as const;
  const { stream } = await (await make(access))(model).doStream({ ...built.options, prompt: built.messages });
  let warnings: unknown = [];
  for await (const part of stream) if (part.type === "stream-start") warnings = part.warnings;
  return { tools: JSON.parse(bodies[0] ?? "{}").tools, warnings };
}

/** The definitions again, whatever the provider calls their fields. */
function readBack(tools: unknown): readonly ToolDefinition[] {
  const list: unknown = Array.isArray(tools) && tools[0]?.functionDeclarations ? tools[0].functionDeclarations : tools;
  if (!Array.isArray(list)) throw new Error("the body has no tools");
  return list.map((tool) => {
    const { name, description, input_schema, parameters } = tool.function ?? tool;
    return { name, description, inputSchema: input_schema ?? parameters };
  });
}

const without = (names: readonly string[], value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner: unknown) => (names.includes(key) ? undefined : inner)));

describe("our definitions at the providers", () => {
  test.each(models)("[TOOL-113] nothing of them is lost at %s, %s", async (dialect, model) => {
    const { tools, warnings } = await toolsSent(dialect, model);
    expect(warnings).toEqual([]);
    const unsaid = dialect === "google" ? unsaidToGoogle : [];
    expect(readBack(tools)).toEqual(without(unsaid, definitions));
  });

  test("[TOOL-113] they are made of what every provider's dialect of schema knows", () => {
    const words = new Set<string>();
    const collect = (schema: unknown): void => {
      if (typeof schema !== "object" || schema === null) return;
      for (const [key, inner] of Object.entries(schema)) {
        words.add(key);
        if (key === "properties") for (const one of Object.values(inner)) collect(one);
        if (key === "items") collect(inner);
      }
    };
    for (const { inputSchema } of definitions) collect(inputSchema);
    const known = ["type", "properties", "required", "items", "enum", "description", "minLength", ...unsaidToGoogle];
    expect([...words].filter((word) => !known.includes(word))).toEqual([]);
  });
});
