/** What exactly one request of a log sent: its fold, block by block, with what the cache made of it by its own bill. */
import { parseEffort, type ResolvedModel } from "@varve/agent";
import {
  type Fault,
  fault,
  isFault,
  type JsonObject,
  type LedgerStep,
  type SentBlock,
  type SentRequestBody,
  type StoredRow,
} from "@varve/protocol";
import { type BlobLookup, rowsOfRequest, sentBlocks, type WireRequest } from "@varve/wire";
import { ledgerStep } from "../ledger/ledger-step.ts";
import type { Reading, Sent } from "./log-reading.ts";
import { foldOfSent } from "./sent-fold.ts";

/** Blocks in one answer, and characters of a block's JSON; more is paged and clipped. */
export const sentBlocksMax = 200;
export const blockCharsMax = 4_096;

export interface SentInput {
  readonly rows: readonly StoredRow[];
  readonly reading: Reading;
  readonly sent: Sent;
  readonly model: ResolvedModel;
  readonly blobs: BlobLookup;
  /** Index of the first block to give; null: the newest ones. */
  readonly from: number | null;
}

export function sentRequest(input: SentInput): SentRequestBody | Fault {
  const { rows, sent, model, blobs } = input;
  const effort = effortAt(rowsOfRequest(rows, sent.seq));
  const built = foldOfSent({ rows, sent, model, effort, blobs });
  if (isFault(built)) return built;
  const blocks = shownBlocks(built, input);
  const from = Math.min(input.from ?? Math.max(0, blocks.length - sentBlocksMax), blocks.length);
  return {
    seq: sent.seq,
    model: sent.model,
    at: sent.at,
    options: optionsOf(built, sent),
    blocks: blocks.slice(from, from + sentBlocksMax),
    skipped: from,
    tailHash: sent.tailHash,
    intact: built.tailHash === sent.tailHash,
    usage: stepOf(sent, model.facts),
  };
}

/** The row of a request in the log, or why there is none. */
export function sentAt(reading: Reading, seq: number): Sent | Fault {
  const sent = reading.sent.find((one) => one.seq === seq);
  return (
    sent ?? fault("unknown-row", `Row ${seq} is no request of this log.`, "The table of steps names the requests.")
  );
}

export function effortAt(rows: readonly StoredRow[]) {
  const row = rows.findLast((one) => one.type === "system" && one.data.kind === "model-changed");
  return parseEffort(row?.type === "system" && row.data.kind === "model-changed" ? row.data.effort : "default");
}

/** Everything of the call but its prompt and its tools, which are blocks. */
function optionsOf({ options }: WireRequest, { purpose }: Sent): JsonObject {
  const { tools: _, ...rest } = options;
  // Call options are JSON by their make: they come out of the frozen prefix, which is a row.
  const plain = JSON.parse(JSON.stringify(rest)) as JsonObject;
  return purpose === "warm" ? { ...plain, maxOutputTokens: 0 } : plain;
}

function shownBlocks(built: WireRequest, { sent, reading }: SentInput): readonly SentBlock[] {
  const blocks = sentBlocks(built);
  const chars = blocks.map(({ json }) => json.length);
  const total = chars.reduce((sum, count) => sum + count, 0);
  const stateOf = statesOf(built, chars, { sent, reading });
  const perChar = sent.tokens === null || total === 0 ? 0.25 : sent.tokens / total;
  return blocks.map(({ role, kind, json, marked }, index) => ({
    index,
    role,
    kind: kindOf(role, kind),
    chars: json.length,
    tokens: Math.round(json.length * perChar),
    state: stateOf(index),
    marked,
    json: json.slice(0, blockCharsMax).toWellFormed(),
    clipped: json.length > blockCharsMax,
  }));
}

type Kind = ReturnType<typeof sentBlocks>[number]["kind"];
const kinds: Readonly<Record<Kind, SentBlock["kind"]>> = {
  tools: "tools",
  text: "text",
  file: "file",
  reasoning: "thinking",
  "tool-call": "call",
  "tool-result": "result",
};
const kindOf = (role: SentBlock["role"], kind: Kind): SentBlock["kind"] => (role === "system" ? "system" : kinds[kind]);

/**
 * A provider tells sums, not blocks. Where what was read is the whole of an earlier request, the border is that request's end;
 * else a block belongs where its middle lies, by its share of the characters.
 */
function statesOf(
  built: WireRequest,
  chars: readonly number[],
  { sent, reading }: Pick<SentInput, "sent" | "reading">,
): (index: number) => SentBlock["state"] {
  const { usage, tokens } = sent;
  if (usage === null || tokens === null || tokens === 0) return () => "unknown";
  const read = usage.read ?? 0;
  const written = (usage.write5m ?? 0) + (usage.write1h ?? 0);
  const border = borderOf(built, read, { sent, reading });
  const total = chars.reduce((sum, count) => sum + count, 0);
  const middles: number[] = [];
  let before = 0;
  for (const count of chars) {
    middles.push(((before + count / 2) / total) * tokens);
    before += count;
  }
  return (index) => {
    const middle = middles[index] ?? 0;
    if (border === null ? middle < read : index <= border) return "cached";
    return (usage.fresh ?? 0) === 0 || middle < read + written ? (written > 0 ? "written" : "fresh") : "fresh";
  };
}

/** Index of the last block that was read, where an earlier request of the same size tells. */
function borderOf(
  built: WireRequest,
  read: number,
  { sent, reading }: Pick<SentInput, "sent" | "reading">,
): number | null {
  if (read === 0) return -1;
  const earlier = reading.sent.findLast(
    (one) =>
      one.seq < sent.seq && one.model === sent.model && one.tokens === read && built.chain.includes(one.tailHash),
  );
  return earlier === undefined ? null : built.chain.indexOf(earlier.tailHash);
}

function stepOf(sent: Sent, { prices }: ResolvedModel["facts"]): LedgerStep | null {
  const { usage, usageSeq } = sent;
  if (usage === null || usageSeq === null) return null;
  const { seq: requestSeq, turnId, step, purpose, model, at: startedAt, endedAt } = sent;
  const place = { requestSeq, usageSeq, turnId, step, purpose, model, startedAt, endedAt: endedAt ?? startedAt };
  return ledgerStep(place, usage, prices);
}
