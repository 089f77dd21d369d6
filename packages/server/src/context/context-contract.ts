/** CONTRACT between the doors and a tab's context. Nothing here throws for a fault of the world: it answers with a `Fault`. */
import type { CacheTtl, ContextBody, Effort, Fault, PreviewBody, SentRequestBody, TabId } from "@varve/protocol";

export interface PreviewAsked {
  readonly model?: string;
  readonly effort?: Effort;
  readonly cacheTtl?: CacheTtl;
}

export interface ContextActs {
  look(tab: TabId): Promise<ContextBody | Fault>;
  /** Between turns: what changed is told in notes, or another prefix is put in force. Nothing to do is no fault. */
  apply(tab: TabId, how: "tell" | "rebuild"): Promise<ContextBody | Fault>;
  preview(tab: TabId, asked: PreviewAsked): Promise<PreviewBody | Fault>;
  /** Idle: it begins at once, as a turn of its own. In a turn: at its next step boundary. */
  compact(tab: TabId): Promise<{ readonly state: "started" | "asked" } | Fault>;
  /** Of the newest compaction in force. */
  undoCompaction(tab: TabId, seq: number): Promise<ContextBody | Fault>;
  /** `from`: index of the first block; null: the newest ones. */
  sentRequest(tab: TabId, seq: number, from: number | null): Promise<SentRequestBody | Fault>;
}
