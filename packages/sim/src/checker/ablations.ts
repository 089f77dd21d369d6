/** For each rule the world in which its absence shows soonest. */
import type { InvariantName } from "./invariants.ts";
import type { RuleName } from "./rules.ts";
import type { Scope } from "./world.ts";

export interface Ablation {
  readonly rule: RuleName;
  /** What is broken first without it. */
  readonly breaks: InvariantName;
  readonly scope: Scope;
}

const base = { clients: 1, rows: 1, page: 2, window: 3, isRunning: true } as const;
/** Rows 2 to 4 of 5 are held: one below and one above were not. */
const above = { ...base, rows: 5, isDetached: true, isRunning: false } as const;

type Given = Partial<Scope> & Pick<Scope, "budget">;
const ablation = (rule: RuleName, breaks: InvariantName, given: Given): Ablation => ({
  rule,
  breaks,
  scope: { ...base, name: rule, ...given },
});

export const ablations: readonly Ablation[] = [
  ablation("atomic-head", "at-rest", { budget: { "remote-send": 1, cut: 1 } }),
  ablation("tombstone", "at-rest", { budget: { "remote-send": 1, "remote-cancel": 1 } }),
  ablation("head-removes-unlisted", "at-rest", { budget: { "remote-send": 1, "remote-cancel": 1, cut: 1 } }),
  ablation("one-id", "said-once", { budget: { "remote-send": 1 } }),
  ablation("server-dedup", "said-once", { budget: { send: 1, cut: 1 } }),
  ablation("outbox", "own-message", { budget: { send: 1, cut: 1 } }),
  ablation("page-log", "no-phantom", { rows: 3, isRunning: false, termStays: true, budget: { clear: 1, page: 1 } }),
  ablation("term-and-seq", "no-phantom", { isRunning: false, backupAt: 1, budget: { restore: 1, "remote-send": 2 } }),
  ablation("fresh-term", "no-phantom", {
    isRunning: false,
    backupAt: 1,
    budget: { restore: 1, crash: 1, "remote-send": 2 },
  }),
  ablation("page-term", "as-told", { ...above, backupAt: 3, budget: { restore: 1, "remote-send": 2, page: 1 } }),
  ablation("head-above-from", "dense", { ...above, backupAt: 4, budget: { restore: 1, page: 1 } }),
  ablation("seen-resub", "at-rest", { budget: { "remote-send": 2, swap: 1 } }),
  ablation("old-socket", "at-rest", {
    isRunning: false,
    lateFrames: true,
    backupAt: 1,
    budget: { send: 1, cut: 2, restore: 1 },
  }),
  ablation("stale-ops", "at-rest", { budget: { "remote-send": 1, "remote-cancel": 1, again: 1 } }),
  ablation("seq-at-seal", "stays", { budget: { open: 2, cut: 1, page: 1 } }),
  ablation("live-rows-stay", "own-message", { budget: { send: 1, evict: 1 } }),
  ablation("delta-offset", "prefix", { budget: { open: 1, grow: 2, again: 1 } }),
  ablation("op-is-evidence", "at-rest", { budget: { send: 1 } }),
  ablation("head-is-evidence", "at-rest", { budget: { send: 1, cut: 1 } }),
  ablation("ack-is-evidence", "at-rest", { budget: { send: 1, cut: 1, "remote-cancel": 1 } }),
  ablation("outbox-not-by-page", "own-message", {
    ...above,
    backupAt: 5,
    budget: { send: 1, page: 1, cut: 1, restore: 1 },
  }),
  ablation("outbox-not-unplaced", "own-message", { budget: { send: 1, "remote-send": 1, swap: 1 } }),
  ablation("hi-is-tail", "at-rest", { ...above, budget: { page: 1, cut: 1 } }),
];
