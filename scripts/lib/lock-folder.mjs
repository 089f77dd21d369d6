import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const POLL_MS = 150;
/** A holder that lost its pid to a reboot may look alive; nothing that holds this lock takes this long. */
const STALE_AFTER_MS = 15 * 60_000;
/** A folder without an owner file is a holder between two system calls, or one that died there. */
const OWNERLESS_MS = 5_000;

/**
 * Runs `work` while holding the folder `path`, which one process at a time can make. A folder left by a dead process is
 * taken over, but not while a child that it noted still runs: `work` gets a function that notes a child's pid.
 * `onWait(pid)` is called once when another live process holds it.
 */
export async function withLock(path, work, onWait = () => {}) {
  const token = `${process.pid} t${process.hrtime.bigint()}`;
  await acquire(path, token, onWait);
  try {
    return await work((pid) => writeFileSync(join(path, "owner"), `${token} ${pid}`));
  } finally {
    if (readOwner(path)?.startsWith(token)) rmSync(path, { recursive: true, force: true });
  }
}

async function acquire(path, token, onWait) {
  mkdirSync(dirname(path), { recursive: true });
  for (let told = false; ; ) {
    if (tryMake(path, token)) return;
    const owner = readOwner(path);
    if (isStale(path, owner)) {
      takeAway(path, owner);
      continue;
    }
    if (!told && owner !== undefined) {
      told = true;
      onWait(Number.parseInt(owner, 10));
    }
    await pause(POLL_MS);
  }
}

function tryMake(path, token) {
  try {
    mkdirSync(path);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  writeFileSync(join(path, "owner"), token);
  return true;
}

function readOwner(path) {
  try {
    return readFileSync(join(path, "owner"), "utf8") || undefined;
  } catch {
    return undefined; // Not written yet, or the lock is gone: both mean that nobody is known to hold it.
  }
}

function isStale(path, owner) {
  const ageMs = folderAgeMs(path);
  if (ageMs === undefined) return false;
  if (owner === undefined) return ageMs > OWNERLESS_MS;
  return ageMs > STALE_AFTER_MS || !pidsOf(owner).some(isAlive);
}

/** The owner file is `pid token`, and then the pid of the holder's child if there is one. */
function pidsOf(owner) {
  return owner
    .split(" ")
    .filter((word) => /^\d+$/.test(word))
    .map(Number);
}

function folderAgeMs(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return undefined; // Gone between two looks: the next attempt to make it decides.
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** A dead process whose parent has not asked about it still has its pid; only Linux says so in a file. */
function isZombie(pid) {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false; // No such file system here: the pid counts as alive.
  }
}

/** Moves the stale folder aside first, so that of several waiting processes only one removes it. */
function takeAway(path, owner) {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // Another process was faster; the next attempt sees its lock.
  }
  if (readOwner(aside) !== owner) {
    // What was moved is a live lock made since the look: it goes back.
    renameSync(aside, path);
    return;
  }
  rmSync(aside, { recursive: true, force: true });
}
