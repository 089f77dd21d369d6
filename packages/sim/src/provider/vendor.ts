import { isObject, type JsonObject, stringOr } from "../json.ts";

/** Whose manners a request wants: each has its own address, rules, words and bill. */
export type Vendor = "anthropic" | "openai" | "openai-responses" | "google" | "deepseek" | "openrouter";

export interface Route {
  readonly vendor: Vendor;
  /** The model, where the address names it. */
  readonly model: string | null;
  /** Whether the answer is streamed, where the address says it. */
  readonly stream: boolean | null;
}

const PATHS: Readonly<Record<string, Vendor>> = {
  "/v1/messages": "anthropic",
  "/v1/chat/completions": "openai",
  "/chat/completions": "deepseek",
  "/v1/responses": "openai-responses",
  "/api/v1/chat/completions": "openrouter",
};
const GOOGLE = /^\/v1beta\/models\/([^/:]+(?:\/[^/:]+)?):(streamGenerateContent|generateContent)$/;

/** The model endpoint that a POST to this path asks for, or null. */
export function routeOf(path: string): Route | null {
  const vendor = PATHS[path];
  if (vendor !== undefined) return { vendor, model: null, stream: null };
  const found = GOOGLE.exec(path);
  if (found === null) return null;
  return { vendor: "google", model: decodeURIComponent(found[1] ?? ""), stream: found[2] === "streamGenerateContent" };
}

/** Chat Completions are spoken by several houses: DeepSeek's models keep their manners behind any address. */
export function vendorFor(route: Route, body: JsonObject): Vendor {
  const isDeepseek = route.vendor === "openai" && stringOr(body.model, "").startsWith("deepseek-");
  return isDeepseek ? "deepseek" : route.vendor;
}

export function modelOf(route: Route, body: JsonObject): string {
  return route.model ?? stringOr(body.model, "");
}

export function isStreamed(route: Route, body: JsonObject): boolean {
  return route.stream ?? body.stream === true;
}

/** Whether the request asks for a warm cache and no answer. */
export function isWarmUp(vendor: Vendor, body: JsonObject): boolean {
  return vendor === "anthropic" && body.max_tokens === 0;
}

/** Whether a streamed answer shall tell its usage. Only Chat Completions must be asked for it. */
export function wantsUsage(vendor: Vendor, body: JsonObject): boolean {
  if (vendor !== "openai" && vendor !== "deepseek") return true;
  return isObject(body.stream_options) && body.stream_options.include_usage === true;
}
