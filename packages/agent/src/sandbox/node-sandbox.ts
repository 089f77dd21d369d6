/** What this machine has for a sandbox: bubblewrap, if it is there and works. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../tools/child-process.ts";
import type { ProcessOperations, SandboxFound, SandboxOperations } from "../tools/operations.ts";
import { bubblewrapArgs } from "./bubblewrap.ts";
import { sandboxLimits } from "./limits.ts";
import { openProxy } from "./node-proxy.ts";

export function nodeSandbox(processes: Pick<ProcessOperations, "run">): SandboxOperations {
  let found: Promise<SandboxFound> | null = null;
  const temporaries = new Map<string, Promise<string>>();
  const drop = async (tabId: string): Promise<void> => {
    const folder = temporaries.get(tabId);
    temporaries.delete(tabId);
    // What a command made unwritable in there is the server's own all the same; what can't go stays for the system to clean.
    if (folder !== undefined) await rm(await folder, { recursive: true, force: true }).catch(() => {});
  };
  return {
    find: () => {
      found ??= find(processes);
      return found;
    },
    mountTable: () => readFile("/proc/self/mountinfo", "utf8"),
    temporary: (tabId) => {
      const folder = temporaries.get(tabId) ?? newFolder();
      temporaries.set(tabId, folder);
      return folder;
    },
    dropTemporary: drop,
    openProxy: (rules, folder) => openProxy(rules, folder),
    close: async () => {
      await Promise.all([...temporaries.keys()].map(drop));
    },
  };
}

/** Its name is short, for a socket's path has to fit into a hundred characters. */
async function newFolder(): Promise<string> {
  const folder = realpathSync(await mkdtemp(join(tmpdir(), "varve-")));
  // As /tmp is, but reachable through a folder of the user's alone: the sandbox sees the folder itself as its /tmp.
  await chmod(folder, 0o700);
  return folder;
}

async function find(processes: Pick<ProcessOperations, "run">): Promise<SandboxFound> {
  const none = (reason: string): SandboxFound => ({ available: false, reason });
  if (process.platform !== "linux") return none("Commands can be put in a sandbox on Linux only.");
  const program = findProgram("bwrap");
  if (program === null) return none('The program "bwrap" is not installed (its package is called bubblewrap).');
  if (findProgram("bash") === null) return none("The sandbox needs the program bash.");
  const words = await tryOut(processes, program);
  return words === null ? { available: true, program } : none(words);
}

/** Null when a sandbox as commands get it comes up, else why not. */
async function tryOut(processes: Pick<ProcessOperations, "run">, program: string): Promise<string | null> {
  const temporary = mkdtempSync(join(tmpdir(), "varve-"));
  const plan = { writable: [], temporary, fresh: [], hiddenDirectories: [], hiddenFiles: [], shown: [], cwd: "/" };
  try {
    const { code, stderr } = await processes.run({
      file: program,
      args: [...bubblewrapArgs({ ...plan, network: "closed" }), "--", "/bin/sh", "-c", ":"],
      cwd: "/",
      signal: AbortSignal.timeout(sandboxLimits.probeMs),
      onBytes: () => true,
    });
    if (code === 0) return null;
    const said = stderr.trim().split("\n")[0] ?? "";
    const hint = /namespace|uid map|setting up|Operation not permitted|No permissions/i.test(said)
      ? " This system does not let ordinary users build sandboxes (user namespaces are off)."
      : "";
    return code === null ? "bwrap did not answer in time." : `bwrap does not work here: ${said.slice(0, 300)}.${hint}`;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
