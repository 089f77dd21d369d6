/**
 * Really runs commands, in bubblewrap: the file system is read-only but for a scratch directory, there is no network, and on
 * the path stand only programs that record how they were called, and the wrappers and tools that the commands are made of.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stubNames } from "./command-grammar.ts";

/** Milliseconds that a batch may take. */
const batchMs = 120_000;
/** Bytes of what one command recorded that are looked at; a command that repeats itself is cut there. */
const recordBytesMax = 65_536;

/** Harmless by themselves; they are there so that what they start is really started. */
const tools = [
  "env",
  "nohup",
  "nice",
  "timeout",
  "stdbuf",
  "xargs",
  "find",
  "sh",
  "bash",
  "dash",
  "cat",
  "printf",
  "echo",
];

/** What was started, with its arguments, in the order of the records. */
export type Started = readonly (readonly string[])[];

/** Why commands cannot be run here, or null when they can. */
export function whyNoRuns(): string | null {
  const tried = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "--", "/bin/bash", "-c", "exit 7"]);
  if (tried.error !== undefined) return "bwrap is not installed";
  return tried.status === 7 ? null : `bwrap does not work here: ${tried.stderr.toString().slice(0, 200)}`;
}

/** What each command started. Commands see nothing of each other. */
export function runInStubs(commands: readonly string[], shell: keyof typeof shells): readonly Started[] {
  const folder = mkdtempSync(join(tmpdir(), "varve-stubs-"));
  try {
    for (const [at, command] of commands.entries()) {
      mkdirSync(join(folder, `${at}`, "cwd"), { recursive: true });
      symlinkSync("../programs", join(folder, `${at}`, "bin"));
      writeFileSync(join(folder, `${at}`, "command"), command);
      writeFileSync(join(folder, `${at}`, "cwd", "f.txt"), "bad\n");
    }
    writeFileSync(join(folder, "driver"), driver(commands.length, shells[shell]));
    const isolation = [
      "--ro-bind",
      "/",
      "/",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      "--bind",
      folder,
      "/tmp",
      "--unshare-all",
    ];
    const { status, error, stderr } = spawnSync(
      "bwrap",
      [
        ...isolation,
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--chdir",
        "/tmp",
        "--",
        "/bin/bash",
        "/tmp/driver",
      ],
      { stdio: ["ignore", "ignore", "pipe"], timeout: batchMs, killSignal: "SIGKILL" },
    );
    if (error !== undefined || status !== 0)
      throw new Error(`the batch broke off (${status}): ${error?.message ?? stderr.toString().slice(-2_000)}`);
    return commands.map((_, at) => startedIn(join(folder, `${at}`, "record")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One record per process: the name and each argument, ended by NUL; an empty line ends the record. */
function startedIn(path: string): Started {
  if (!existsSync(path)) return [];
  const text = readFileSync(path).subarray(0, recordBytesMax).toString("utf8");
  return text
    .split("\0\n\n\0")
    .slice(0, -1)
    .map((record) => record.split("\0"));
}

/** A stub finds its record beside the folder through which it was called. It prints a name, for whoever runs what it reads. */
const stub = `#!/bin/dash
printf '%s\\0' "\${0##*/}" "$@" '

' >> "\${0%/bin/*}/record"
echo bad
[ "\${0##*/}" != fail ]
`;

/** Each command has its own folder and its own way to the programs, so that records of slow ones do not mix. */
const driver = (count: number, run: string): string => `
mkdir /tmp/programs
cat > /tmp/programs/ok <<'STUB'
${stub}STUB
chmod +x /tmp/programs/ok
for name in ${stubNames.filter((name) => name !== "ok").join(" ")}; do cp /tmp/programs/ok "/tmp/programs/$name"; done
for name in ${tools.join(" ")}; do ln -s "$(type -P "$name")" "/tmp/programs/$name"; done
export FUNCNEST=20 HOME=/tmp/none
for ((at = 0; at < ${count}; at++)); do
  IFS= read -r -d '' command < "/tmp/$at/command"
  ( cd "/tmp/$at/cwd" && export PATH="/tmp/$at/bin"; ${run} ) </dev/null >/dev/null 2>&1
done
# What was left in the background is given a moment, then it ends with this process.
/bin/sleep 0.2
exit 0
`;

/** By a shell of its own, ended after ten seconds; or, where nothing can hang or end it, by the one that is there. */
const shells = {
  own: 'exec /usr/bin/timeout -s KILL 10 /bin/bash -c "$command"',
  shared: 'eval "$command"',
} as const;
