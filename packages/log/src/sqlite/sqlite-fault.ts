import { type Fault, fault, isFault } from "@varve/protocol";

/** Primary result codes of SQLite that are the world's doing and not ours. */
const busy = 5;
const locked = 6;
const noMemory = 7;
const readOnly = 8;
const ioError = 10;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const noPermission = 3;
const noLock = 15;
const authorization = 23;
const notADatabase = 26;

/**
 * How SQLite words these codes. The texts are part of the library and do not depend on a language; the package engine
 * gives some errors of a running statement with the text alone.
 */
const codeOfText: Readonly<Record<string, number>> = {
  "database disk image is malformed": corrupt,
  "file is not a database": notADatabase,
  "database or disk is full": full,
  "disk I/O error": ioError,
  "database is locked": busy,
  "database table is locked": locked,
  "attempt to write a readonly database": readOnly,
  "unable to open database file": cannotOpen,
  "out of memory": noMemory,
  "locking protocol": noLock,
  "access permission denied": noPermission,
  "authorization denied": authorization,
};

/** The engine's primary result code, or null when the error does not come from the engine. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff;
  return codeOfText[error.message] ?? null;
}

/** The fault that an engine's or the system's error stands for; null when it is a mistake of ours. */
export function faultOf(error: unknown, path: string): Fault | null {
  const code = sqliteCode(error);
  const text = error instanceof Error ? error.message : String(error);
  if (code === null) return systemFault(error, path, text);
  if (code === full) return diskFull(path);
  if (code === corrupt || code === notADatabase) return damaged(path, text);
  if (code === busy || code === locked) return keptLocked(path);
  if (code === readOnly || code === noPermission || code === cannotOpen || code === authorization)
    return noAccess(path, text);
  if (code === ioError || code === noMemory || code === noLock) return ioFault(path, text);
  return null;
}

/** Another program holds the file. Distinct, because it passes by itself: the log waits before it gives this as an answer. */
export interface BusyFault extends Fault {
  readonly busyPath: string;
}
export const isBusyFault = (value: unknown): value is BusyFault => isFault(value) && "busyPath" in value;

const keptLocked = (path: string): BusyFault => ({
  ...fault(
    "log-unavailable",
    `Another program keeps ${path} locked.`,
    "Nothing was lost. Close what else has the file open (a database browser, a backup); it is tried again by itself.",
  ),
  busyPath: path,
});

export const diskFull = (path: string): Fault =>
  fault(
    "disk-full",
    `The disk that holds ${path} is full.`,
    "What was saved is safe. Free some space, then try again.",
  );

export const damaged = (path: string, detail: string): Fault =>
  fault(
    "log-damaged",
    `The database ${path} is damaged (${detail}).`,
    "Nothing was deleted or changed. Stop Varve, copy that file and its -wal file aside, then restore a backup, or " +
      "rescue what can be read with: sqlite3 damaged.db .recover",
  );

const noAccess = (path: string, detail: string): Fault =>
  fault(
    "log-unavailable",
    `${path} cannot be opened for writing (${detail}).`,
    "Check who owns it and its permissions.",
  );

const ioFault = (path: string, detail: string): Fault =>
  fault("log-unavailable", `Reading or writing ${path} failed (${detail}).`, "What was saved is safe. Check the disk.");

const systemFaults: Readonly<Record<string, (path: string, detail: string) => Fault>> = {
  ENOSPC: diskFull,
  EDQUOT: diskFull,
  EACCES: noAccess,
  EPERM: noAccess,
  EROFS: noAccess,
  ENOTDIR: noAccess,
  EISDIR: noAccess,
  EEXIST: noAccess,
  ENOENT: noAccess,
  ELOOP: noAccess,
  ENAMETOOLONG: noAccess,
  EIO: ioFault,
  EMFILE: ioFault,
  ENFILE: ioFault,
  EBUSY: ioFault,
  ETXTBSY: ioFault,
};

function systemFault(error: unknown, path: string, detail: string): Fault | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  return typeof error.code === "string" ? (systemFaults[error.code]?.(path, detail) ?? null) : null;
}
