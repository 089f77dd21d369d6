/**
 * Files of this machine. On Linux every open file is compared with the path it was opened for through /proc/self/fd, and
 * writes go through the descriptor of their directory, so that a link swapped in after the check is never followed.
 * Elsewhere the real path is looked up again after opening, which leaves a gap of one system call for writes.
 */
import type { BigIntStats } from "node:fs";
import { closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  opendir,
  readFile,
  readlink,
  realpath,
  rename,
  unlink,
} from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { toolLimits } from "./limits.ts";
import {
  type DirectoryEntry,
  type FileFacts,
  type FileKind,
  type FileOperations,
  type OpenFile,
  type SpillFile,
  type StagedFile,
  WorldFault,
} from "./operations.ts";

const onLinux = process.platform === "linux";

interface Kinds {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
}

function kindOf(kinds: Kinds): FileKind {
  if (kinds.isFile()) return "file";
  if (kinds.isDirectory()) return "directory";
  if (kinds.isSymbolicLink()) return "link";
  if (kinds.isFIFO()) return "fifo";
  return kinds.isSocket() ? "socket" : "device";
}

const factsOf = (stats: BigIntStats): FileFacts => ({
  kind: kindOf(stats),
  size: Number(stats.size),
  mode: Number(stats.mode) & 0o7777,
  modified: String(stats.mtimeNs),
});

/** The system's error code, or null when the value is no such error. */
export function codeOf(thrown: unknown): string | null {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : null;
}

async function worded<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (thrown) {
    const code = codeOf(thrown);
    throw code === null || thrown instanceof WorldFault ? thrown : new WorldFault(code, path);
  }
}

async function facts(path: string): Promise<FileFacts | null> {
  try {
    return factsOf(await lstat(path, { bigint: true }));
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw code === null ? thrown : new WorldFault(code, path);
  }
}

/** Fails unless the descriptor is what stands at this real path. */
async function assertStill(handle: FileHandle, path: string): Promise<void> {
  const actual = onLinux ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(path);
  if (actual !== path) throw new WorldFault("MOVED", path);
}

