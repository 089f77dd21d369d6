import { dirname } from "node:path";
import { within } from "../tools/boundary.ts";

/**
 * The arguments with which `bwrap` builds the sandbox of one command. Pure: what is to be mounted was found before.
 *
 * The system is there and read-only; only what `writable` names can be changed. Its processes, host names and shared
 * memory are its own, no capability is left, and it ends with the server. Mounts are made from the outer to the inner, so
 * that what is hidden inside of a writable directory stays hidden, and what is shown inside of a hidden one is seen.
 */
export interface SandboxPlan {
  /** Real directories that may be written to. */
  readonly writable: readonly string[];
  /** A real directory that stands in for /tmp. */
  readonly temporary: string;
  /** Real directories that begin empty, may be written to and are gone with the command. */
  readonly fresh: readonly string[];
  /** Real directories that are empty inside, and read-only. */
  readonly hiddenDirectories: readonly string[];
  /** Real files that are empty inside. */
  readonly hiddenFiles: readonly string[];
  /** Shown read-only although what is around it is hidden; left out where it does not exist. */
  readonly shown: readonly string[];
  /** `open`: the machine's own network. `closed`: a network with nobody else in it. */
  readonly network: "open" | "closed";
  /** Where the command starts. */
  readonly cwd: string;
}

interface Mount {
  readonly at: string;
  readonly args: readonly string[];
}

export function bubblewrapArgs(plan: SandboxPlan): readonly string[] {
  const hide = (at: string): Mount => ({ at, args: ["--perms", "0555", "--tmpfs", at] });
  const mounts: readonly Mount[] = [
    { at: "/dev", args: ["--dev", "/dev"] },
    { at: "/proc", args: ["--proc", "/proc"] },
    { at: "/tmp", args: ["--bind", plan.temporary, "/tmp"] },
    ...plan.fresh.map((at) => ({ at, args: ["--tmpfs", at] })),
    ...[...plan.writable, ...holders(plan)].map((at) => ({ at, args: ["--bind", at, at] })),
    ...plan.hiddenDirectories.map(hide),
    ...plan.hiddenFiles.map((at) => ({ at, args: ["--ro-bind", "/dev/null", at] })),
    ...plan.shown.map((at) => ({ at, args: ["--ro-bind-try", at, at] })),
  ];
  const sorted = mounts.toSorted((a, b) => depth(a.at) - depth(b.at));
  return [
    ...["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(plan.network === "closed" ? ["--unshare-net"] : []),
    ...["--cap-drop", "ALL", "--die-with-parent", "--new-session"],
    ...["--ro-bind", "/", "/"],
    ...sorted.flatMap(({ args }) => args),
    // Only now: the points of what is mounted inside of them had to be made.
    ...plan.hiddenDirectories.flatMap((at) => ["--remount-ro", at]),
    ...["--chdir", plan.cwd],
  ];
}

/**
 * Directories between a writable one and what is hidden below it. Mounted on themselves they cannot be renamed: what they
 * hold would be somewhere else for the next command, under a name that nobody hides.
 */
function holders({ writable, hiddenDirectories, hiddenFiles }: SandboxPlan): readonly string[] {
  const found = new Set<string>();
  for (const hidden of [...hiddenDirectories, ...hiddenFiles]) {
    for (const root of writable.filter((one) => within(one, hidden))) {
      for (let at = dirname(hidden); at !== root && within(root, at); at = dirname(at)) found.add(at);
    }
  }
  return [...found].filter((at) => !writable.includes(at) && !hiddenDirectories.some((one) => within(one, at)));
}

const depth = (path: string): number => (path === "/" ? 0 : path.split("/").length - 1);
