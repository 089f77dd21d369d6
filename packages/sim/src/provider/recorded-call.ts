import type { IncomingHttpHeaders } from "node:http";
import type { AccountedFigures } from "../cache/cache-model.ts";
import type { JsonObject } from "../json.ts";
import type { Vendor } from "./vendor.ts";

/**
 * How a call ended: answered in full; refused by the vendor's rules; failed as the script wanted; or the caller went
 * away before the end.
 */
export type CallOutcome = "answered" | "refused" | "failed" | "caller-gone";

/** One POST to a model endpoint, also a refused one, in order of arrival. */
export interface RecordedCall {
  /** From 0. */
  readonly index: number;
  readonly vendor: Vendor;
  /** When it arrived, by the clock that the server was given; 0 without one. */
  readonly startedAtMs: number;
  readonly path: string;
  /** Lower-case names; the key is replaced by `[redacted]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** {} where the body is not a JSON object. */
  readonly body: JsonObject;
  readonly rawBody: string;
  /** How many other calls were open when this one arrived. */
  readonly openAtStart: number;
  /** The words of a refusal by the rules or of a missing reply; null otherwise. */
  readonly refusal: string | null;
  /** Thinking blocks of the request that the model did not see, because they were bound to another prefix or model. */
  readonly droppedThinking: number;
  /** Paths of those of them that were bound to another prefix; the answer reports them to the caller. */
  readonly mismatchedThinking: readonly string[];
  /** The four figures of the vendor's cache for this call and what it could have read; null before it is answered. */
  counted(): AccountedFigures | null;
  /** Whether the answer has begun: only then the request left something in the cache. */
  hasBegun(): boolean;
  readonly ended: Promise<CallOutcome>;
  /** Null while the call is open. */
  outcome(): CallOutcome | null;
}

const SECRET_HEADERS = new Set(["x-api-key", "x-goog-api-key", "authorization", "cookie"]);

export function redactHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const shown = Object.entries(headers).map(([name, value]): [string, string] => {
    const text = Array.isArray(value) ? value.join(", ") : (value ?? "");
    return [name, SECRET_HEADERS.has(name) ? "[redacted]" : text];
  });
  return Object.fromEntries(shown);
}

/** The key that came with a request, as the vendors take it; null if there is none. */
export function keyOf(headers: IncomingHttpHeaders): string | null {
  const direct = headers["x-api-key"] ?? headers["x-goog-api-key"];
  if (typeof direct === "string" && direct !== "") return direct;
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "");
  return bearer?.[1] ?? null;
}
