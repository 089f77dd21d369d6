/** The prefix guard: before a request is sent, it must extend the last one that this log sent to the same model. */
import type { StoredRow } from "@varve/protocol";

/** Kinds of rows after which requests may begin anew: the page shows them as "cache restarts here". */
type RestartKind = "prefix" | "compaction" | "compaction-undo" | "step-void";

export interface PreviousRequest {
  readonly seq: number;
  readonly tailHash: string;
  /** The newest row behind it that explains a changed prefix. */
  readonly restartedBy: { readonly kind: RestartKind; readonly seq: number } | null;
}

export type GuardVerdict =
  /** No request was sent to this model before. */
  | { readonly kind: "first" }
  | { readonly kind: "extends" }
  /** The prefix changed, and a row says why. */
  | { readonly kind: "restarted"; readonly by: RestartKind; readonly seq: number }
  /** The prefix changed and nothing explains it: our mistake. `firstDifferingBlock` needs the previous chain. */
  | { readonly kind: "changed"; readonly firstDifferingBlock: number | null };

/** `model` is the name that `request` rows carry. Other models have chains of their own. */
export function previousRequest(rows: readonly StoredRow[], model: string): PreviousRequest | null {
  const behind: Restart[] = [];
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index];
    if (row?.type !== "system") continue;
    const { data, seq, turnId, step } = row;
    if (data.kind === "request" && data.model === model) {
      // A voided attempt stands behind its own request, which never held it: that explains nothing.
      const isOwn = (one: Restart) => one.kind === "step-void" && one.turnId === turnId && one.step >= step;
      const restart = behind.find((one) => !isOwn(one));
      const restartedBy = restart === undefined ? null : { kind: restart.kind, seq: restart.seq };
      return { seq, tailHash: data.tailHash, restartedBy };
    }
    if (data.kind === "step-void") behind.push({ kind: data.kind, seq, turnId: data.turnId, step: data.step });
    else if (isRestart(data.kind)) behind.push({ kind: data.kind, seq, turnId, step });
  }
  return null;
}

interface Restart {
  readonly kind: RestartKind;
  readonly seq: number;
  readonly turnId: string;
  readonly step: number;
}
const restartKinds: ReadonlySet<string> = new Set<RestartKind>(["prefix", "compaction", "compaction-undo"]);
const isRestart = (kind: string): kind is RestartKind => restartKinds.has(kind);

export interface GuardInput {
  readonly chain: readonly string[];
  readonly previous: PreviousRequest | null;
  /** When the caller still holds it; only for telling where the two part. */
  readonly previousChain?: readonly string[] | undefined;
}

export function guardPrefix({ chain, previous, previousChain }: GuardInput): GuardVerdict {
  if (previous === null) return { kind: "first" };
  // The newest links are the likely place, for a step adds few blocks.
  if (chain.lastIndexOf(previous.tailHash) >= 0) return { kind: "extends" };
  if (previous.restartedBy !== null) {
    return { kind: "restarted", by: previous.restartedBy.kind, seq: previous.restartedBy.seq };
  }
  if (previousChain?.at(-1) !== previous.tailHash) return { kind: "changed", firstDifferingBlock: null };
  const at = previousChain.findIndex((link, index) => link !== chain[index]);
  return { kind: "changed", firstDifferingBlock: at };
}
