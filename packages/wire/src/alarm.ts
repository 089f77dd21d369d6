/** Something in a log that its writers should never have sealed. The fold goes on; the caller logs and counts. */
export type AlarmCode =
  /** A call of a closed step has no result; the constant text stands for it for ever. */
  | "missing-result"
  /** A result came after a later step or turn had begun. */
  | "late-result"
  /** A second result of one call. */
  | "duplicate-result"
  /** A result that answers no call. */
  | "orphan-result"
  /** An assistant's row came after a later step or turn had begun. */
  | "late-row"
  /** Two calls share an id; the later one got a name of its own on the wire. */
  | "renamed-call"
  /** The bytes of an attachment are gone. */
  | "missing-blob";

export interface Alarm {
  readonly code: AlarmCode;
  readonly seq: number;
  readonly callId?: string;
}
