/**
 * CONTRACT. A folder makes the requests of one log, one after another, at the cost of the rows that are new since the last
 * one. What it answers is byte for byte what a fold of all rows gives: it remembers work, never facts.
 */
import type { BlobHash, Fault, StoredRow } from "@varve/protocol";
import type { RequestInput, WireRequest } from "./request.ts";

export interface Folder {
  /** Like `buildRequest`. Rows of another log, a shorter list, or another target, effort or blob make it begin anew. */
  request(input: Omit<RequestInput, "previousChain">): WireRequest | Fault;
  /** What a request of these rows would look up that it has not looked up before. */
  neededBlobs(rows: readonly StoredRow[]): readonly BlobHash[];
}
