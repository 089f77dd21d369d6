/**
 * What part of a log counts: the prefix in force, the compaction in force, the voided steps, and the epochs.
 *
 * An epoch is a stretch of the log whose requests began with the same bytes: it changes with each prefix row, each
 * compaction and each undo of one. Newer models sign thinking against everything sent before it, so thinking may be
 * sent again only in the epoch in which it was made; an undo leads back into an epoch that was left.
 */
import type { PrefixData, StoredRow, SystemData } from "@varve/protocol";

type Compaction = Extract<SystemData, { kind: "compaction" }>;

export interface View {
  readonly prefix: PrefixData | null;
  /** Rows below `keepFrom` are replaced by the summary. */
  readonly compaction: Compaction | null;
  readonly isVoid: (turnId: string, step: number) => boolean;
  /** Whether thinking sealed at `seq` may be sent in the epoch in force at the end of the log. */
  readonly inEpoch: (seq: number) => boolean;
}

interface Epoch {
  readonly from: number;
  readonly key: string;
}

const stepKey = (turnId: string, step: number): string => `${step}:${turnId}`;

export function viewOf(rows: readonly StoredRow[]): View {
  const voids = new Set<string>();
  const epochs: Epoch[] = [{ from: 0, key: "0:0" }];
  let compactions: readonly { readonly seq: number; readonly data: Compaction }[] = [];
  let prefix: PrefixData | null = null;
  let prefixSeq = 0;
  for (const row of rows) {
    if (row.type !== "system") continue;
    const data = row.data;
    if (data.kind === "step-void") voids.add(stepKey(data.turnId, data.step));
    if (data.kind === "prefix") {
      prefix = data;
      prefixSeq = row.seq;
    } else if (data.kind === "compaction") compactions = [...compactions, { seq: row.seq, data }];
    else if (data.kind === "compaction-undo") compactions = compactions.filter((one) => one.seq !== data.compactionSeq);
    else continue;
    epochs.push({ from: row.seq, key: `${prefixSeq}:${compactions.at(-1)?.seq ?? 0}` });
  }
  return {
    prefix,
    compaction: compactions.at(-1)?.data ?? null,
    isVoid: (turnId, step) => voids.size > 0 && voids.has(stepKey(turnId, step)),
    inEpoch: (seq) => epochAt(epochs, seq) === epochs.at(-1)?.key,
  };
}

function epochAt(epochs: readonly Epoch[], seq: number): string | undefined {
  return epochs.findLast((epoch) => epoch.from <= seq)?.key;
}
