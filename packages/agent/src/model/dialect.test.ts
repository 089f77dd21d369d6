import type { ProviderName } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { baseUrlOf, dialectOf, sellerOf } from "./dialect.ts";

const at = (provider: ProviderName, baseUrl: string | null = null) => ({ provider, baseUrl });

describe("protocols", () => {
  test.each([
    [at("anthropic"), "anthropic", "anthropic"],
    [at("openai"), "openai", "openai"],
    [at("openai", "http://127.0.0.1:9"), "openai", "openai"],
    [at("google"), "google", "google"],
    [at("deepseek"), "deepseek", "deepseek"],
    [at("openrouter"), "openrouter", "openrouter"],
    [at("openai-compatible", "https://openrouter.ai/api/v1"), "openrouter", "openrouter"],
    [at("openai-compatible", "https://api.deepseek.com"), "deepseek", "deepseek"],
    [at("openai-compatible", "https://api.openai.com/v1"), "openai-chat", "openai"],
    [at("openai-compatible", "https://api.openai.com.evil.example/v1"), "openai-compatible", "openai-compatible"],
    [at("openai-compatible", "http://127.0.0.1:11434/v1"), "local", "openai-compatible"],
    [at("openai-compatible", "https://constructor/v1"), "local", "openai-compatible"],
    [at("openai-compatible", "https://api.groq.com/openai/v1"), "openai-compatible", "openai-compatible"],
    [at("anthropic", "http://127.0.0.1:9"), "anthropic", "anthropic"],
    [at("openai-compatible", "no address"), "openai-compatible", "openai-compatible"],
    [at("openai-compatible"), "openai-compatible", "openai-compatible"],
  ] as const)("[MODEL-21] %j is spoken to as %s and sold by %s", (credential, dialect, seller) => {
    expect([dialectOf(credential), sellerOf(credential)]).toEqual([dialect, seller]);
  });
});

describe("addresses", () => {
  test.each([
    [at("anthropic"), "https://api.anthropic.com/v1"],
    [at("openai"), "https://api.openai.com/v1"],
    [at("google"), "https://generativelanguage.googleapis.com/v1beta"],
    [at("google", "http://127.0.0.1:9"), "http://127.0.0.1:9/v1beta"],
    [at("google", "http://127.0.0.1:9/v1/"), "http://127.0.0.1:9/v1"],
    [at("deepseek"), "https://api.deepseek.com/v1"],
    [at("deepseek", "http://127.0.0.1:9"), "http://127.0.0.1:9/v1"],
    [at("openrouter"), "https://openrouter.ai/api/v1"],
    [at("openrouter", "https://openrouter.ai"), "https://openrouter.ai/api/v1"],
    [at("openrouter", "https://openrouter.ai/api/"), "https://openrouter.ai/api/v1"],
    [at("openai-compatible"), null],
    [at("openai-compatible", "ftp://x"), null],
  ] as const)("[MODEL-6] %j is at %s", (credential, url) => {
    expect(baseUrlOf(credential)).toBe(url);
  });
});
