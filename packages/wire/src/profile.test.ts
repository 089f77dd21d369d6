import { Buffer } from "node:buffer";
import { isFault, parseBlobHash } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { neededBlobs } from "./blobs.ts";
import { chooseProfile } from "./choose-profile.ts";
import { canonicalJson, sha256 } from "./digest.ts";
import { chunksToModelMessages } from "./fold.ts";
import { modelScopeOf, tokenIn, wireTarget } from "./profile.ts";
import { toAnthropic } from "./testing/folded.ts";
import { blobHash, C, logOf, P, RI, U, UA, X } from "./testing/rows.ts";
import { show } from "./testing/show.ts";

describe("profiles", () => {
  test.each([
    ["anthropic", "claude-opus-5-5", "anthropic"],
    ["anthropic", "mistral-large", "anthropic"],
    ["openai-compatible", "llama3.3:70b", "openai-compatible"],
    ["openai-compatible", "gpt-5.6", "openai-compatible"],
    ["openai-compatible", "mistral-large-latest", "mistral"],
    ["openai-compatible", "mistralai/Devstral-Small", "mistral"],
    ["openai-compatible", "google/gemma-3-27b", "mistral"],
    ["openai-compatible", "open-mixtral-8x22b", "mistral"],
    ["openai-compatible", "deepseek-v4-pro", "deepseek"],
    ["openai-compatible", "deepseek/deepseek-v4", "deepseek"],
    ["openai-compatible", "deepseek-r1:14b", "openai-compatible"],
    ["openai-compatible", "deepseek-chat", "openai-compatible"],
    ["openai-compatible", "", "openai-compatible"],
    ["local", "qwen3.5:35b", "local"],
    ["local", "", "local"],
    ["local", "gemma3:27b", "mistral"],
    ["local", "mistralai/Devstral-Small", "mistral"],
    ["local", "deepseek-v4-flash", "deepseek"],
    ["openai", "gpt-5.6-sol", "openai-responses"],
    ["openai", "mistral-large", "openai-responses"],
    ["openai-chat", "gpt-5.4", "openai-chat"],
    ["google", "gemini-3.5-flash", "google"],
    ["google", "gemini-2.5-pro", "google"],
    ["deepseek", "deepseek-v4-pro", "deepseek"],
    ["deepseek", "deepseek-chat", "deepseek"],
    ["openrouter", "deepseek/deepseek-v4", "openrouter"],
  ] as const)("[WIRE-29] %s and %j are spoken to as %s", (dialect, model, name) => {
    expect(chooseProfile(dialect, model).name).toBe(name);
    expect(modelScopeOf(chooseProfile(dialect, model), model)).toBe(`${name}:${model}`);
  });

  test.each([
    ["gpt-4o", "none"],
    ["gpt-5", "none"],
    ["gpt-5-mini", "none"],
    ["gpt-5.5-pro", "none"],
    ["gpt-5.6-sol", "system"],
    ["gpt-6-luna", "system"],
    ["gpt-6.2-astra", "system"],
    ["gpt-daybreak-blue-latest", "system"],
    ["o3", "none"],
    ["chat-latest", "none"],
    ["ft:gpt-5.6-sol:me", "none"],
  ] as const)("[WIRE-62] %s: breakpoints %s", (model, breakpoints) => {
    for (const dialect of ["openai", "openai-chat"] as const) {
      const profile = chooseProfile(dialect, model);
      expect([profile.breakpoints, profile.systemMark !== null]).toEqual([breakpoints, breakpoints === "system"]);
    }
  });

  test.each([
    ["gemini-3-pro-preview", "in-result"],
    ["gemini-4-argon", "in-result"],
    ["gemini-flash-latest", "in-result"],
    ["gemini-2.5-flash", "behind"],
    ["gemini-2.0-flash", "behind"],
    ["gemini-1.5-pro", "behind"],
    ["gemma-4-31b-it", "behind"],
    ["nano-banana-pro-preview", "behind"],
  ] as const)("[WIRE-64] %s: pictures %s, signatures demanded only where they stand inside", (model, where) => {
    const profile = chooseProfile("google", model);
    expect([profile.resultImages, profile.unsignedCall !== null]).toEqual([where, where === "in-result"]);
  });

  test("[WIRE-16] the scope of thinking names profile and model", () => {
    expect(wireTarget(chooseProfile("anthropic", "claude-x"), "claude-x").modelScope).toBe("anthropic:claude-x");
  });

  test("[WIRE-61] what one OpenAI account encrypted is not handed to another; signatures are the model's", () => {
    const scope = (dialect: "openai" | "anthropic", account: string | null) =>
      wireTarget(chooseProfile(dialect, "m"), "m", account).modelScope;
    expect([scope("openai", null), scope("openai", "work")]).toEqual(["openai-responses:m", "openai-responses:m@work"]);
    expect(scope("anthropic", "work")).toBe("anthropic:m");
  });

  test.each([
    [undefined, null],
    [{}, null],
    [{ anthropic: { signature: "s" } }, "s"],
    [{ signature: "flat" }, "flat"],
    [{ anthropic: { signature: "s" }, signature: "flat" }, "s"],
    [{ anthropic: { signature: "" } }, null],
    [{ anthropic: { signature: 7 } }, null],
    [{ anthropic: null, signature: "flat" }, "flat"],
    [{ anthropic: ["signature"] }, null],
  ])("[WIRE-8] the token in %j is %j", (metadata, token) => {
    expect(tokenIn(metadata, "anthropic", "signature")).toBe(token);
  });
});

describe("blobs", () => {
  const png = (digit: string) => ({ blob: blobHash(digit), mediaType: "image/png", name: `${digit}.png` });

  test("[WIRE-21] what a fold will look up, each once, without what a summary replaced", () => {
    const rows = [P(), UA("a", [png("a"), png("b")]), UA("b", [png("b")]), C("c"), RI("c", "x", [png("c")])];
    const hashes = (...digits: readonly string[]) => digits.map(blobHash);
    expect(neededBlobs(logOf(...rows))).toEqual(hashes("a", "b", "c"));
    expect(neededBlobs(logOf(...rows, X("SUM", 4)))).toEqual(hashes("c"));
    expect(neededBlobs(logOf(...rows, X("SUM", 4, [3])))).toEqual(hashes("b", "c"));
    expect(neededBlobs(logOf(P(), U("a")))).toEqual([]);
  });

  test("[WIRE-21] a text file goes as framed text, its name unable to break the frame", () => {
    const base64 = Buffer.from("line\n").toString("base64");
    const rows = logOf(P(), UA("see", [{ blob: blobHash("a"), mediaType: "text/x-diff", name: 'a"b' }]));
    const result = chunksToModelMessages(rows, toAnthropic, {
      blobs: (hash) => (hash === parseBlobHash(blobHash("a")) ? { base64 } : undefined),
    });
    expect(!isFault(result) && show(result.messages)).toBe(
      'U["see" "<attachment name=\\"a\'b\\">\\nline\\n\\n</attachment>"]',
    );
  });
});

describe("digests", () => {
  test("[WIRE-27] a known hash, over UTF-8", () => {
    expect(sha256("ä")).toBe("33e6d73fee82904c8d7afb78de1154d1e8dc2a0edb08120e63df5b9385c2d9cc");
  });

  test.each([
    [{ b: 1, a: [{ d: null, c: "x" }] }, '{"a":[{"c":"x","d":null}],"b":1}'],
    [{ a: undefined, 10: 1, 2: 2 }, '{"10":1,"2":2}'],
    ["text", '"text"'],
    [[], "[]"],
  ])("[WIRE-23] the canonical text of %j", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });
});
