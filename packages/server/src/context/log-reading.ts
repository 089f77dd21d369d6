/**
 * What a log says of its own requests: which were sent in which epoch, what each took, which cache entries they left. One
 * pass over the rows, pure.
 *
 * An epoch is a stretch of a log whose requests begin with the same bytes (a prefix and a compaction); an undo leads back.
 */
import { rowTokens, scaleFrom, totalInput } from "@varve/agent";
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

export type ModelChoice = Extract<SystemData, { kind: "model-changed" }>;

/** What of a log is in force at one of its rows. */
export interface View {
  readonly epoch: string;
  readonly prefixSeq: number;
  readonly compaction: { readonly seq: number; readonly data: CompactionData } | null;
  readonly isVoid: (turnId: TurnId, step: number) => boolean;
  readonly epochAt: (seq: number) => string;
}
/** At the log's end. */
export interface Reading extends View {
  /** The newest choice of a model that is sealed. */
  readonly chosen: ModelChoice | null;
  /** Ascending. */
  readonly sent: readonly Sent[];
  /** Every compaction of the log, undone ones too. */
  readonly compactions: readonly {
    readonly seq: number;
    readonly at: number;
    readonly data: CompactionData;
    readonly undone: boolean;
  }[];
  /** When the log ended at that row. */
  readonly viewAt: (seq: number) => View;
}

/** Requests that may have begun between one and its bill: a bill looks no farther back. */
const openRequestsMax = 1_000;
const placeOf = (turnId: string, step: number): string => `${step}:${turnId}`;

type RequestData = Extract<SystemData, { kind: "request" }>;
interface Stretch {
  readonly from: number;
  readonly epoch: string;
  readonly prefixSeq: number;
  readonly compaction: View["compaction"];
}
const beginning: Stretch = { from: 0, epoch: "0:0", prefixSeq: 0, compaction: null };

/** Of a log that is read once. */
export const readLog = (rows: readonly StoredRow[]): Reading => new LogReader().read(rows);

/** Reads a log that grows: each row once, so that looking again at a long one costs what came since. */
export class LogReader {
  #rows = 0;
  readonly #sent: Sent[] = [];
  readonly #voids = new Map<string, number>();
  readonly #undone = new Set<number>();
  readonly #compactions: { readonly seq: number; readonly at: number; readonly data: CompactionData }[] = [];
  readonly #stretches: Stretch[] = [beginning];
  #chosen: ModelChoice | null = null;
  #reading: Reading | null = null;

  /** `rows`: those of the call before, and what was sealed since. What was answered before stays as it is. */
  read(rows: readonly StoredRow[]): Reading {
    if (this.#reading !== null && rows.length === this.#rows) return this.#reading;
    for (; this.#rows < rows.length; this.#rows++) {
      const row = rows[this.#rows];
      if (row?.type === "system") this.#take(row, row.data);
    }
    const last = this.#stretches.at(-1) ?? beginning;
    const stretches = [...this.#stretches];
    const viewAt = (seq: number): View => {
      const upTo = stretches.filter(({ from }) => from <= seq);
      return this.#view(upTo.at(-1) ?? beginning, upTo, seq);
    };
    this.#reading = {
      ...this.#view(last, stretches, rows.at(-1)?.seq ?? 0),
      chosen: this.#chosen,
      sent: [...this.#sent],
      compactions: this.#compactions.map((one) => ({ ...one, undone: this.#undone.has(one.seq) })),
      viewAt,
    };
    return this.#reading;
  }

  #view({ epoch, prefixSeq, compaction }: Stretch, stretches: readonly Stretch[], end: number): View {
    const voids = this.#voids;
    return {
      epoch,
      prefixSeq,
      compaction,
      isVoid: (turnId, step) => voids.size > 0 && (voids.get(placeOf(turnId, step)) ?? Number.POSITIVE_INFINITY) <= end,
      epochAt: (seq) => stretches.findLast(({ from }) => from <= seq)?.epoch ?? "",
    };
  }

  #take(row: StoredRow, data: SystemData): void {
    const { prefixSeq } = this.#stretches.at(-1) ?? beginning;
    const { seq } = row;
    switch (data.kind) {
      case "request":
        this.#sent.push(sentOf(row, data, this.#stretches.at(-1) ?? beginning));
        break;
      case "usage":
        this.#bill(row, data);
        break;
      case "model-changed":
        this.#chosen = data;
        break;
      case "step-void":
        this.#void(placeOf(data.turnId, data.step), seq);
        break;
      case "prefix":
        this.#turn(seq, seq);
        break;
      case "compaction":
        this.#compactions.push({ seq, at: row.createdAt, data });
        this.#turn(seq, prefixSeq);
        break;
      case "compaction-undo":
        this.#undone.add(data.compactionSeq);
        this.#turn(seq, prefixSeq);
        break;
      default:
    }
  }

  #void(place: string, seq: number): void {
    if (!this.#voids.has(place)) this.#voids.set(place, seq);
  }

  #turn(from: number, prefixSeq: number): void {
    const found = this.#compactions.findLast(({ seq }) => !this.#undone.has(seq)) ?? null;
    this.#stretches.push({ from, epoch: `${prefixSeq}:${found?.seq ?? 0}`, prefixSeq, compaction: found });
  }

