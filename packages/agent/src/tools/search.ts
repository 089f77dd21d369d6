/**
 * Searching a tree: by ripgrep where its program runs, else by our own walk. Both give the same records in the same order.
 * The first run takes everything as it comes, with all processors, and sorts; if that is too much to hold, a second run
 * walks in order and stops once it has enough.
 */
import { join } from "node:path";
import { toolLimits } from "./limits.ts";
import { type ToolOperations, WorldFault } from "./operations.ts";
import { ToolFault } from "./outcome.ts";
import { comparePaths } from "./path-order.ts";
import { walkFiles } from "./walk.ts";

export interface SearchScope {
  /** The real directory that is searched. */
  readonly root: string;
  /** One file in it instead of all. */
  readonly only: string | null;
  /** Relative to the root: never looked into. */
  readonly denied: readonly string[];
  readonly accepts: (path: string) => boolean;
  /** Records wanted at most. */
  readonly max: number;
  readonly signal: AbortSignal;
}

export interface Found<T> {
  readonly records: readonly T[];
  /** There is more than `records`. */
  readonly more: boolean;
  /** Ended by time before it was through. */
  readonly slow: boolean;
}

export interface RecordKind<T> {
  readonly args: readonly string[];
  /** Splits ripgrep's output: what ends a record, and a record from its text (null: not one of ours). */
  readonly separator: number;
  readonly parse: (text: string) => T | null;
  readonly pathOf: (record: T) => string;
  /** Without ripgrep: the records of one file. */
  readonly fromFile: (path: string, signal: AbortSignal) => Promise<readonly T[]>;
}

/** Bytes of one record; a longer one is cut there. */
const recordBytesMax = 64 * 1024;

export async function search<T>(
  operations: ToolOperations,
  scope: SearchScope,
  kind: RecordKind<T>,
): Promise<Found<T>> {
  const limit = new AbortController();
  const timer = operations.clock.setTimer(toolLimits.searchMs, () => limit.abort());
  const signal = AbortSignal.any([scope.signal, limit.signal]);
  try {
    const program = await operations.processes.ripgrep();
    const found =
      program === null
        ? await byWalking(operations, { ...scope, signal }, kind)
        : await byRipgrep(operations, { ...scope, signal }, { kind, program });
    return { ...found, slow: limit.signal.aborted };
  } finally {
    timer.cancel();
  }
}

interface WithProgram<T> {
  readonly kind: RecordKind<T>;
  readonly program: string;
}
type Part<T> = Omit<Found<T>, "slow">;

/** The program follows names, so it is sent to the very directory or file that was checked and is held open meanwhile. */
async function byRipgrep<T>(operations: ToolOperations, scope: SearchScope, given: WithProgram<T>): Promise<Part<T>> {
  const { files } = operations;
  const { only } = scope;
  const held = await files.hold(scope.root);
  try {
    const directory = { ...scope, root: held.path };
    return only === null
      ? await inOrder(operations, directory, given)
      : await inFile(operations, { ...directory, only }, { ...given, whole: join(scope.root, only) });
  } finally {
    await held.close();
  }
}

/** Records name the file as it was opened; they get its own name back. */
async function inFile<T>(
  operations: ToolOperations,
  scope: SearchScope & { readonly only: string },
  { kind, program, whole }: WithProgram<T> & { readonly whole: string },
): Promise<Part<T>> {
  const file = await operations.files.open(whole);
  try {
    if (file.facts.kind !== "file") throw new WorldFault("MOVED", whole);
    const named = (text: string): string =>
      text.startsWith(file.path) ? `${scope.only}${text.slice(file.path.length)}` : text;
    const renamed = { ...kind, parse: (text: string) => kind.parse(named(text)) };
    return await inOrder(operations, { ...scope, only: file.path }, { kind: renamed, program });
  } finally {
    await file.close();
  }
}

