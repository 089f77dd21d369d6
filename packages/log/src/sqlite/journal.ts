/**
 * The side file of open blocks. Its own connection, synced lazily: it survives the death of the process, and losing its
 * end with the power is allowed. A block's pieces are removed when it closes, so the file is as large as what was once
 * open at a time. Opened at the first use; a fault is counted, and the journal goes on without.
 */
import { renameSync, statSync } from "node:fs";
import type { ChunkId, JsonObject, LogId, TabId } from "@varve/protocol";
import { unreachable } from "@varve/protocol";
import { joinPiece } from "../journal-blocks.ts";
import type { Journal, JournalEntry, JournaledBlock } from "../log.ts";
import { number, tabIdIn, text } from "./decode.ts";
import type { Database, Engine, SqlRow, Statement } from "./driver.ts";

const schema = `
CREATE TABLE IF NOT EXISTS blocks (
  n INTEGER PRIMARY KEY, tab_id TEXT NOT NULL, log_id TEXT NOT NULL, id TEXT NOT NULL, meta_json TEXT NOT NULL,
  UNIQUE (tab_id, id)
) STRICT;
CREATE TABLE IF NOT EXISTS pieces (
  block INTEGER NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, text_json TEXT NOT NULL, PRIMARY KEY (block, n)
) STRICT, WITHOUT ROWID;
`;

const texts = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  open: `INSERT INTO blocks (tab_id, log_id, id, meta_json) VALUES (?, ?, ?, ?)
    ON CONFLICT (tab_id, id) DO UPDATE SET log_id = excluded.log_id, meta_json = excluded.meta_json`,
  piece: "INSERT INTO pieces (block, n, at, text_json) VALUES (?, ?, ?, ?)",
  place: `SELECT n AS block, coalesce((SELECT max(pieces.n) FROM pieces WHERE pieces.block = blocks.n), 0) AS pieces
    FROM blocks WHERE tab_id = ? AND id = ?`,
  dropPieces: "DELETE FROM pieces WHERE block = (SELECT n FROM blocks WHERE tab_id = ? AND id = ?)",
  dropBlock: "DELETE FROM blocks WHERE tab_id = ? AND id = ?",
  dropPiecesOfTab: "DELETE FROM pieces WHERE block IN (SELECT n FROM blocks WHERE tab_id = ?)",
  dropBlocksOfTab: "DELETE FROM blocks WHERE tab_id = ?",
  blocks: "SELECT n, log_id, id, meta_json FROM blocks WHERE tab_id = ? ORDER BY n",
  pieces: "SELECT at, text_json FROM pieces WHERE block = ? ORDER BY n",
  tabs: "SELECT tab_id FROM blocks GROUP BY tab_id ORDER BY min(n)",
} as const;
type JournalStatements = Readonly<Record<keyof typeof texts, Statement>>;

/** Where the next piece of an open block goes. */
interface Place {
  readonly block: number;
  pieces: number;
}

export interface FileJournal extends Journal {
  close(): void;
}

export class SqliteJournal implements FileJournal {
  readonly #engine: Engine;
  readonly #path: string;
  #open: { readonly database: Database; readonly sql: JournalStatements } | null = null;
  /** Of blocks that have got text here, so that a piece is one insert; forgotten whenever a write fails, and as they close. */
  readonly #places = new Map<string, Place>();
  #isClosed = false;
  #faults = 0;

  constructor(engine: Engine, path: string) {
    this.#engine = engine;
    this.#path = path;
  }

