/**
 * What a log says of its own requests: which were sent in which epoch, what each took, which cache entries they left. One
 * pass over the rows, pure.
 *
 * An epoch is a stretch of a log whose requests begin with the same bytes (a prefix and a compaction); an undo leads back.
 */
import { rowTokens, scaleOf, totalInput } from "@varve/agent";
import type { CacheTtl, RequestPurpose, StoredRow, SystemData, TurnId } from "@varve/protocol";
import type { WireTarget } from "@varve/wire";

export type UsageData = Extract<SystemData, { kind: "usage" }>;
type CompactionData = Extract<SystemData, { kind: "compaction" }>;

export interface Sent {
  readonly seq: number;
  readonly turnId: TurnId;
  readonly step: number;
  readonly model: string;
  readonly scopeHash: string;
  readonly tailHash: string;
  readonly purpose: RequestPurpose;
  readonly ttl: CacheTtl | null;
  readonly chars: number | null;
  /** Milliseconds: its start, from which lifetimes count. */
  readonly at: number;
  readonly epoch: string;
  /** The prefix row in force. */
  readonly prefixSeq: number;
  readonly usage: UsageData | null;
  readonly usageSeq: number | null;
  /** When its bill was sealed. */
  readonly endedAt: number | null;
  /** Whole input as billed. */
  readonly tokens: number | null;
}

export interface Reading {
  /** Ascending. */
  readonly sent: readonly Sent[];
  /** In force at the log's end. */
  readonly epoch: string;
  readonly prefixSeq: number;
  readonly compaction: { readonly seq: number; readonly data: CompactionData } | null;
  /** Every compaction of the log, undone ones too. */
  readonly compactions: readonly {
    readonly seq: number;
    readonly at: number;
    readonly data: CompactionData;
    readonly undone: boolean;
  }[];
  readonly isVoid: (turnId: TurnId, step: number) => boolean;
  readonly epochAt: (seq: number) => string;
}

const placeOf = (turnId: string, step: number): string => `${step}:${turnId}`;

export function readLog(rows: readonly StoredRow[]): Reading {
  const sent: Sent[] = [];
  /** Index in `sent` of the request whose bill has not come, by place and purpose. */
  const open = new Map<string, number>();
  const voids = new Set<string>();
  const undone = new Set<number>();
  const compactions: { seq: number; at: number; data: CompactionData }[] = [];
  const epochs: { from: number; key: string }[] = [{ from: 0, key: "0:0" }];
  let prefixSeq = 0;
  const inForce = () => compactions.findLast(({ seq }) => !undone.has(seq)) ?? null;
  for (const row of rows) {
    if (row.type !== "system") continue;
    const { data, seq, turnId, step } = row;
    switch (data.kind) {
      case "request":
        open.set(`${placeOf(turnId, step)}:${data.purpose ?? "step"}`, sent.length);
        sent.push({ ...sentOf(row, data), epoch: epochs.at(-1)?.key ?? "", prefixSeq });
        continue;
      case "usage": {
        const at = open.get(`${placeOf(turnId, step)}:${data.purpose ?? "step"}`);
        const one = at === undefined ? undefined : sent[at];
        if (at !== undefined && one !== undefined) sent[at] = billed(one, data, row);
        continue;
      }
      case "step-void":
        voids.add(placeOf(data.turnId, data.step));
        continue;
      case "prefix":
        prefixSeq = seq;
        break;
      case "compaction":
        compactions.push({ seq, at: row.createdAt, data });
        break;
      case "compaction-undo":
        undone.add(data.compactionSeq);
        break;
      default:
        continue;
    }
    epochs.push({ from: seq, key: `${prefixSeq}:${inForce()?.seq ?? 0}` });
  }
  return {
    sent,
    epoch: epochs.at(-1)?.key ?? "",
    prefixSeq,
    compaction: inForce(),
    compactions: compactions.map((one) => ({ ...one, undone: undone.has(one.seq) })),
    isVoid: (turnId, step) => voids.size > 0 && voids.has(placeOf(turnId, step)),
    epochAt: (seq) => epochs.findLast(({ from }) => from <= seq)?.key ?? "",
  };
}

