/** Which protocol a credential is spoken to in, and where. Pure functions of the credential alone. */
import type { ProviderName } from "@varve/protocol";
import type { WireDialect } from "@varve/wire";
import { isOnOwnNetwork, normalBaseUrl } from "./base-url.ts";
import type { KnownCredential } from "./model.ts";

type Addressed = Pick<KnownCredential, "provider" | "baseUrl">;

/** Where each provider is, unless a credential says otherwise. */
const homes: Readonly<Record<Exclude<ProviderName, "openai-compatible">, string>> = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  deepseek: "https://api.deepseek.com/v1",
  openrouter: "https://openrouter.ai/api/v1",
};

/** Houses with a protocol of their own that people also reach as "compatible" servers. */
const knownHosts: Readonly<Record<string, WireDialect>> = {
  "openrouter.ai": "openrouter",
  "api.deepseek.com": "deepseek",
  "api.openai.com": "openai-chat",
};

/** Null when there is no address, or none that is one. */
export function baseUrlOf({ provider, baseUrl }: Addressed): string | null {
  if (baseUrl === null) return provider === "openai-compatible" ? null : homes[provider];
  const normal = normalBaseUrl(baseUrl, provider === "google" ? "v1beta" : "v1");
  // OpenRouter's own pages name the address with and without this part of its path.
  return normal?.replace(/^(https:\/\/openrouter\.ai)\/v1$/, "$1/api/v1") ?? null;
}

export function dialectOf(credential: Addressed): WireDialect {
  if (credential.provider !== "openai-compatible") return credential.provider;
  const url = baseUrlOf(credential);
  if (url === null) return "openai-compatible";
  const { hostname } = new URL(url);
  const known = Object.hasOwn(knownHosts, hostname) ? knownHosts[hostname] : undefined;
  return known ?? (isOnOwnNetwork(url) ? "local" : "openai-compatible");
}

/** Whose prices and limits hold for its models. */
export function sellerOf(credential: Addressed): ProviderName {
  const dialect = dialectOf(credential);
  if (dialect === "local") return "openai-compatible";
  return dialect === "openai-chat" ? "openai" : dialect;
}
