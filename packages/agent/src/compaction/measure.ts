/** How large a tab's next request is. From what the provider billed last, and an estimate of what came since. Pure. */
import type { StoredRow, SystemData } from "@varve/protocol";
import { landmarksOf } from "../landmarks.ts";
import { isKind, isStepFinish, isStepRequest, type SystemRow } from "../turn-rows.ts";
import { attachmentTokens, tokensPerChar } from "./limits.ts";

type Usage = Extract<SystemData, { kind: "usage" }>;

/** Input tokens of a request as billed, or null where the provider told nothing. */
export function inputTokens(usage: Usage): number | null {
  const parts = [usage.fresh, usage.read, usage.write5m, usage.write1h];
  const known = parts.filter((part) => part !== null);
  return known.length === 0 ? null : known.reduce((sum, part) => sum + part, 0);
}

/** Tokens of a UTF-16 unit, as the tab's last billed request had them. */
export function scaleOf(rows: readonly StoredRow[]): number {
  const billed = rows.findLast((row) => isStepFinish(row) && (inputTokens(row.data) ?? 0) > 0);
  if (billed === undefined || !isStepFinish(billed)) return tokensPerChar.unless;
  const request = requestOf(rows, billed);
  return scaleFrom(inputTokens(billed.data), request?.data.chars ?? null);
}

/** Of a request that was billed so many tokens for so many UTF-16 units; null or none: by rule of thumb. */
export function scaleFrom(tokens: number | null, chars: number | null): number {
  if (tokens === null || tokens <= 0 || chars === null || chars <= 0) return tokensPerChar.unless;
  return Math.min(tokensPerChar.max, Math.max(tokensPerChar.min, tokens / chars));
}

function requestOf(rows: readonly StoredRow[], usage: StoredRow): SystemRow<"request"> | undefined {
  const found = rows.findLast(
    (row) => row.seq < usage.seq && isStepRequest(row) && row.turnId === usage.turnId && row.step === usage.step,
  );
  return found !== undefined && isStepRequest(found) ? found : undefined;
}

/** Estimated tokens of a row on the wire; rows that no model reads have none. */
export function rowTokens(row: StoredRow, scale: number): number {
  const { chars, attachments } = sizeOf(row);
  return Math.ceil(chars * scale) + attachments * attachmentTokens;
}

interface Size {
  readonly chars: number;
  readonly attachments: number;
}

/** Quotes, braces and names around each part. */
const frameChars = 40;
const plain = (chars: number, attachments = 0): Size => ({ chars: chars + frameChars, attachments });
const nothing: Size = { chars: 0, attachments: 0 };

function sizeOf(row: StoredRow): Size {
  switch (row.type) {
    case "text":
      return plain(row.data.text.length, row.data.attachments?.length ?? 0);
    case "thinking":
      return plain(row.data.text.length + lengthOf(row.data.metadata));
    case "tool_call":
      return plain(row.data.name.length + row.data.argsText.length + row.data.callId.length);
    case "tool_result":
      return plain(row.data.result.length + row.data.callId.length, row.data.images?.length ?? 0);
    case "system":
      return systemSize(row.data);
    default:
      return nothing;
  }
}

function systemSize(data: SystemData): Size {
  if (data.kind === "note") return plain(data.text.length);
  return data.kind === "prefix" ? plain(lengthOf(data.system) + lengthOf(data.tools)) : nothing;
}

const lengthOf = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);

export const sumTokens = (rows: readonly StoredRow[], scale: number): number =>
  rows.reduce((sum, row) => sum + rowTokens(row, scale), 0);

/**
 * Tokens of the request that would be made now. Looks back to the last step that was billed, or to the compaction behind it;
 * only a log without either is measured whole.
 */
export function measure(rows: readonly StoredRow[], scale: number): number {
  let since = 0;
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at];
    if (row === undefined || isKind(row, "compaction-undo")) break;
    if (isKind(row, "compaction") && row.data.tokensAfter !== undefined) return row.data.tokensAfter + since;
    if (isStepFinish(row)) {
      const input = inputTokens(row.data);
      if (input !== null) return input + (row.data.output ?? 0) + since;
    }
    since += rowTokens(row, scale);
  }
  return measureWhole(rows, scale);
}

/** The newest prefix and every row that stands behind the compaction in force. */
function measureWhole(rows: readonly StoredRow[], scale: number): number {
  const compaction = compactionInForce(rows);
  const from = compaction?.data.keepFrom ?? 0;
  const prefix = landmarksOf(rows).prefixes.at(-1);
  const kept = new Set([...(compaction?.data.keptUserSeqs ?? []), ...(compaction?.data.keptNoteSeqs ?? [])]);
  const shown = rows.filter((row) => !isKind(row, "prefix") && (row.seq >= from || kept.has(row.seq)));
  const summary = Math.ceil((compaction?.data.summary.length ?? 0) * scale);
  return sumTokens(prefix === undefined ? shown : [prefix, ...shown], scale) + summary;
}

/** The newest compaction that no undo has ended. */
export function compactionInForce(rows: readonly StoredRow[]): SystemRow<"compaction"> | null {
  const { compactions, undone } = landmarksOf(rows);
  return compactions.findLast(({ seq }) => !undone.has(seq)) ?? null;
}
