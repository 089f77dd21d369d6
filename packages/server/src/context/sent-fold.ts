/** One request of the past, folded once more. Pure. */
import { type ResolvedModel, summaryBodies } from "@varve/agent";
import { type Effort, type Fault, isFault, type StoredRow } from "@varve/protocol";
import { type BlobLookup, buildRequest, foldAt, rowsOfRequest, type WireRequest } from "@varve/wire";
import type { Sent } from "./log-reading.ts";

export interface SentFold {
  readonly rows: readonly StoredRow[];
  readonly sent: Sent;
  readonly model: ResolvedModel;
  readonly effort: Effort;
  readonly blobs: BlobLookup;
}

/** A summary's request is found among the bodies that it may have had; else it is shown without its question. */
export function foldOfSent({ rows, sent, model, effort, blobs }: SentFold): WireRequest | Fault {
  const how = { target: model.target, effort, blobs };
  if (sent.purpose === "compaction") {
    for (const body of summaryBodies(rowsOfRequest(rows, sent.seq), model.facts.contextTokens)) {
      const built = buildRequest({ ...how, rows: body, modelName: sent.model });
      if (!isFault(built) && built.tailHash === sent.tailHash) return built;
    }
  }
  return foldAt({ ...how, rows }, sent.seq);
}
