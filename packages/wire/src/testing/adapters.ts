/** Every profile with the real adapter that speaks it, and its body as one beginning and a list that only grows. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createDeepSeek } from "@ai-sdk/deepseek";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { chooseProfile, type WireDialect } from "../choose-profile.ts";
import { type WireTarget, wireTarget } from "../profile.ts";
import type { ModelMaker } from "./send.ts";

export interface Adapter {
  readonly name: string;
  readonly target: WireTarget;
  readonly model: ModelMaker;
}

const access = { apiKey: "key", baseURL: "http://127.0.0.1:9/v1" };

const makers: Readonly<Record<WireDialect, (modelId: string) => ModelMaker>> = {
  anthropic: (id) => (fetch) => createAnthropic({ ...access, fetch })(id),
  openai: (id) => (fetch) => createOpenAI({ ...access, fetch }).responses(id),
  "openai-chat": (id) => (fetch) => createOpenAI({ ...access, fetch }).chat(id),
  google: (id) => (fetch) => createGoogleGenerativeAI({ ...access, fetch })(id),
  deepseek: (id) => (fetch) => createDeepSeek({ ...access, fetch })(id),
  openrouter: (id) => (fetch) => createOpenRouter({ ...access, fetch }).chat(id),
  "openai-compatible": (id) => (fetch) => createOpenAICompatible({ ...access, name: "openai-compatible", fetch })(id),
  local: (id) => (fetch) => createOpenAICompatible({ ...access, name: "openai-compatible", fetch })(id),
};

export function adapter(dialect: WireDialect, modelId: string, name: string = dialect): Adapter {
  const target = wireTarget(chooseProfile(dialect, modelId), modelId);
  return { name, target, model: makers[dialect](modelId) };
}

/** The nine profiles, each with a model of today. */
export const adapters: readonly Adapter[] = [
  adapter("anthropic", "claude-opus-5-5"),
  adapter("openai", "gpt-5.6-sol", "openai-responses"),
  adapter("openai-chat", "gpt-5.6-sol"),
  adapter("google", "gemini-3.5-flash"),
  adapter("deepseek", "deepseek-v4-pro"),
  adapter("openrouter", "anthropic/claude-opus-5.5"),
  adapter("openai-compatible", "mistral-large-latest", "mistral"),
  adapter("openai-compatible", "qwen3:32b"),
  adapter("local", "qwen3.5:35b"),
];

/** Forms of a profile for models of another age. */
export const olderAdapters: readonly Adapter[] = [
  adapter("anthropic", "claude-haiku-4-5", "anthropic (budget)"),
  adapter("openai", "gpt-4.1", "openai-responses (plain)"),
  adapter("openai", "o4-mini", "openai-responses (quiet)"),
  adapter("openai-chat", "gpt-4o", "openai-chat (plain)"),
  adapter("google", "gemini-2.5-pro", "google (legacy)"),
  adapter("deepseek", "deepseek-reasoner", "deepseek (legacy)"),
  adapter("deepseek", "deepseek-flash", "deepseek (vision)"),
  adapter("openai-compatible", "deepseek-v4-flash", "deepseek (compatible)"),
];

export interface SplitBody {
  /** Everything but the list: must be the same in every request of a segment. */
  readonly head: string;
  /** What grows: blocks of Anthropic's messages, else messages, items or contents as they stand. */
  readonly items: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Breakpoints that move are Anthropic's alone, so only there they are left out of the comparison. */
export function splitBody(text: string, profile: string): SplitBody {
  // The text was made by JSON.stringify of a provider's body, which is an object.
  const body = JSON.parse(text) as Fields;
  const key = ["contents", "input", "messages"].find((one) => Array.isArray(body[one])) ?? "messages";
  const { [key]: list, ...rest } = body;
  const items: readonly Fields[] = Array.isArray(list) ? list : [];
  if (profile !== "anthropic") {
    return { head: JSON.stringify(rest), items: items.map((item) => JSON.stringify(item)) };
  }
  const blocks = items.flatMap(({ role, content }) =>
    Array.isArray(content) ? content.map((block: unknown) => `${String(role)} ${withoutMarks(block)}`) : [],
  );
  return { head: withoutMarks(rest), items: blocks };
}

const withoutMarks = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner));

export const extendsBody = (longer: SplitBody, shorter: SplitBody): boolean =>
  longer.head === shorter.head &&
  shorter.items.length <= longer.items.length &&
  shorter.items.every((item, index) => item === longer.items[index]);
