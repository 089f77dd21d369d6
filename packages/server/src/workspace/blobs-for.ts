import type { BlobStore } from "@varve/log";
import type { BlobHash, StoredRow } from "@varve/protocol";
import { type BlobLookup, neededBlobs, type ResolvedBlob } from "@varve/wire";

/** Pictures and files that a fold of these rows will ask for. One that is gone becomes a constant text there. */
export async function blobsFor(store: BlobStore, rows: readonly StoredRow[]): Promise<BlobLookup> {
  const found = new Map<BlobHash, ResolvedBlob>();
  for (const hash of neededBlobs(rows)) {
    const blob = await store.get(hash);
    if (blob !== null) found.set(hash, { base64: Buffer.from(blob.bytes).toString("base64") });
  }
  return (hash) => found.get(hash);
}
