/**
 * What lies under a simulated disk and outlives every process: the log in memory, or the real one in a file. Both can be copied
 * at any moment between two events and set back to the copy, as when somebody restores a backup.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homePaths, type JournaledBlock, type Log, memoryLog, openSqliteLog } from "@varve/log";
import { assert, type Clock, isFault, type TabId } from "@varve/protocol";

/** A write that was carried out, to carry it out again on an empty log. */
export interface Written {
  readonly act: (log: Log) => Promise<unknown>;
}

export interface Storage {
  /** The log as a process finds it when it starts. */
  open(): Promise<Log>;
  /** The real machine is at work for it: the world stands still meanwhile. */
  readonly isBusy: boolean;
  /** The process that had opened it is gone. */
  close(): Promise<void>;
  wrote(written: Written): void;
  /** Keeps a copy; the newest is kept. */
  backUp(): void;
  readonly hasBackup: boolean;
  /** While it is closed. The side file of open blocks stays as it is, or is lost with the rest. */
  restore(keepsJournal: boolean): Promise<void>;
  /** Frees what it holds of the real disk. */
  remove(): Promise<void>;
}

export function memoryStorage(): Storage {
  let history: Written[] = [];
  let backup: number | null = null;
  let log = memoryLog();
  return {
    open: async () => log,
    isBusy: false,
    close: async () => undefined,
    wrote: (written) => void history.push(written),
    backUp() {
      backup = history.length;
    },
    get hasBackup() {
      return backup !== null;
    },
    async restore(keepsJournal) {
      const blocks = keepsJournal ? journaled(log) : [];
      history = history.slice(0, backup ?? 0);
      log = memoryLog();
      for (const { act } of history) await act(log);
      rewrite(log, blocks);
    },
    remove: async () => undefined,
  };
}

const journaled = (log: Log): readonly (JournaledBlock & { readonly tabId: TabId })[] =>
  log.journal.tabsWithBlocks().flatMap((tabId) => log.journal.blocksOf(tabId).map((block) => ({ ...block, tabId })));

function rewrite(log: Log, blocks: ReturnType<typeof journaled>): void {
  for (const { tabId, logId, id, meta, text } of blocks) {
    log.journal.write([
      { entry: "open", tabId, logId, id, meta },
      { entry: "text", tabId, id, offset: 0, text },
    ]);
  }
}

/** Memory where the machine has a file system in memory: these runs test the engine's code, not the disk's speed. */
const fastFolder = (): string => (existsSync("/dev/shm") ? "/dev/shm" : tmpdir());

export function sqliteStorage(clock: Clock): Storage {
  const root = mkdtempSync(join(fastFolder(), "varve-world-"));
  const [home, copy] = [homePaths(join(root, "home")), homePaths(join(root, "copy"))];
  let log: Log | null = null;
  let hasBackup = false;
  let opening = false;
  const suffixes = ["", "-wal"];
  const move = (from: string, to: string): void => {
    for (const suffix of [...suffixes, "-shm"]) rmSync(to + suffix, { force: true });
    for (const suffix of suffixes) if (existsSync(from + suffix)) cpSync(from + suffix, to + suffix);
  };
  return {
    get isBusy() {
      return opening;
    },
    async open() {
      opening = true;
      const opened = await openSqliteLog({ home: home.home, clock });
      opening = false;
      assert(!isFault(opened), `the simulated home cannot be opened: ${JSON.stringify(opened)}`);
      log = opened;
      return opened;
    },
    async close() {
      await log?.close();
      log = null;
    },
    wrote: () => undefined,
    backUp() {
      mkdirSync(copy.home, { recursive: true });
      move(home.database, copy.database);
      hasBackup = true;
    },
    get hasBackup() {
      return hasBackup;
    },
    async restore(keepsJournal) {
      move(copy.database, home.database);
      if (!keepsJournal) for (const suffix of [...suffixes, "-shm"]) rmSync(home.journal + suffix, { force: true });
    },
    async remove() {
      await log?.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