function sentOf(row: StoredRow, data: Extract<SystemData, { kind: "request" }>): Omit<Sent, "epoch" | "prefixSeq"> {
  const { seq, turnId, step } = row;
  const { model, scopeHash, tailHash, ttl, chars, purpose = "step" } = data;
  const told = { ttl: ttl ?? null, chars: chars ?? null, at: row.createdAt };
  const bill = { usage: null, usageSeq: null, endedAt: null, tokens: null };
  return { seq, turnId, step, model, scopeHash, tailHash, purpose, ...told, ...bill };
}

/** A bill of a broken try says what was taken in, as a whole one does. */
const billed = (one: Sent, usage: UsageData, row: StoredRow): Sent => ({
  ...one,
  usage,
  usageSeq: row.seq,
  endedAt: row.createdAt,
  at: usage.startedAt ?? one.at,
  tokens: totalInput(usage),
});

/** The newest step that was billed whole; with `model`, of that model. */
export const newestBilled = (reading: Reading, model?: string): Sent | null =>
  reading.sent.findLast(
    (one) =>
      one.purpose === "step" && one.tokens !== null && one.usage?.cut !== true && (model ?? one.model) === one.model,
  ) ?? null;

/** As if rows of an act (a note, another prefix, a compaction) were sealed behind the log; none of them is a request. */
export function readingWith(reading: Reading, more: readonly StoredRow[]): Reading {
  let { prefixSeq, compaction } = reading;
  let from = Number.POSITIVE_INFINITY;
  for (const { type, data, seq } of more) {
    if (type !== "system" || (data.kind !== "prefix" && data.kind !== "compaction")) continue;
    if (data.kind === "prefix") prefixSeq = seq;
    else compaction = { seq, data };
    from = seq;
  }
  if (from === Number.POSITIVE_INFINITY) return reading;
  const epoch = `${prefixSeq}:${compaction?.seq ?? 0}`;
  const epochAt = (seq: number): string => (seq >= from ? epoch : reading.epochAt(seq));
  return { ...reading, prefixSeq, compaction, epoch, epochAt };
}

interface Measure {
  readonly reading: Reading;
  readonly target: WireTarget | null;
  readonly scale: number;
}

/** Tokens of what a fold of a whole log for this target would hold, by rule of thumb: only good for differences. */
export function roughTokens(rows: readonly StoredRow[], measure: Measure): number {
  const { reading, scale } = measure;
  return Math.ceil((reading.compaction?.data.summary.length ?? 0) * scale) + roughRows(rows, measure);
}

/** The part of these rows. */
export function roughRows(rows: readonly StoredRow[], { reading, target, scale }: Measure): number {
  const { compaction, prefixSeq, epoch } = reading;
  const keepFrom = compaction?.data.keepFrom ?? 0;
  const kept = new Set([...(compaction?.data.keptUserSeqs ?? []), ...(compaction?.data.keptNoteSeqs ?? [])]);
  let sum = 0;
  for (const row of rows) {
    if (row.type === "system" && row.data.kind === "prefix") {
      if (row.seq === prefixSeq) sum += rowTokens(row, scale);
      continue;
    }
    if (row.seq < keepFrom && !kept.has(row.seq)) continue;
    if (row.role !== "user" && reading.isVoid(row.turnId, row.step)) continue;
    if (row.type === "thinking") {
      const isSent = target !== null && row.data.modelScope === target.modelScope && row.data.partial !== true;
      if (!isSent || target.profile.replay(row.data) === null || reading.epochAt(row.seq) !== epoch) continue;
    }
    sum += rowTokens(row, scale);
  }
  return sum;
}

/** Of the model whose size is asked for, else of whichever was billed last. */
export const scaleFor = (rows: readonly StoredRow[], reading: Reading, model: string): number => {
  const base = newestBilled(reading, model);
  const upTo = base?.usageSeq ?? null;
  return scaleOf(upTo === null ? rows : rows.slice(0, upTo));
};
