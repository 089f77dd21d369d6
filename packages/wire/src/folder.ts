/**
 * CONTRACT. A folder makes the requests of one log, one after another, at the cost of the rows that are new since the last
 * one. What it answers is byte for byte what a fold of all rows gives: it remembers work, never facts.
 */
import type { BlobHash, Fault, StoredRow } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import { type BlobLookup, blobsOf, neededBlobs, type ResolvedBlob } from "./blobs.ts";
import type { Links } from "./canonical.ts";
import { inOrder, isInOrder } from "./fold.ts";
import type { RequestInput, WireRequest } from "./request.ts";
import { RequestFold } from "./request-fold.ts";

export interface Folder {
  /**
   * Like `buildRequest`. Rows of another log, a shorter list, or another target, effort or blob make it begin anew.
   * Rows are told apart by identity: what an owner holds in memory stays the same objects.
   */
  request(input: Omit<RequestInput, "previousChain">): WireRequest | Fault;
  /** What a request of these rows would look up that it has not looked up before. */
  neededBlobs(rows: readonly StoredRow[]): readonly BlobHash[];
}

export const createFolder = (): Folder => new LogFolder();

/** One request, from nothing. */
export const buildRequest = (input: RequestInput): WireRequest | Fault =>
  new LogFolder(input.previousChain).request(input);

/** How many rows were folded; the first and the last of them tell whether a list goes on where they end. */
interface Seen {
  readonly count: number;
  readonly first: StoredRow | undefined;
  readonly last: StoredRow | undefined;
}

class LogFolder implements Folder {
  #fold: RequestFold | null = null;
  #seen: Seen = seenOf([]);
  /** Chain of the last request that could be sent; only for telling where two requests part. */
  #lastChain: Links | undefined;
  /** Bytes that stand in the messages, and hashes whose bytes were gone. */
  #blobs = new Map<BlobHash, ResolvedBlob>();
  #gone = new Set<BlobHash>();

  constructor(previousChain?: readonly string[]) {
    this.#lastChain = previousChain;
  }

  request(input: Omit<RequestInput, "previousChain">): WireRequest | Fault {
    const ask = input.blobs ?? (() => undefined);
    const fold = this.#grown(input, ask) ?? this.#anew(input, ask);
    const { rows, modelName, effort } = input;
    const made = fold.request({ rows, modelName, effort, previousChain: this.#lastChain });
    if (isFault(made)) return made;
    if (!made.request.endsDerived) this.#lastChain = made.chain;
    return made.request;
  }

  neededBlobs(rows: readonly StoredRow[]): readonly BlobHash[] {
    const fresh = this.#freshOf(rows);
    const needed = fresh === null || fresh.some(beginsEpoch) ? neededBlobs(rows) : blobsOf(fresh);
    return needed.filter((hash) => !this.#blobs.has(hash) && !this.#gone.has(hash));
  }

  /** The fold so far with the new rows, or null when it can't go on. */
  #grown({ rows, target }: RequestInput, ask: BlobLookup): RequestFold | null {
    const fresh = this.#freshOf(rows);
    if (this.#fold === null || fresh === null || !this.#fold.isFor(target)) return null;
    if (!isInOrder(rows, this.#seen.count)) return null;
    if ([...this.#gone].some((hash) => ask(hash) !== undefined)) return null;
    this.#ask = ask;
    if (!this.#fold.extend(fresh)) return null;
    this.#seen = seenOf(rows);
    return this.#fold;
  }

  #anew({ rows, target }: RequestInput, ask: BlobLookup): RequestFold {
    const before = this.#blobs;
    this.#ask = (hash) => before.get(hash) ?? ask(hash);
    this.#blobs = new Map();
    this.#gone = new Set();
    const ordered = inOrder(rows);
    this.#fold = new RequestFold(ordered, target, (hash) => this.#lookUp(hash));
    // A list that had to be sorted is sorted again with the next request.
    this.#seen = ordered === rows ? seenOf(rows) : seenOf([]);
    return this.#fold;
  }

  #freshOf(rows: readonly StoredRow[]): readonly StoredRow[] | null {
    const { count, first, last } = this.#seen;
    if (count === 0 || rows.length < count || rows[0] !== first || rows[count - 1] !== last) return null;
    return rows.slice(count);
  }

  #ask: BlobLookup = () => undefined;

  #lookUp(hash: BlobHash): ResolvedBlob | undefined {
    const found = this.#blobs.get(hash) ?? this.#ask(hash);
    if (found === undefined) this.#gone.add(hash);
    else this.#blobs.set(hash, found);
    return found;
  }
}

const seenOf = (rows: readonly StoredRow[]): Seen => ({ count: rows.length, first: rows[0], last: rows.at(-1) });

const beginsEpoch = ({ data }: StoredRow): boolean =>
  "kind" in data && (data.kind === "prefix" || data.kind === "compaction" || data.kind === "compaction-undo");
