import type { Credential, NewCredential } from "@varve/protocol";

export type Provider = NewCredential["provider"];

export const providerName: Readonly<Record<Provider, string>> = {
  anthropic: "Anthropic",
  "openai-compatible": "OpenAI-compatible server",
  openai: "OpenAI",
  google: "Google",
  deepseek: "DeepSeek",
  openrouter: "OpenRouter",
};

export const providers: readonly Provider[] = [
  "anthropic",
  "openai",
  "google",
  "deepseek",
  "openrouter",
  "openai-compatible",
];

const LOCAL_NAMES: Readonly<Record<string, string>> = {
  ollama: "Ollama",
  "lm-studio": "LM Studio",
  lmstudio: "LM Studio",
  "llama.cpp": "llama.cpp",
  llamacpp: "llama.cpp",
};
export const localServerName = (kind: string): string => LOCAL_NAMES[kind] ?? kind;

export function sourceText(credential: Credential): string {
  if (credential.source === "environment") return "from the environment";
  return credential.source === "local-server" ? "local server" : "added here";
}
