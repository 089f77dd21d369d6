/**
 * What a provider package throws or streams as an error, made into a failure with a code, a sentence without secrets, and
 * whether the same request may be sent again. Pure.
 */
import { APICallError } from "@ai-sdk/provider";
import type { ModelFailure } from "./model.ts";

/** Characters of a provider's own words in a message. */
const messageCharsMax = 600;

/** Each house has words of its own for a request that is too large; what they share is what the model can't hold. */
const overflow = new RegExp(
  [
    "context[ _-]?(length|window)",
    "maximum context",
    "maximum prompt length",
    "prompt (is too long|exceeds max length)",
    "too many (input )?tokens",
    "exceed(s|ed)? .{0,40}(context|token)",
    "token count of \\d+ exceeds",
    "reduce the length of the messages",
    "input is too long",
  ].join("|"),
  "i",
);
const exhausted = /insufficient_quota|insufficient (balance|credits)|credit balance|billing|payment required/i;
/** Google speaks of billing at every limit; where it says when to come again, the account is not empty. */
const comesBack = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/;
const wrongKey = /api[ _]key[ _](not valid|invalid)/i;
const busy =
  /overloaded|rate.?limit|too many requests|capacity|temporarily|unavailable|try again|timeout|timed out|internal|server_error|api_error/i;

type Redact = (text: string) => string;

export function failureOf(error: unknown, redact: Redact): ModelFailure {
  if (APICallError.isInstance(error)) return ofCall(error, redact);
  if (isStreamError(error)) return ofStreamError(error, redact);
  return ofNetwork(error, redact);
}

export const cutFailure: ModelFailure = {
  code: "provider-cut",
  message: "The answer broke off before its end.",
  retry: { afterMs: null },
};

export const silentFailure = (idleMs: number): ModelFailure => ({
  code: "provider-silent",
  message: `The provider sent nothing for ${Math.round(idleMs / 1000)} s.`,
  retry: { afterMs: null },
});

function ofCall(error: APICallError, redact: Redact): ModelFailure {
  const status = error.statusCode;
  if (status === undefined) return ofNetwork(error.cause ?? error, redact);
  const told = clip(redact(words(error)));
  // A broken answer with a good status is a cut one, whatever the package calls it.
  if (status < 400) return { ...cutFailure, statusCode: status };
  const base = { statusCode: status, message: `The provider answered HTTP ${status}: ${told}` };
  const whole = `${error.message} ${error.responseBody ?? ""}`;
  const delay = comesBack.exec(error.responseBody ?? "")?.[1];
  if (
    exhausted.test(whole) &&
    delay === undefined &&
    (status === 429 || status === 402 || status === 400 || status === 403)
  ) {
    return {
      ...base,
      code: "credential-refused",
      retry: null,
      hint: "The account behind this key has no credit left.",
    };
  }
  // Gateways hand the refusal of the house behind them on as trouble of their own; the same request would fail again.
  if (isRetried(status) && !(status === 500 && overflow.test(whole))) {
    const code = status === 429 || status === 503 || status === 529 ? "provider-overloaded" : "provider-unreachable";
    const bodyMs = delay === undefined ? null : Math.ceil(Number.parseFloat(delay) * 1000);
    return { ...base, code, retry: { afterMs: retryAfterMs(error.responseHeaders) ?? bodyMs } };
  }
  if (status === 401 || status === 403 || (status === 400 && wrongKey.test(whole))) {
    return { ...base, code: "credential-refused", retry: null, hint: "Check the key in the settings." };
  }
  if (status === 413 || overflow.test(whole)) {
    const hint = "Everything is kept. Start a new tab, or go on with a model that has a larger context.";
    return { ...base, code: "context-overflow", retry: null, hint };
  }
  if (status === 404)
    return { ...base, code: "unknown-model", retry: null, hint: "Check the model's name and the address." };
  return { ...base, code: "provider-refused", retry: null };
}

const isRetried = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500;

/** Error events inside an answer that began well: `{type?, code?, message}`, or a bare sentence. */
interface StreamError {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly message: string;
}

function isStreamError(error: unknown): error is StreamError {
  if (typeof error !== "object" || error === null || error instanceof Error) return false;
  return "message" in error && typeof error.message === "string";
}

function ofStreamError(error: StreamError, redact: Redact): ModelFailure {
  const kind = [error.type, error.code]
    .filter((part) => typeof part === "string" || typeof part === "number")
    .join(" ");
  const message = `The provider broke off: ${clip(redact(error.message))}${kind === "" ? "" : ` (${redact(kind)})`}`;
  const whole = `${kind} ${error.message}`;
  if (exhausted.test(whole)) return { code: "credential-refused", message, retry: null };
  if (overflow.test(whole)) return { code: "context-overflow", message, retry: null };
  if (/invalid_request|authentication|permission|not_found|invalid_api_key/i.test(kind)) {
    return { code: "provider-refused", message, retry: null };
  }
  if (busy.test(whole)) return { code: "provider-overloaded", message, retry: { afterMs: null } };
  return { code: "provider-cut", message, retry: { afterMs: null } };
}

function ofNetwork(error: unknown, redact: Redact): ModelFailure {
  if (typeof error === "string") return ofStreamError({ message: error }, redact);
  const name = error instanceof Error ? error.name : "";
  if (name === "AI_LoadAPIKeyError") {
    return { code: "credential-refused", message: "There is no key for this provider.", retry: null };
  }
  // What a package could not read of a stream that had begun: the answer is not whole.
  if (/Parse|Validation|InvalidResponse|EmptyResponse/.test(name)) return cutFailure;
  if (/Unsupported|InvalidPrompt|InvalidArgument/.test(name)) {
    const message = `The request could not be made: ${clip(redact(innermost(error)))}`;
    return { code: "provider-refused", message, retry: null };
  }
  const message = `The provider could not be reached: ${clip(redact(innermost(error)))}`;
  return { code: "provider-unreachable", message, retry: { afterMs: null } };
}

/** The vendor's own sentence where the answer holds one. */
function words(error: APICallError): string {
  try {
    const body: unknown = JSON.parse(error.responseBody ?? "");
    const inner = field(body, "error") ?? body;
    const message = typeof inner === "string" ? inner : field(inner, "message");
    if (typeof message === "string" && message !== "") return message;
  } catch {
    // The body is no JSON: the package's own message says what there is to say.
  }
  return error.message;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

/** The deepest cause names the network's fault ("connect ECONNREFUSED ..."); the outer ones say "fetch failed". */
function innermost(error: unknown): string {
  let at = error;
  for (let depth = 0; depth < 5; depth++) {
    const cause = field(at, "cause");
    if (cause === undefined || cause === null) break;
    at = cause;
  }
  const message = at instanceof Error ? at.message : String(at);
  const code = field(at, "code");
  return message === "" && typeof code === "string" ? code : message;
}

/** `retry-after-ms`, or `retry-after` in seconds. A date is ignored: clocks differ. */
export function retryAfterMs(headers: Readonly<Record<string, string>> | undefined): number | null {
  const exact = Number.parseFloat(headers?.["retry-after-ms"] ?? "");
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact);
  const seconds = headers?.["retry-after"] ?? "";
  return /^\d+(\.\d+)?$/.test(seconds.trim()) ? Math.ceil(Number.parseFloat(seconds) * 1000) : null;
}

const clip = (text: string): string => (text.length > messageCharsMax ? `${text.slice(0, messageCharsMax)}…` : text);
