/**
 * The rules on which the protocol rests, each of which the checker can take away. A rule is taken away at the seam: what
 * goes into the real functions, or comes out of them, is changed as if the rule were not there.
 */
export const rules = {
  "atomic-head": "a head is captured and its reader attached in one go",
  tombstone: "a cancelled message is told by an op of its own",
  "head-removes-unlisted": "what a head does not list is gone",
  "one-id": "a message keeps its id when it becomes a row",
  "server-dedup": "a message that is sent again is the same message",
  outbox: "a message is kept until its fate is known",
  "page-log": "a page is joined only under the log that is held",
  "term-and-seq": "a cursor is valid only when the row there has its term",
  "fresh-term": "a term never comes twice",
  "page-term": "a page is joined only under the term that is held",
  "head-above-from": "a head decides on all rows above the one that it vouches for",
  "seen-resub": "what cannot be placed asks for a head",
  "old-socket": "frames of an earlier socket are ignored",
  "stale-ops": "an op at or below the version does nothing",
  "seq-at-seal": "a row gets its seq when it is sealed",
  "live-rows-stay": "what is not sealed is never evicted",
  "delta-offset": "a delta is placed by its offset",
  "op-is-evidence": "an op that names a message is evidence for the outbox",
  "head-is-evidence": "a head that names a message is evidence for the outbox",
  "ack-is-evidence": "an answer that says sealed or dropped is evidence for the outbox",
  "outbox-not-by-page": "a page is no evidence for the outbox",
  "outbox-not-unplaced": "an op that cannot be placed is no evidence for the outbox",
  "hi-is-tail": "after a head an attached window reaches the tail, or asks again",
} as const;

export type RuleName = keyof typeof rules;
/** The rule that is taken away, if any. */
export type Off = RuleName | null;