const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function openStill(path: string, flags: number): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(path, flags);
  } catch (thrown) {
    // A link where the resolution saw none: it was put there since.
    throw codeOf(thrown) === "ELOOP" ? new WorldFault("MOVED", path) : thrown;
  }
  try {
    await assertStill(handle, path);
    return handle;
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

async function openFile(path: string): Promise<OpenFile> {
  const handle = await openStill(path, openFlags);
  const stats = factsOf(await handle.stat({ bigint: true }));
  return {
    facts: stats,
    path: pathOf(handle, path),
    read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
    close: () => handle.close(),
  };
}

async function entries(path: string, max: number) {
  const handle = await openStill(path, openFlags | (constants.O_DIRECTORY ?? 0));
  try {
    const found: DirectoryEntry[] = [];
    for await (const entry of await opendir(onLinux ? `/proc/self/fd/${handle.fd}` : path)) {
      found.push({ name: entry.name, kind: kindOf(entry) });
    }
    found.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
    return { entries: found.slice(0, max), more: found.length > max };
  } finally {
    await handle.close();
  }
}

async function hold(path: string) {
  const handle = await openStill(path, openFlags | (constants.O_DIRECTORY ?? 0));
  return { path: pathOf(handle, path), close: () => handle.close() };
}

const pathOf = (handle: FileHandle, path: string): string => (onLinux ? `/proc/${process.pid}/fd/${handle.fd}` : path);

/** Opens a directory that is really there, making what is missing one level at a time below the last that exists. */
async function openDirectory(path: string): Promise<FileHandle> {
  const flags = openFlags | (constants.O_DIRECTORY ?? 0);
  try {
    return await openStill(path, flags);
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT" || dirname(path) === path) throw thrown;
  }
  const parent = await openDirectory(dirname(path));
  try {
    await mkdir(throughHandle(parent, path)).catch((thrown: unknown) => {
      if (codeOf(thrown) !== "EEXIST") throw thrown;
    });
  } finally {
    await parent.close();
  }
  return openStill(path, flags);
}

const throughHandle = (directory: FileHandle, path: string): string =>
  onLinux ? join(`/proc/self/fd/${directory.fd}`, basename(path)) : path;

let temporaries = 0;

async function replace(path: string, bytes: Uint8Array, mode?: number): Promise<FileFacts> {
  return (await stage(path, bytes, mode)).commit();
}

async function stage(path: string, bytes: Uint8Array, mode?: number): Promise<StagedFile> {
  const directory = await openDirectory(dirname(path));
  const target = throughHandle(directory, path);
  temporaries += 1;
  const temporary = join(dirname(target), `.${basename(path).slice(0, 40)}.${process.pid}-${temporaries}.tmp`);
  const discard = async (): Promise<void> => {
    try {
      await unlink(temporary).catch(unlessGone);
    } finally {
      await directory.close();
    }
  };
  try {
    const after = await writeNew(temporary, { bytes, before: await standing(target, path), mode });
    const commit = async (): Promise<FileFacts> => {
      try {
        await rename(temporary, target);
        await directory.sync().catch(ignoreUnsyncable);
        return after;
      } finally {
        await discard();
      }
    };
    return { commit: () => worded(path, commit), discard: () => worded(path, discard) };
  } catch (thrown) {
    await discard();
    throw thrown;
  }
}

function unlessGone(thrown: unknown): void {
  if (codeOf(thrown) !== "ENOENT") throw thrown;
}

async function remove(path: string): Promise<void> {
  const directory = await openDirectory(dirname(path));
  try {
    const target = throughHandle(directory, path);
    // A name that this user may not write to is not taken away behind its back.
    if ((await standing(target, path)) === null) throw new WorldFault("ENOENT", path);
    await unlink(target);
    await directory.sync().catch(ignoreUnsyncable);
  } finally {
    await directory.close();
  }
}

/** What stands there now: null when nothing does. A file that this user may not write is not replaced behind its back. */
async function standing(target: string, path: string): Promise<BigIntStats | null> {
  if ((await facts(target)) === null) return null;
  const file = await open(target, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new WorldFault("MOVED", path);
    return stats;
  } finally {
    await file.close();
  }
}

interface NewFile {
  readonly bytes: Uint8Array;
  readonly before: BigIntStats | null;
  /** Where nothing stood before. */
  readonly mode: number | undefined;
}

async function writeNew(path: string, { bytes, before, mode }: NewFile): Promise<FileFacts> {
  const file = await open(path, "wx", 0o666);
  try {
    await file.writeFile(bytes);
    if (before !== null) {
      await keepOwner(file, before);
      await file.chmod(Number(before.mode) & 0o7777);
    } else if (mode !== undefined) await file.chmod(mode);
    await file.sync();
    return factsOf(await file.stat({ bigint: true }));
  } finally {
    await file.close();
  }
}

async function keepOwner(file: FileHandle, before: BigIntStats): Promise<void> {
  const now = await file.stat({ bigint: true });
  if (now.uid === before.uid && now.gid === before.gid) return;
  await file.chown(Number(before.uid), Number(before.gid)).catch((thrown: unknown) => {
    // Only root may give files away; anyone else becomes the owner of what they replace.
    if (codeOf(thrown) !== "EPERM") throw thrown;
  });
}

/** Some disks cannot sync a directory; the file itself is synced, so its bytes are safe under either name. */
function ignoreUnsyncable(thrown: unknown): void {
  const code = codeOf(thrown);
  if (code !== "EINVAL" && code !== "EPERM" && code !== "EISDIR" && code !== "EBADF") throw thrown;
}

function newSpill(folder: string, name: string): SpillFile {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kept = readdirSync(folder).sort();
  for (const old of kept.slice(0, Math.max(0, kept.length - toolLimits.spillFilesMax + 1))) rmSync(join(folder, old));
  temporaries += 1;
  // The time keeps names of one folder apart across servers, and in the order in which the oldest goes first.
  const path = join(folder, `${Date.now()}-${String(temporaries).padStart(6, "0")}-${name}.txt`);
  const fd = openSync(path, "wx+", 0o600);
  let open = true;
  return {
    path,
    append: (bytes) => {
      if (open) writeSync(fd, bytes);
    },
    bytes: () => readFileSync(path),
    close: () => {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

/**
 * Each thread has a folder of its own below /proc that no listing shows, with the environment of the whole process; other
 * processes show theirs too, and those of the person's own may hold the keys that the server was started with.
 */
async function isOwnProcess(real: string): Promise<boolean> {
  const [, number, name] = /^\/proc\/(\d+)(?:\/(?:task\/\d+\/)?([^/]*))?/.exec(real) ?? [];
  if (number === undefined) return false;
  if (name !== undefined && ["environ", "mem", "auxv", "maps", "smaps"].includes(name)) return true;
  const status = await readFile(`/proc/${number}/status`, "latin1").catch(() => "");
  return status.includes(`\nTgid:\t${process.pid}\n`);
}

/** `spillRoot` is a real path of the server's own, outside every workspace. */
export function nodeFiles(spillRoot: string): FileOperations {
  const spillFolder = (tabId: string) => join(spillRoot, tabId);
  return {
    userHome: homedir(),
    deniedRoots: onLinux ? [`/proc/${process.pid}`] : [],
    hold: (path) => worded(path, () => hold(path)),
    isDenied: async (real) => onLinux && (await isOwnProcess(real)),
    facts,
    readLink: (path) => worded(path, () => readlink(path)),
    canonical: (path) => worded(path, () => realpath(path)),
    open: (path) => worded(path, () => openFile(path)),
    entries: (path, max) => worded(path, () => entries(path, max)),
    replace: (path, bytes, mode) => worded(path, () => replace(path, bytes, mode)),
    stage: (path, bytes) => worded(path, () => stage(path, bytes)),
    remove: (path) => worded(path, () => remove(path)),
    spillFolder,
    spill: (tabId, name) => newSpill(spillFolder(tabId), name),
    dropSpills: async (tabId) => rmSync(spillFolder(tabId), { recursive: true, force: true }),
  };
}
