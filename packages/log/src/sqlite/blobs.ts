import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { assert, type BlobHash, type Clock, type Fault, isFault, parseBlobHash } from "@varve/protocol";
import type { BlobEntry, BlobStore } from "../log.ts";
import { plainText } from "../well-formed.ts";
import { blobIn } from "./decode.ts";
import { patiently } from "./patience.ts";
import { faultOf } from "./sqlite-fault.ts";
import type { Store } from "./store.ts";
import { kept } from "./transaction.ts";

export function blobHash(bytes: Uint8Array): BlobHash {
  const hash = parseBlobHash(createHash("sha256").update(bytes).digest("hex"));
  assert(hash !== null, "a SHA-256 is a legal blob name");
  return hash;
}

/**
 * Blobs as files `ab/abcd...` under one folder. A name only ever comes to stand for whole, synced bytes: they are
 * written beside, synced and renamed, and the folder is synced before the answer.
 */
export function fileBlobs(store: Store, folder: string, clock: Clock): BlobStore {
  let made = 0;
  const nextTemporary = () => join(folder, `.writing-${process.pid}-${++made}`);
  return {
    put: (bytes, mediaType) => putBlob({ store, folder, clock, temporary: nextTemporary() }, bytes, mediaType),
    get: async (blob) => {
      const entry = store.transactions.readOrThrow(() => readEntry(store, blob));
      if (entry === null) return null;
      const bytes = await readIfWhole(fileOf(folder, blob), entry.size);
      return bytes === null ? null : { bytes, mediaType: entry.mediaType };
    },
  };
}

interface Place {
  readonly store: Store;
  readonly folder: string;
  readonly clock: Clock;
  readonly temporary: string;
}

async function putBlob(place: Place, bytes: Uint8Array, mediaType: string): Promise<BlobEntry | Fault> {
  const blob = blobHash(bytes);
  const written = await writeFault(place, blob, bytes);
  if (written !== null) return written;
  const { store, clock } = place;
  const recorded = await patiently(clock, () =>
    store.transactions.write(() => {
      store.sql.insertBlob.run(blob, plainText(mediaType), bytes.byteLength, clock.now());
      return kept(readEntry(store, blob));
    }),
  );
  if (isFault(recorded)) return recorded;
  assert(recorded !== null, "a blob that was recorded is found");
  return recorded;
}

async function writeFault(place: Place, blob: BlobHash, bytes: Uint8Array): Promise<Fault | null> {
  const file = fileOf(place.folder, blob);
  try {
    if ((await sizeOf(file)) !== bytes.byteLength) await writeWhole(place, file, bytes);
    return null;
  } catch (error) {
    // What was half written is of no use; when it can't be removed either, it only takes room.
    await unlink(place.temporary).catch(() => undefined);
    const found = faultOf(error, file);
    if (found === null) throw error;
    return found;
  }
}

async function writeWhole({ folder, temporary }: Place, file: string, bytes: Uint8Array): Promise<void> {
  const shelf = join(file, "..");
  await mkdir(shelf, { recursive: true, mode: 0o700 });
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncFolder(shelf);
  await syncFolder(folder);
}

/** Makes the names in a folder durable. Where a folder cannot be opened (Windows), the system does it by itself. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const fileOf = (folder: string, blob: BlobHash): string => join(folder, blob.slice(0, 2), blob);

function readEntry(store: Store, blob: BlobHash): BlobEntry | null {
  const row = store.sql.blob.get(blob);
  return row === undefined ? null : blobIn(row);
}

async function sizeOf(file: string): Promise<number | null> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function readIfWhole(file: string, size: number): Promise<Uint8Array | null> {
  try {
    const bytes = await readFile(file);
    return bytes.byteLength === size ? bytes : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";
