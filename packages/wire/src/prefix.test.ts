import type { Effort } from "@varve/protocol";
import { prefixDataSchema } from "@varve/protocol/schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseProfile } from "./choose-profile.ts";
import { foldVersion } from "./fold.ts";
import { isIntactPrefix, makePrefixData, prefixHash } from "./prefix.ts";
import { wireTarget } from "./profile.ts";
import { anthropic } from "./profiles/anthropic.ts";
import { deepseek } from "./profiles/deepseek.ts";
import { openaiCompatible } from "./profiles/openai-compatible.ts";
import { cacheLifetimes, requestOptions, scopeHashOf } from "./request-options.ts";
import { testTools } from "./testing/rows.ts";

const make = (source: Partial<Parameters<typeof makePrefixData>[0]> = {}) =>
  makePrefixData({ system: ["SYS"], tools: testTools, ...source });
const efforts: readonly Effort[] = ["default", "low", "medium", "high"];
const opus = wireTarget(anthropic, "claude-opus-4-8");

describe("the frozen prefix", () => {
  test("[WIRE-23] tools stand by ascending name in UTF-16 order, whatever order they came in", () => {
    const tool = (name: string) => ({ name, description: name, inputSchema: { type: "object" } });
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/), { maxLength: 12 }), (names) => {
        const sorted = make({ tools: names.map(tool) });
        expect(sorted.tools.map(({ name }) => name)).toEqual([...names].sort());
        expect(make({ tools: names.toReversed().map(tool) })).toEqual(sorted);
      }),
      { seed: 2, numRuns: 100 },
    );
  });

  test("[WIRE-23] it is what the log's schema takes, with the version of the fold", () => {
    const data = make({ instructions: [{ path: "/a/AGENTS.md", bytes: 3, clipped: false }] });
    expect(prefixDataSchema.parse(structuredClone(data))).toEqual(data);
    expect(data.foldVersion).toBe(foldVersion);
  });

  test("[WIRE-23] the hash names system, tools and constants, and sees through the order of keys", () => {
    const base = make();
    expect(isIntactPrefix(base)).toBe(true);
    expect(prefixHash(structuredClone(base))).toBe(base.hash);
    expect(isIntactPrefix({ ...base, system: ["SYS!"] })).toBe(false);
    const changed = [
      make({ system: ["SYS", "more"] }),
      make({ tools: testTools.slice(1) }),
      make({ tools: testTools.map((tool) => ({ ...tool, description: "other" })) }),
      make({ cacheTtl: "1h" }),
      make({ constants: { anthropic: {} } }),
    ];
    expect(new Set([base, ...changed].map(({ hash }) => hash)).size).toBe(changed.length + 1);
    const turned = testTools.map(({ inputSchema, description, name }) => ({ inputSchema, description, name }));
    expect(make({ tools: turned }).hash).toBe(base.hash);
  });

  test("[WIRE-23] instruction files are listed for the page and change nothing on the wire", () => {
    expect(make({ instructions: [{ path: "/x", bytes: 1, clipped: true }] }).hash).toBe(make().hash);
  });

  test("[WIRE-23] it survives JSON text, as the log keeps it, to the letter", () => {
    const text = JSON.stringify(make({ system: ["half \ud83d", " "] }));
    expect(text.isWellFormed()).toBe(true);
    expect(JSON.stringify(JSON.parse(text))).toBe(text);
    expect(text).toContain('"system":["half \ufffd"]');
  });

  test.each([
    ["no system text", { system: [" "] }],
    ["two tools of one name", { tools: [...testTools, ...testTools] }],
    ["an illegal tool name", { tools: [{ name: "a.b", description: "", inputSchema: {} }] }],
  ])("[WIRE-23] our own mistake is an assertion: %s", (_, source) => {
    expect(() => make(source)).toThrow(/block with text|are named|not legal/);
  });

  test("[WIRE-23] the bytes of the released constants are pinned", () => {
    const { system, tools, constants } = make({ system: ["x"], tools: [] });
    // What a new log freezes for these two; open logs keep what they froze, and are told that it is another.
    const { anthropic, "openai-compatible": compatible } = constants;
    expect(
      prefixHash({ system, tools, constants: { anthropic: anthropic ?? {}, "openai-compatible": compatible ?? {} } }),
    ).toBe("50dcfa9a428286d5eb2004cb93b0a1d853d326f5b4a6e55cd3cd3b6a71d89d3a");
    const { local, ...beforeLocal } = constants;
    expect(prefixHash({ system, tools, constants: beforeLocal })).toMatchInlineSnapshot(
      `"1cd86f62a97e5e319ef031a682c5c7421ae099dd114eba8f70e50b1883a3ea8d"`,
    );
    expect(prefixHash({ system, tools, constants: { ...beforeLocal, local: local ?? {} } })).toMatchInlineSnapshot(
      `"cffd576ae2b1fa1ced2078a0b883058a126ecf175f1dc7b93ca7ed2c2f5a58b2"`,
    );
  });
});

