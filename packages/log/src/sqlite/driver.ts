/**
 * The one door to the SQLite engine. Two engines speak the same API; what differs between them, and what is a trap in
 * either (booleans, undefined, whole numbers, rows without a prototype), is made equal here and nowhere else.
 */
import { isBuiltin } from "node:module";
import process from "node:process";
import { type Fault, fault } from "@varve/protocol";

export type SqlValue = string | number | bigint | boolean | null | undefined | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;

export interface Statement {
  /** The number of rows changed. */
  run(...values: readonly SqlValue[]): number;
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  all(...values: readonly SqlValue[]): readonly SqlRow[];
}

export interface Database {
  readonly path: string;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /**
   * Before the `close` of a sound file: brings everything into the one file. One engine keeps a file open behind its
   * `close` until the garbage collector has found every statement; by then the folder may hold another database, whose
   * write-ahead log it would take for its own. So none is left to it.
   */
  settle(): void;
  close(): void;
}

export interface Engine {
  readonly name: string;
  /** Of the SQLite library itself. */
  readonly version: string;
  open(path: string, options?: { readonly readOnly?: boolean }): Database;
}

/** Before this version two connections on one write-ahead log could corrupt it. */
export const oldestSafeVersion = "3.51.3";

/** Negative when a is older. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const isSafe = (version: string | undefined): boolean =>
  version !== undefined && compareVersions(version, oldestSafeVersion) >= 0;

/** Node's own engine where it is new enough, else the package that carries one, else a refusal. */
export async function loadEngine(): Promise<Engine | Fault> {
  const bundled = process.versions.sqlite;
  if (isSafe(bundled) && isBuiltin("node:sqlite")) return asEngine("node:sqlite", await importBuiltin());
  try {
    const engine = asEngine("@photostructure/sqlite", await import("@photostructure/sqlite"));
    return isSafe(engine.version) ? engine : tooOld(engine.version);
  } catch (error) {
    return noEngine(error);
  }
}

const tooOld = (version: string): Fault =>
  fault(
    "log-unavailable",
    `The SQLite found here is ${version}; Varve needs ${oldestSafeVersion} or later, because older ones can lose data.`,
    "Install Node 24, or the package @photostructure/sqlite in its newest version.",
  );

const noEngine = (error: unknown): Fault =>
  fault(
    "log-unavailable",
    `No SQLite engine can be loaded here (${error instanceof Error ? error.message : String(error)}).`,
    "Install Node 24, which has one, or let npm install the optional package @photostructure/sqlite.",
  );

type Bound = string | number | bigint | null | Uint8Array;
interface RawStatement {
  run(...values: Bound[]): { readonly changes: number | bigint };
  get(...values: Bound[]): unknown;
  all(...values: Bound[]): unknown[];
}
interface RawDatabase {
  exec(sql: string): void;
  prepare(sql: string): RawStatement;
  close(): void;
}
interface EngineModule {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => RawDatabase;
}

/** Node 22 announces its engine as experimental on standard error at each start; the rest of its warnings stay. */
async function importBuiltin(): Promise<EngineModule> {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: readonly unknown[]): void => {
    if (!String(warning).includes("SQLite is an experimental feature"))
      Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return await import("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}

function asEngine(name: string, module: EngineModule): Engine {
  const open = (path: string, options: { readonly readOnly?: boolean } = {}): Database =>
    new OpenDatabase(path, new module.DatabaseSync(path, { readOnly: options.readOnly ?? false }), name);
  const memory = open(":memory:");
  const version = memory.prepare("SELECT sqlite_version() AS version").get()?.version;
  memory.close();
  return { name, version: String(version), open };
}

class OpenDatabase implements Database {
  readonly path: string;
  readonly #raw: RawDatabase;
  #isOpen = true;
  readonly #closesWhole: boolean;
  constructor(path: string, raw: RawDatabase, engine: string) {
    this.path = path;
    this.#raw = raw;
    this.#closesWhole = engine === "node:sqlite";
  }
  settle(): void {
    if (this.#isOpen && !this.#closesWhole) this.#raw.exec("PRAGMA journal_mode = DELETE");
  }
  exec(sql: string): void {
    this.#raw.exec(sql);
  }
  prepare(sql: string): Statement {
    return statementOf(this.#raw.prepare(sql));
  }
  /** Closing twice is fine. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#raw.close();
  }
}

const bound = (values: readonly SqlValue[]): Bound[] => values.map(bindable);

const statementOf = (raw: RawStatement): Statement => ({
  run: (...values) => Number(raw.run(...bound(values)).changes),
  get: (...values) => rowOrNothing(raw.get(...bound(values))),
  all: (...values) => raw.all(...bound(values)).map(plainRow),
});

/** What both engines bind alike. A whole number goes as a bigint: as a number, either would store some of them as floats. */
export function bindable(value: SqlValue): Bound {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value ? 1n : 0n;
  return Number.isSafeInteger(value) ? BigInt(Number(value)) : value;
}

const rowOrNothing = (row: unknown): SqlRow | undefined =>
  row === undefined || row === null ? undefined : plainRow(row);

// The engines give rows without a prototype, which compare unequal to ordinary objects. Object is all that a row can be.
const plainRow = (row: unknown): SqlRow => ({ ...(row as object) }) as SqlRow;