  write(entries: readonly JournalEntry[]): void {
    const done = this.#attempt(false, (sql) => {
      // A lone piece, as of a slow stream, needs no transaction of its own.
      if (entries.length === 1) for (const entry of entries) this.#writeEntry(sql, entry);
      else this.#writeTogether(sql, entries);
      return true;
    });
    // What was taken back, or not written, has not got the places that it was given.
    if (!done) this.#places.clear();
  }

  #writeTogether(sql: JournalStatements, entries: readonly JournalEntry[]): void {
    sql.begin.run();
    try {
      for (const entry of entries) this.#writeEntry(sql, entry);
      sql.commit.run();
    } catch (error) {
      sql.rollback.run();
      throw error;
    }
  }

  #writeEntry(sql: JournalStatements, entry: JournalEntry): void {
    switch (entry.entry) {
      case "open":
        sql.open.run(entry.tabId, entry.logId, entry.id, JSON.stringify(entry.meta));
        return;
      case "text": {
        const place = this.#placeOf(sql, entry);
        if (place === null) return;
        place.pieces += 1;
        // As JSON: it escapes what an engine would cut or alter, half a surrogate pair among it.
        sql.piece.run(place.block, place.pieces, entry.offset, JSON.stringify(entry.text));
        return;
      }
      case "closed":
        this.#places.delete(keyOf(entry));
        sql.dropPieces.run(entry.tabId, entry.id);
        sql.dropBlock.run(entry.tabId, entry.id);
        return;
      default:
        unreachable(entry);
    }
  }

  /** Null: there is no such block. */
  #placeOf(sql: JournalStatements, entry: Pick<JournalEntry, "tabId" | "id">): Place | null {
    const known = this.#places.get(keyOf(entry));
    if (known !== undefined) return known;
    const found = sql.place.get(entry.tabId, entry.id);
    if (found === undefined) return null;
    const place = { block: number(found, "block"), pieces: number(found, "pieces") };
    this.#places.set(keyOf(entry), place);
    return place;
  }

  blocksOf(tabId: TabId): readonly JournaledBlock[] {
    return this.#read([], (sql) => sql.blocks.all(tabId).map((row) => blockIn(row, sql.pieces.all(number(row, "n")))));
  }

  tabsWithBlocks(): readonly TabId[] {
    return this.#read([], (sql) => sql.tabs.all().map((row) => tabIdIn(row, "tab_id")));
  }

  clear(tabId: TabId): void {
    this.#places.clear();
    this.#read(undefined, (sql) => {
      sql.dropPiecesOfTab.run(tabId);
      sql.dropBlocksOfTab.run(tabId);
    });
  }

  faults(): number {
    return this.#faults;
  }

  close(): void {
    const open = this.#open;
    if (open !== null) this.#attempt(undefined, () => open.database.settle());
    this.#isClosed = true;
    this.#open = null;
    open?.database.close();
  }

  /** A home without a journal has no open blocks: nothing is made just to read it. */
  #read<T>(otherwise: T, work: (sql: JournalStatements) => T): T {
    const isThere = this.#open !== null || statSync(this.#path, { throwIfNoEntry: false }) !== undefined;
    return isThere ? this.#attempt(otherwise, work) : otherwise;
  }

  #attempt<T>(otherwise: T, work: (sql: JournalStatements) => T): T {
    if (this.#isClosed) return otherwise;
    try {
      this.#open ??= this.#openFile();
      return work(this.#open.sql);
    } catch {
      // A comfort, not a promise: without it a crash loses the text of the open block, as it would anyway.
      this.#faults += 1;
      return otherwise;
    }
  }

  #openFile(): { database: Database; sql: JournalStatements } {
    try {
      return openJournal(this.#engine, this.#path);
    } catch (error) {
      if (this.#faults > 0) throw error;
      // A damaged journal is kept beside for whoever wants to look, and a new one begun. Once; then it stays off.
      this.#faults += 1;
      renameSync(this.#path, `${this.#path}.damaged`);
      return openJournal(this.#engine, this.#path);
    }
  }
}

function openJournal(engine: Engine, path: string): { database: Database; sql: JournalStatements } {
  const database = engine.open(path);
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 0");
    database.exec(schema);
    const entries = Object.entries(texts).map(([name, sql]) => [name, database.prepare(sql)] as const);
    // The names are those of `texts`, one for one.
    return { database, sql: Object.fromEntries(entries) as JournalStatements };
  } catch (error) {
    database.close();
    throw error;
  }
}

const keyOf = ({ tabId, id }: Pick<JournalEntry, "tabId" | "id">): string => `${tabId}/${id}`;

/** A decoder of what `#writeEntry` wrote. */
function blockIn(row: SqlRow, pieces: readonly SqlRow[]): JournaledBlock {
  return {
    logId: text(row, "log_id") as LogId,
    id: text(row, "id") as ChunkId,
    meta: JSON.parse(text(row, "meta_json")) as JsonObject,
    text: pieces.reduce((whole, piece) => joinPiece(whole, number(piece, "at"), pieceText(piece)), ""),
  };
}

const pieceText = (piece: SqlRow): string => JSON.parse(text(piece, "text_json")) as string;
