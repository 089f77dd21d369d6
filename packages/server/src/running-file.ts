/** `$VARVE_HOME/server.json`: where the server of a home answers. Written when it listens, removed when it ends well. */
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface RunningFile {
  /** What to call: `http://127.0.0.1:4477`. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  readonly boot: string;
  /** With this key the server shows that it is the one which wrote the file. Absent: an older version wrote it. */
  readonly proofKey?: string;
}

const pathIn = (home: string): string => join(home, "server.json");

/** Null when there is none that can be read: then nobody is known to run there. */
export async function readRunning(home: string): Promise<RunningFile | null> {
  const text = await readFile(pathIn(home), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRunningFile(value) ? value : null;
  } catch {
    return null; // Half written by a process that was killed: as good as none.
  }
}

export async function writeRunning(home: string, running: RunningFile): Promise<void> {
  await writeFile(pathIn(home), `${JSON.stringify(running)}\n`, { mode: 0o600 });
  await chmod(pathIn(home), 0o600);
}

export const removeRunning = (home: string): Promise<void> => rm(pathIn(home), { force: true });

function isRunningFile(value: unknown): value is RunningFile {
  if (typeof value !== "object" || value === null) return false;
  const has = (name: string, type: string): boolean => typeof Reflect.get(value, name) === type;
  if (Reflect.get(value, "proofKey") !== undefined && !has("proofKey", "string")) return false;
  return has("url", "string") && has("host", "string") && has("port", "number") && has("pid", "number");
}