async function inOrder<T>(operations: ToolOperations, scope: SearchScope, given: WithProgram<T>): Promise<Part<T>> {
  const whole = await runOnce(operations, scope, { ...given, sorted: false, max: toolLimits.searchRecordsMax });
  if (!whole.more) {
    const { pathOf } = given.kind;
    const byPath = new Map<string, T[]>();
    for (const record of whole.records) {
      const path = pathOf(record);
      const same = byPath.get(path);
      if (same === undefined) byPath.set(path, [record]);
      else same.push(record);
    }
    const sorted = [...byPath].sort(([a], [b]) => comparePaths(a, b)).flatMap(([, records]) => records);
    return { records: sorted.slice(0, scope.max), more: sorted.length > scope.max };
  }
  return await runOnce(operations, scope, { ...given, sorted: true, max: scope.max });
}

async function runOnce<T>(
  operations: ToolOperations,
  scope: SearchScope,
  { kind, program, sorted, max }: WithProgram<T> & { readonly sorted: boolean; readonly max: number },
): Promise<Part<T>> {
  const records: T[] = [];
  let more = false;
  const split = splitter(kind.separator, (text) => {
    const record = kind.parse(text);
    if (record === null || !scope.accepts(kind.pathOf(record))) return true;
    more = records.length >= max;
    if (!more) records.push(record);
    return !more;
  });
  const { code, stderr } = await operations.processes.run({
    file: program,
    args: ripgrepArgs(scope, kind.args, sorted),
    cwd: scope.root,
    signal: scope.signal,
    onBytes: split,
  });
  if (code === 2 && records.length === 0 && stderr !== "") throw new ToolFault(`The search failed: ${stderr.trim()}`);
  return { records, more };
}

/** No settings of the user, so that the same tree gives the same bytes; git's rules also outside of a repository. */
function ripgrepArgs(scope: SearchScope, own: readonly string[], sorted: boolean): readonly string[] {
  return [
    ...["--no-config", "--color=never", "--hidden", "--no-require-git", "--no-ignore-global", "--no-messages"],
    ...["--no-heading", "--with-filename", "--null", "--no-follow"],
    ...["!.git", ...scope.denied.map((path) => `!/${escapeGlob(path)}`)].flatMap((glob) => ["--glob", glob]),
    ...(sorted ? ["--sort=path"] : []),
    ...own,
    // A whole path, so that it can't be taken for an option.
    ...(scope.only === null ? [] : [scope.only]),
  ];
}

const escapeGlob = (path: string): string => path.replace(/[\\*?[\]{}!]/g, "\\$&");

/** Feeds whole records, as text without their end. Answers false once the taker has had enough. */
function splitter(separator: number, take: (text: string) => boolean): (bytes: Uint8Array) => boolean {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  return (bytes) => {
    let from = 0;
    for (let at = bytes.indexOf(separator); at !== -1; at = bytes.indexOf(separator, from)) {
      const text = Buffer.concat([...held, bytes.subarray(from, at)]).toString("utf8");
      held = [];
      heldBytes = 0;
      from = at + 1;
      if (!take(text)) return false;
    }
    const rest = bytes.subarray(from, from + Math.max(0, recordBytesMax - heldBytes));
    if (rest.length > 0) held.push(rest.slice());
    heldBytes += rest.length;
    return true;
  };
}

async function byWalking<T>(operations: ToolOperations, scope: SearchScope, kind: RecordKind<T>): Promise<Part<T>> {
  const records: T[] = [];
  for await (const path of filesOf(operations, scope)) {
    if (!scope.accepts(path)) continue;
    for (const record of await kind.fromFile(join(scope.root, path), scope.signal)) {
      if (records.length >= scope.max) return { records, more: true };
      records.push(record);
    }
  }
  return { records, more: false };
}

async function* filesOf(operations: ToolOperations, scope: SearchScope): AsyncGenerator<string> {
  if (scope.only !== null) yield scope.only;
  else yield* walkFiles(operations.files, scope);
}
