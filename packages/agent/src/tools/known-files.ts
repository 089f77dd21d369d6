/**
 * What a tab knows of the files it has read or written: the bytes' hash, or for a file too large to hash its size and
 * time. A change is judged by the bytes where they are known, so a mere `touch` is none.
 */
import { createHash } from "node:crypto";
import { toolLimits } from "./limits.ts";
import type { FileFacts } from "./operations.ts";

export interface KnownFile {
  /** Null for a file that was too large to be read whole. */
  readonly hash: string | null;
  readonly size: number;
  readonly modified: string;
}

export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export const knownFrom = (facts: FileFacts, hash: string | null): KnownFile => ({
  hash,
  size: facts.size,
  modified: facts.modified,
});

export class KnownFiles {
  /** By real path, the longest unused first. */
  readonly #byPath = new Map<string, KnownFile>();

  get(path: string): KnownFile | undefined {
    const known = this.#byPath.get(path);
    if (known !== undefined) this.remember(path, known);
    return known;
  }

  remember(path: string, known: KnownFile): void {
    this.#byPath.delete(path);
    this.#byPath.set(path, known);
    for (const oldest of this.#byPath.keys()) {
      if (this.#byPath.size <= toolLimits.readFilesMax) break;
      this.#byPath.delete(oldest);
    }
  }
}

/** True when the file is not what it was when this tab last read or wrote it. */
export function hasChanged(known: KnownFile, now: KnownFile): boolean {
  if (known.hash !== null && now.hash !== null) return known.hash !== now.hash;
  return known.size !== now.size || known.modified !== now.modified;
}
