/** Small things about child processes of this machine that more than one starter needs. */
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { codeOf } from "./node-files.ts";
import { WorldFault } from "./operations.ts";

/** The first program of this name in the usual folders, then on the path; null where there is none. */
export function findProgram(name: string): string | null {
  const folders = ["/bin", "/usr/bin", "/usr/local/bin", ...(process.env.PATH ?? "").split(delimiter)];
  // A relative folder would be looked for in whatever directory a command starts in.
  const paths = folders.filter((folder) => folder.startsWith("/")).map((folder) => join(folder, name));
  return paths.find((path) => existsSync(path)) ?? null;
}

/** Its number, once it runs. `cwd` is named in the fault, for a missing directory is why most starts fail. */
export function started(child: ChildProcess, cwd: string): Promise<number> {
  return new Promise((done, failed) => {
    child.once("spawn", () => done(child.pid ?? 0));
    child.on("error", (error) => failed(new WorldFault(codeOf(error) ?? "UNKNOWN", cwd)));
  });
}

export function sendSignal(target: number, signal: "SIGTERM" | "SIGKILL"): void {
  // 0 would be our own group, -1 everyone.
  if (target === 0 || target === -1) return;
  try {
    process.kill(target, signal);
  } catch (thrown) {
    // It ended meanwhile, or belongs to another user by now (sudo), which we could not end anyway.
    const code = codeOf(thrown);
    if (code !== "ESRCH" && code !== "EPERM") throw thrown;
  }
}
