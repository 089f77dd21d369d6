/** The prefix guard: before a request is sent, it must extend the last one that this log sent to the same model. */
import type { StoredRow } from "@varve/protocol";
import type { Links } from "./canonical.ts";
import { isLink } from "./segment.ts";

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
  /**
   * The prefix changed and nothing explains it: our mistake. `firstDifferingBlock` needs the previous chain; `seq` is
   * the row that this request's block came from, null where none gave it or the block is not known.
   */
  | { readonly kind: "changed"; readonly firstDifferingBlock: number | null; readonly seq: number | null };

/** `model` is the name that `request` rows carry. Other models have chains of their own. */
export function previousRequest(rows: readonly StoredRow[], model: string): PreviousRequest | null {
  const sent = new SentRequests();
  for (const row of rows) sent.add(row);
  return sent.newest(model);
}

/** The newest request of each model, of a log that grows. */
export class SentRequests {
  readonly #byModel = new Map<string, Sent>();

  add(row: StoredRow): void {
    if (row.type !== "system") return;
    const { data, seq, turnId, step } = row;
    if (isLink(row)) {
      const { model, tailHash } = row.data;
      this.#byModel.set(model, { seq, tailHash, turnId, step, restartedBy: null });
    } else if (data.kind === "step-void") {
      this.#restart({ kind: data.kind, seq }, (sent) => sent.turnId === data.turnId && sent.step <= data.step);
    } else if (isRestart(data.kind)) this.#restart({ kind: data.kind, seq }, () => false);
  }

  newest(model: string): PreviousRequest | null {
    const sent = this.#byModel.get(model);
    return sent === undefined ? null : { seq: sent.seq, tailHash: sent.tailHash, restartedBy: sent.restartedBy };
  }

  /** A voided attempt stands behind its own request, which never held it: that explains nothing. */
  #restart(by: Restart, isOwn: (sent: Sent) => boolean): void {
    for (const sent of this.#byModel.values()) if (!isOwn(sent)) sent.restartedBy = by;
  }
}

type Restart = NonNullable<PreviousRequest["restartedBy"]>;
interface Sent {
  readonly seq: number;
  readonly tailHash: string;
  readonly turnId: string;
  readonly step: number;
  restartedBy: Restart | null;
}
const restartKinds: ReadonlySet<string> = new Set<RestartKind>(["prefix", "compaction", "compaction-undo"]);
const isRestart = (kind: string): kind is RestartKind => restartKinds.has(kind);

export interface GuardInput {
  readonly chain: Links;
  readonly previous: PreviousRequest | null;
  /** When the caller still holds it; only for telling where the two part. */
  readonly previousChain?: Links | undefined;
}

export function guardPrefix({ chain, previous, previousChain }: GuardInput): GuardVerdict {
  if (previous === null) return { kind: "first" };
  // The newest links are the likely place, for a step adds few blocks.
  if (chain.lastIndexOf(previous.tailHash) >= 0) return { kind: "extends" };
  if (previous.restartedBy !== null) {
    return { kind: "restarted", by: previous.restartedBy.kind, seq: previous.restartedBy.seq };
  }
  if (previousChain?.at(-1) !== previous.tailHash) return unexplained(null);
  let same = 0;
  while (same < previousChain.length && previousChain.at(same) === chain.at(same)) same += 1;
  return unexplained(same);
}

const unexplained = (firstDifferingBlock: number | null): GuardVerdict => ({
  kind: "changed",
  firstDifferingBlock,
  seq: null,
});
