import type { JsonObject } from "../json.ts";
import type { OpenBlock } from "./reply-plan.ts";

/** Input tokens of one request, in the four sorts that are billed apart. */
export interface InputFigures {
  readonly fresh: number;
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
}

/**
 * One answer in a vendor's words. Each step returns the text to send; the stream keeps what was said so far, so the
 * same steps also make the answer to a request that is not streamed. Opening closes what is open.
 */
export interface ReplyStream {
  start(): string;
  open(block: OpenBlock): string;
  /** Adds to the open block. */
  delta(text: string): string;
  close(): string;
  /** The closing events. */
  finish(stopReason: string): string;
  /** An error event inside the stream. */
  error(errorType: string, message: string): string;
  /** The type of the block that is open, or null. */
  openType(): OpenBlock["type"] | null;
  /** The whole answer as one JSON value; everything is said and closed. */
  whole(stopReason: string): JsonObject;
}
