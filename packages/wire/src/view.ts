/**
 * What part of a log counts: the prefix in force, the compaction in force, the voided steps, and the epochs.
 *
 * An epoch is a stretch of the log whose requests began with the same bytes: it changes with each prefix row, each
 * compaction and each undo of one. Newer models sign thinking against everything sent before it, so thinking may be
 * sent again only in the epoch in which it was made; an undo leads back into an epoch that was left.
 */
import type { CacheTtl, PrefixData, StoredRow, SystemData } from "@varve/protocol";

type Compaction = Extract<SystemData, { kind: "compaction" }>;

export interface View {
  readonly prefix: PrefixData | null;
  readonly prefixSeq: number;
  /** The compaction in force, with the seq of its row. */
  readonly compaction: { readonly seq: number; readonly data: Compaction } | null;
  /** What the newest `model-changed` row says of the lifetime of cache entries; null leaves it to the prefix. */
  readonly cacheTtl: CacheTtl | null;
  isVoid(turnId: string, step: number): boolean;
  /** Whether thinking sealed at `seq` may be sent in the epoch in force at the end of the log. */
  inEpoch(seq: number): boolean;
  /** Whether the summary stands in the place of this row. User rows and notes that the compaction lists stay. */
  isReplaced(seq: number): boolean;
}

interface Epoch {
  readonly from: number;
  readonly key: string;
}

const stepKey = (turnId: string, step: number): string => `${step}:${turnId}`;

export function viewOf(rows: readonly StoredRow[]): View {
  const view = new LogView();
  for (const row of rows) view.add(row);
  return view;
}

/** The view of a log that grows. */
export class LogView implements View {
  prefix: PrefixData | null = null;
  prefixSeq = 0;
  compaction: View["compaction"] = null;
  cacheTtl: CacheTtl | null = null;
  readonly #voids = new Set<string>();
  readonly #epochs: Epoch[] = [{ from: 0, key: "0:0" }];
  #compactions: readonly NonNullable<View["compaction"]>[] = [];
  #kept: ReadonlySet<number> = new Set();

  /** Whether the rows before this one now mean what they meant: false where another epoch began. */
  add(row: StoredRow): boolean {
    if (row.type !== "system") return true;
    const { data, seq } = row;
    if (data.kind === "step-void") this.#voids.add(stepKey(data.turnId, data.step));
    else if (data.kind === "model-changed") this.cacheTtl = data.cacheTtl ?? null;
    else if (data.kind === "prefix") {
      this.prefix = data;
      this.prefixSeq = seq;
      return this.#beginEpoch(seq);
    } else if (data.kind === "compaction") {
      this.#compactions = [...this.#compactions, { seq, data }];
      return this.#beginEpoch(seq);
    } else if (data.kind === "compaction-undo") {
      this.#compactions = this.#compactions.filter((one) => one.seq !== data.compactionSeq);
      return this.#beginEpoch(seq);
    }
    return true;
  }

  isVoid(turnId: string, step: number): boolean {
    return this.#voids.size > 0 && this.#voids.has(stepKey(turnId, step));
  }

  inEpoch(seq: number): boolean {
    return this.#epochs.findLast((epoch) => epoch.from <= seq)?.key === this.#epochs.at(-1)?.key;
  }

  isReplaced(seq: number): boolean {
    return this.compaction !== null && seq < this.compaction.data.keepFrom && !this.#kept.has(seq);
  }

  #beginEpoch(from: number): boolean {
    const before = this.#epochs.at(-1)?.key;
    this.compaction = this.#compactions.at(-1) ?? null;
    const { keptUserSeqs = [], keptNoteSeqs = [] } = this.compaction?.data ?? {};
    this.#kept = new Set([...keptUserSeqs, ...keptNoteSeqs]);
    const key = `${this.prefixSeq}:${this.compaction?.seq ?? 0}`;
    this.#epochs.push({ from, key });
    return key === before;
  }
}