  #bill(row: StoredRow, data: UsageData): void {
    const { turnId, step } = row;
    const purpose = data.purpose ?? "step";
    const least = Math.max(0, this.#sent.length - openRequestsMax);
    for (let at = this.#sent.length - 1; at >= least; at--) {
      const one = this.#sent[at];
      if (one === undefined || one.step !== step || one.turnId !== turnId || one.purpose !== purpose) continue;
      this.#sent[at] = billed(one, data, row);
      return;
    }
  }
}

function sentOf(row: StoredRow, data: RequestData, { epoch, prefixSeq }: Stretch): Sent {
  return {
    seq: row.seq,
    turnId: row.turnId,
    step: row.step,
    model: data.model,
    scopeHash: data.scopeHash,
    tailHash: data.tailHash,
    purpose: data.purpose ?? "step",
    ttl: data.ttl ?? null,
    chars: data.chars ?? null,
    at: row.createdAt,
    epoch,
    prefixSeq,
    usage: null,
    usageSeq: null,
    endedAt: null,
    tokens: null,
  };
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
  readonly reading: View;
  readonly target: WireTarget | null;
  readonly scale: number;
}

/** Rows of a log, ascending and dense, up to an index; then those that an act would add. */
export interface Rows {
  readonly held: readonly StoredRow[];
  readonly end: number;
  readonly more: readonly StoredRow[];
}

/** Tokens of what a fold of a whole log for this target would hold, by rule of thumb: only good for differences. */
export function roughTokens({ held, end, more }: Rows, measure: Measure): number {
  const { compaction, prefixSeq } = measure.reading;
  const summary = Math.ceil((compaction?.data.summary.length ?? 0) * measure.scale);
  const keepFrom = compaction?.data.keepFrom ?? 0;
  // Of the rows before the cut none but the kept ones is looked at.
  const earlier = new Set([prefixSeq, ...keptSeqs(compaction)]);
  const kept = [...earlier].flatMap((seq) => (seq < keepFrom && seq <= end ? (held[seq - 1] ?? []) : []));
  const from = Math.max(0, keepFrom - 1);
  return summary + roughRows(kept, measure) + roughRows(held, measure, { from, end }) + roughRows(more, measure);
}

const keptSeqs = (compaction: View["compaction"]): readonly number[] => [
  ...(compaction?.data.keptUserSeqs ?? []),
  ...(compaction?.data.keptNoteSeqs ?? []),
];

/** The part of these rows, or of those from an index on and before another. */
export function roughRows(
  rows: readonly StoredRow[],
  { reading, target, scale }: Measure,
  { from, end }: { readonly from: number; readonly end: number } = { from: 0, end: rows.length },
): number {
  const { compaction, prefixSeq, epoch } = reading;
  const keepFrom = compaction?.data.keepFrom ?? 0;
  const kept = new Set(keptSeqs(compaction));
  let sum = 0;
  for (let index = from; index < end; index++) {
    const row = rows[index];
    if (row === undefined) break;
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

/** Tokens of a UTF-16 unit: of the model whose size is asked for, else of whichever was billed last. */
export const scaleFor = (reading: Reading, model: string): number => {
  const base = newestBilled(reading, model) ?? newestBilled(reading);
  return scaleFrom(base?.tokens ?? null, base?.chars ?? null);
};