describe("request options", () => {
  test("[WIRE-24] they come from the prefix alone: a stored copy gives the same bytes", () => {
    for (const effort of efforts) {
      const stored = prefixDataSchema.parse(JSON.parse(JSON.stringify(make())));
      expect(JSON.stringify(requestOptions(stored, opus, effort))).toBe(
        JSON.stringify(requestOptions(make(), opus, effort)),
      );
    }
  });

  test("[WIRE-24] Anthropic: a constant superset of betas, the eager flag per tool, thinking by model and effort", () => {
    expect(requestOptions(make({ tools: testTools.slice(0, 1) }), opus, "high")).toEqual({
      tools: [
        {
          type: "function",
          ...testTools[0],
          providerOptions: { anthropic: { eagerInputStreaming: true } },
        },
      ],
      toolChoice: { type: "auto" },
      maxOutputTokens: 32_000,
      providerOptions: {
        anthropic: {
          anthropicBeta: ["pdfs-2024-09-25"],
          thinking: { type: "adaptive", display: "summarized" },
          effort: "high",
        },
      },
    });
  });

  test("[WIRE-24] Chat: nothing that a small server could refuse, and an effort only when one was chosen", () => {
    const target = wireTarget(openaiCompatible, "llama");
    expect(requestOptions(make({ tools: [] }), target, "default")).toEqual({
      providerOptions: { openaiCompatible: {} },
    });
    const options = requestOptions(make(), wireTarget(deepseek, "deepseek-v4"), "low");
    expect(options.providerOptions).toEqual({ openaiCompatible: { reasoningEffort: "low" } });
    expect(options.maxOutputTokens).toBeUndefined();
    expect(JSON.stringify(options.tools)).not.toContain("providerOptions");
  });

  test("[WIRE-24] the longest name decides, and an unknown model gets the plain family", () => {
    const thinking = (model: string) =>
      requestOptions(make(), wireTarget(anthropic, model), "default").providerOptions?.anthropic?.thinking;
    expect(thinking("claude-opus-5-5-20261001")).toMatchObject({
      blockBinding: { prefixMismatchBehavior: "drop_block" },
    });
    for (const model of ["claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-2-20261101"]) {
      expect(thinking(model)).toMatchObject({ blockBinding: { prefixMismatchBehavior: "drop_block" } });
    }
    expect(thinking("claude-fable-5-20260601")).toEqual(thinking("claude-fable-5"));
    expect(thinking("claude-opus-5")).toEqual({ type: "adaptive", display: "summarized" });
    expect(thinking("claude-haiku-4-5")).toBeUndefined();
    expect(thinking("house-model")).toBeUndefined();
  });

  test.each([
    ["gpt-5.6-sol", ["low", "medium", "high"]],
    ["gpt-5-pro", [undefined, undefined, "high"]],
    ["gpt-5.2-pro", ["medium", "medium", "high"]],
    ["gpt-5.5-pro-2026-04-23", ["medium", "medium", "high"]],
    ["o3-pro", ["low", "medium", "high"]],
    ["gpt-5.2-chat-latest", [undefined, undefined, undefined]],
    ["gpt-4.1", [undefined, undefined, undefined]],
    ["house-model", [undefined, undefined, undefined]],
  ] as const)("[WIRE-24] %s is asked for no effort that it refuses", (model, expected) => {
    const target = wireTarget(chooseProfile("openai", model), model);
    const asked = (["low", "medium", "high"] as const).map(
      (effort) => requestOptions(make(), target, effort).providerOptions?.openai?.reasoningEffort,
    );
    expect(asked).toEqual(expected);
  });

  test("[WIRE-24] what is said of tools is left out where there are none, for it would be refused", () => {
    const target = wireTarget(chooseProfile("openai", "gpt-5.6-sol"), "gpt-5.6-sol");
    const [full, bare] = [make({ tools: testTools }), make({ tools: [] })].map((one) =>
      requestOptions(one, target, "default"),
    );
    expect(full?.providerOptions?.openai?.parallelToolCalls).toBe(true);
    expect(full?.tools?.map((tool) => tool.type === "function" && tool.strict)).toEqual([false, false]);
    expect(bare?.providerOptions?.openai?.parallelToolCalls).toBeUndefined();
    expect([bare?.tools, bare?.toolChoice]).toEqual([undefined, undefined]);
  });

  test("[WIRE-24] a prefix of another time still gives a request", () => {
    for (const constants of [
      {},
      { models: "?" },
      { models: [[1], ["", "gone"]] },
      { families: 3, models: [["", "x"]] },
    ]) {
      const prefix = make({ constants: { anthropic: constants } });
      expect(requestOptions(prefix, opus, "high").providerOptions).toEqual({ anthropic: {} });
      expect(cacheLifetimes(prefix, opus)).toEqual({ ttl: "5m", systemTtl: "5m" });
    }
    const { constants: _, ...rest } = make();
    expect(requestOptions({ ...rest, constants: {} }, opus, "high").providerOptions).toEqual({ anthropic: {} });
  });

  test("[WIRE-24] lifetimes of cache entries are frozen with the rest", () => {
    expect(cacheLifetimes(make(), opus)).toEqual({ ttl: "5m", systemTtl: "5m" });
    expect(cacheLifetimes(make({ cacheTtl: "1h" }), opus)).toEqual({ ttl: "1h", systemTtl: "1h" });
  });

  test("[WIRE-68] a lifetime chosen later wins, for the system prompt as well", () => {
    expect(cacheLifetimes(make(), opus, "1h")).toEqual({ ttl: "1h", systemTtl: "1h" });
    expect(cacheLifetimes(make({ cacheTtl: "1h" }), opus, "5m")).toEqual({ ttl: "5m", systemTtl: "5m" });
  });

  test("[WIRE-22] the scope of a cache: model, effort and tools make another, the same ones the same", () => {
    const scope = (effort: Effort, target = opus, prefix = make()) =>
      scopeHashOf(requestOptions(prefix, target, effort), target);
    const scopes = [
      scope("default"),
      scope("high"),
      scope("default", wireTarget(anthropic, "claude-opus-4-7")),
      scope("default", opus, make({ tools: testTools.slice(1) })),
    ];
    expect(new Set(scopes).size).toBe(4);
    expect(scope("default")).toBe(scopes[0]);
    expect(scopes[0]).toMatch(/^[0-9a-f]{32}$/);
  });
});
