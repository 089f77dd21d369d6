/**
 * The rim at which text from a server becomes frames and bodies. The server checks every frame against its schema before
 * it sends it, and a page speaks only to the server that served it; so a client checks the shape that its own code steps
 * on first, not every field, and needs no schema library.
 */
import { type ErrorBody, type ErrorCode, errorStatus, type Frame, type Page } from "@varve/protocol";
import type { MessageFate } from "./outbox.ts";

const frameTypes: ReadonlySet<unknown> = new Set<Frame["type"]>([
  "hello",
  "head",
  "ops",
  "ack",
  "err",
  "ping",
  "bye",
  "workspace",
]);

/** Null for what is not a frame of this version: it is ignored, as unknown fields are. */
export function decodeFrame(text: string): Frame | null {
  const value = parseJson(text);
  if (!isRecord(value) || !frameTypes.has(value.type)) return null;
  if (value.type === "ops" && !Array.isArray(value.ops)) return null;
  if (value.type === "head" && !(Array.isArray(value.rows) && Array.isArray(value.queue) && Array.isArray(value.open)))
    return null;
  if (value.type === "workspace" && !(Array.isArray(value.tabs) && Array.isArray(value.purged))) return null;
  // The type and the lists that are walked were checked; the rest is the server's word, see above.
  return value as unknown as Frame;
}

/** Null when a body is not a page. */
export function decodePage(value: unknown): Page | null {
  if (!isRecord(value) || !Array.isArray(value.chunks)) return null;
  if (typeof value.tail !== "number" || typeof value.term !== "number" || typeof value.logId !== "string") return null;
  // As above: what is stepped on was checked.
  return value as unknown as Page;
}

/** Null when a body does not say what became of a message. */
export function decodeFate(value: unknown): MessageFate | null {
  if (!isRecord(value) || typeof value.term !== "number") return null;
  if (value.state === "dropped") return { kind: "dropped" };
  const seq = typeof value.seq === "number" ? { seq: value.seq } : {};
  return typeof value.state === "string" ? { kind: "kept", term: value.term, ...seq } : null;
}

/** The part of a head's body that a comparison needs; null when it is not there. */
export function parseHeadDigest(
  value: unknown,
): { readonly logId: string; readonly term: number; readonly digest: string } | null {
  if (!isRecord(value)) return null;
  const { logId, term, digest } = value;
  if (typeof logId !== "string" || typeof term !== "number" || typeof digest !== "string") return null;
  return { logId, term, digest };
}

/** The `{error}` body of a REST answer; what cannot be read is `internal`. */
export function decodeError(value: unknown, fallback: string): ErrorBody {
  const error = isRecord(value) ? value.error : undefined;
  if (!isRecord(error)) return { code: "internal", message: fallback };
  const message = typeof error.message === "string" ? error.message : fallback;
  const hint = typeof error.hint === "string" ? { hint: error.hint } : {};
  return { code: errorCode(error.code), message, ...hint };
}

/** A code of a later server that this client does not know counts as `internal`; its message is shown all the same. */
export function errorCode(value: unknown): ErrorCode {
  // `Object.hasOwn` has just said that it is one of the keys.
  return typeof value === "string" && Object.hasOwn(errorStatus, value) ? (value as ErrorCode) : "internal";
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the caller ignores it or says so.
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
