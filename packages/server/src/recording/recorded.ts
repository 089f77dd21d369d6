/** What a recording says of one model request, whichever tool wrote it. */
import type { ModelFacts, UsageData } from "@varve/agent";
import type { CacheTtl } from "@varve/protocol";

export interface RecordedRequest {
  /** Place among the requests of the file, from 0. */
  readonly index: number;
  /** The request before it in its chain; null: it is the first. Let go once this one is closed, or no chain would ever be. */
  before: RecordedRequest | null;
  /** Something between the two made the context a summary. */
  readonly compacted: boolean;
  /** Milliseconds. */
  readonly startedAt: number;
  readonly facts: ModelFacts;
  /** Whether its provider bills to the token. */
  readonly exact: boolean;
  /** What was chosen beside the model; "" where the recording does not say. */
  readonly options: string;
  /** The last word counts: a request may be written while it still runs. */
  usage: UsageData;
  ttl: CacheTtl | null;
  /** US dollars, as the recording says. */
  told: number | null;
}

/** Where a chain stands behind one of its entries. */
export interface Tip {
  readonly last: RecordedRequest | null;
  readonly compacted: boolean;
  readonly options: string;
  /** Milliseconds, of the entry. */
  readonly at: number | null;
}
export const emptyTip: Tip = { last: null, compacted: false, options: "", at: null };

export type NewRequest = Pick<RecordedRequest, "startedAt" | "facts" | "exact" | "usage" | "ttl" | "told">;

/** A reader of one format: takes the lines in their order. */
export interface RecordingReader {
  line(fields: Readonly<Record<string, unknown>>): void;
}
