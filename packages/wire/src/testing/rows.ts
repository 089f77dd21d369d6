/** A short notation for logs: `logOf(P(), U("a"), K("s1"), C("c1"), R("c1", "ok"))`. Rows get seq 1, 2, 3 in order. */
import {
  type Effort,
  type JsonObject,
  type PrefixData,
  parseBlobHash,
  parseChunkId,
  type StoredRow,
  type SystemData,
} from "@varve/protocol";
import { newRowSchema } from "@varve/protocol/schema";
import { parseArguments } from "../call-arguments.ts";
import { makePrefixData, type PrefixSource } from "../prefix.ts";

export interface Place {
  readonly turn?: string;
  readonly step?: number;
}
/** A row without its seq; `type`, `role` and `data` as in the log. */
export interface Draft {
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly type: StoredRow["type"];
  readonly data: object;
  readonly place: Place;
}

export const scopeA = "anthropic:model-a";
export const scopeB = "anthropic:model-b";
export const testTools = [
  {
    name: "read",
    description: "Read a file.",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
  },
  { name: "bash", description: "Run a command.", inputSchema: { type: "object", properties: {} } },
] as const;

const draft = (role: Draft["role"], type: Draft["type"], data: object, place: Place = {}): Draft => ({
  role,
  type,
  data,
  place,
});

const prefixes = new Map<string, PrefixData>();
export const P = (source: Partial<PrefixSource> = {}): Draft => {
  const key = JSON.stringify(source);
  const data = prefixes.get(key) ?? makePrefixData({ system: ["SYS"], tools: [], ...source });
  prefixes.set(key, data);
  return draft("system", "system", data, { turn: "" });
};
export const U = (text: string, place?: Place): Draft => draft("user", "text", { text }, place);
export const UA = (text: string, attachments: readonly JsonObject[], place?: Place): Draft =>
  draft("user", "text", { text, attachments }, place);
export const T = (text: string, place?: Place): Draft => draft("assistant", "text", { text }, place);
export const TP = (text: string, place?: Place): Draft => draft("assistant", "text", { text, partial: true }, place);
/** Signed thinking, its text empty as newer models give it. */
export const K = (signature: string, place?: Place & { readonly scope?: string; readonly text?: string }): Draft =>
  draft(
    "assistant",
    "thinking",
    { text: place?.text ?? "", metadata: { anthropic: { signature } }, modelScope: place?.scope ?? scopeA },
    place,
  );
/** Thinking without any token. */
export const KN = (text: string, place?: Place & { readonly scope?: string }): Draft =>
  draft("assistant", "thinking", { text, modelScope: place?.scope ?? scopeA }, place);
export const KR = (redactedData: string, place?: Place): Draft =>
  draft("assistant", "thinking", { text: "", metadata: { anthropic: { redactedData } }, modelScope: scopeA }, place);
export const C = (callId: string, argsText = "{}", place?: Place & { readonly name?: string }): Draft => {
  const name = place?.name ?? "bash";
  return draft("assistant", "tool_call", { callId, name, arguments: parseArguments(argsText).value, argsText }, place);
};
export const R = (callId: string, result = "ok", place?: Place): Draft =>
  draft("tool", "tool_result", { callId, name: "bash", result, isError: false }, place);
export const RE = (callId: string, result: string, place?: Place): Draft =>
  draft("tool", "tool_result", { callId, name: "bash", result, isError: true }, place);
export const RI = (callId: string, result: string, images: readonly JsonObject[], place?: Place): Draft =>
  draft("tool", "tool_result", { callId, name: "read", result, isError: false, images }, place);
export const E = (place?: Place): Draft => draft("assistant", "error", { message: "HTTP 529", statusCode: 529 }, place);
export const N = (text: string, place?: Place): Draft => system({ kind: "note", topic: "test", text }, place);
export const Q = (scopeHash: string, place?: Place & { readonly model?: string; readonly tailHash?: string }): Draft =>
  system({ kind: "request", model: place?.model ?? "m", scopeHash, tailHash: place?.tailHash ?? "h" }, place);
export const X = (summary: string, keepFrom: number, keptUserSeqs: readonly number[] = []): Draft =>
  system({ kind: "compaction", summary, keepFrom, keptUserSeqs: [...keptUserSeqs] }, { turn: "" });
export const XU = (compactionSeq: number): Draft => system({ kind: "compaction-undo", compactionSeq }, { turn: "" });
export const M = (model: string, effort: Effort = "default"): Draft =>
  system({ kind: "model-changed", model, effort }, { turn: "" });

/** Names the step that it voids; the row itself stands in that step. */
export const V = (turn: string, step: number): Draft =>
  draft("system", "system", { kind: "step-void", turnId: turn, step, reason: "cut" }, { turn, step });

function system(data: SystemData, place?: Place): Draft {
  return draft("system", "system", data, place);
}

export function logOf(...drafts: readonly Draft[]): readonly StoredRow[] {
  return drafts.map((one, index) => rowOf(one, index + 1));
}

/** Prefixes are large and always the same few: each is decoded once. */
const decoded = new WeakMap<object, StoredRow>();

/** Decodes as a writer's row, so that no test folds what no log could hold. */
function rowOf({ role, type, data, place }: Draft, seq: number): StoredRow {
  const known = decoded.get(data);
  const id = parseChunkId(`c${seq}`);
  if (known !== undefined && id !== null) return { ...known, seq, id };
  const turnId = place.turn ?? "t1";
  const row = newRowSchema.parse({ id: `c${seq}`, turnId, step: place.step ?? 0, createdAt: seq, role, type, data });
  const stored = { ...row, seq, term: 1 };
  if (row.type === "system" && row.data.kind === "prefix") decoded.set(data, stored);
  return stored;
}

export function blobHash(digit: string): string {
  return parseBlobHash(digit.repeat(64)) ?? "";
}
