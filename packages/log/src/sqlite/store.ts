/** What the parts of the SQLite log share: the one connection, its statements, its transactions, what it knows of logs. */
import type { LogId } from "@varve/protocol";
import { rootSegments, type Segment } from "../segments.ts";
import { logIdIn, number } from "./decode.ts";
import type { Database } from "./driver.ts";
import { prepareStatements, type Statements } from "./statements.ts";
import { Transactions } from "./transaction.ts";

/** Logs whose segments are remembered, and whose tails; beyond it all are forgotten and read anew. */
const segmentCacheMax = 1000;

export class Store {
  readonly database: Database;
  readonly sql: Statements;
  readonly transactions: Transactions;
  readonly #segments = new Map<LogId, readonly Segment[]>();
  readonly #tails = new Map<LogId, number>();

  constructor(database: Database) {
    this.database = database;
    this.sql = prepareStatements(database);
    this.transactions = new Transactions(database);
  }

  /** Null for a log that does not exist. */
  segmentsOf(logId: LogId): readonly Segment[] | null {
    const known = this.#segments.get(logId);
    if (known !== undefined) return known;
    const found = this.#readSegments(logId);
    if (found === null) return null;
    if (this.#segments.size >= segmentCacheMax) this.#segments.clear();
    this.#segments.set(logId, found);
    return found;
  }

  /** Whoever removes a log calls this. A log that is made is remembered at its first use, after its transaction. */
  forgetSegments(): void {
    this.#segments.clear();
    this.#tails.clear();
  }

  /** What the tail was when this process last wrote. Whoever goes by it has the statement check it, for it may be wrong. */
  guessedTail(logId: LogId): number | undefined {
    return this.#tails.get(logId);
  }

  guessTail(logId: LogId, tail: number): void {
    if (this.#tails.size >= segmentCacheMax) this.#tails.clear();
    this.#tails.set(logId, tail);
  }

  /** The highest seq of a log, from its rows: 0 when it has none. */
  tailOf(segments: readonly Segment[]): number {
    const own = segments.at(-1);
    if (own === undefined) return 0;
    const row = this.sql.ownTail.get(own.source);
    return row === undefined || row.tail === null ? own.lo - 1 : number(row, "tail");
  }

  #readSegments(logId: LogId): readonly Segment[] | null {
    if (this.sql.log.get(logId) === undefined) return null;
    const stored = this.sql.segments.all(logId);
    if (stored.length === 0) return rootSegments(logId);
    return stored.map((row) => ({
      source: logIdIn(row, "source_id"),
      lo: number(row, "lo"),
      hi: row.hi === null ? Infinity : number(row, "hi"),
    }));
  }
}
