import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nodeProcesses } from "../tools/node-processes.ts";
import type { ToolOperations } from "../tools/operations.ts";
import { markVariable } from "../tools/shell-env.ts";
import { homeMark } from "../tools/shell-task.ts";
import { type Scratch, type ScratchOptions, scratch } from "../tools/testing/scratch.ts";
import type { SandboxWish } from "../tools/tool.ts";
import { nodeSandbox } from "./node-sandbox.ts";

const found = await nodeSandbox(nodeProcesses()).find();
const here = found.available ? "on this machine" : `skipped: ${found.reason}`;

const boxed = (network: readonly string[] = [], options: ScratchOptions = {}): Scratch =>
  scratch({ ...options, sandbox: { mode: "required", network } });

const run = (at: Scratch, command: string, timeoutMs = 20_000) => at.call("bash", { command, timeoutMs });
const living = async (at: Scratch) =>
  (await at.operations.processes.marked(markVariable, homeMark(at.place.home))) ?? [];

/** Another world's sandbox: what it would find. */
const withFound = (answer: Awaited<ReturnType<NonNullable<ToolOperations["sandbox"]>["find"]>>) => {
  const change = (real: ToolOperations): ToolOperations => {
    if (real.sandbox === undefined) throw new Error("the real world has one");
    return { ...real, sandbox: { ...real.sandbox, find: async () => answer } };
  };
  return change;
};

describe("a machine without a sandbox", () => {
  const change = withFound({ available: false, reason: "There is no bwrap." });

  test("[TOOL-124] required: the command is refused in words that say what to do", async () => {
    await using at = scratch({ change, sandbox: { mode: "required", network: [] } });
    const outcome = await run(at, "touch x");
    expect(outcome).toMatchObject({ isError: true, text: expect.stringMatching(/There is no bwrap\. The person can/) });
    expect(existsSync(join(at.ws, "x"))).toBe(false);
  });

  test("[TOOL-124] on: it runs without one, and says so", async () => {
    await using at = scratch({ change, sandbox: { mode: "on", network: [] } });
    expect((await at.prepare("bash", { command: "true" })).subject.sandboxed).toBeUndefined();
    expect(await run(at, "echo hi")).toMatchObject({ text: "hi\n", details: { sandbox: "none" } });
  });

  test("[TOOL-124] off: nothing is said of it", async () => {
    await using at = scratch({ change });
    expect((await run(at, "true")).details).toEqual({ summary: "exit 0", exitCode: 0 });
  });

  test("[TOOL-124] one that is asked for after the question holds at once", async () => {
    await using at = scratch({ change });
    let wish: SandboxWish = { mode: "off", network: [] };
    const place = {
      ...at.place,
      get sandbox() {
        return wish;
      },
    };
    const prepared = await at.box.get("bash")?.prepare({ command: "touch x" }, place);
    wish = { mode: "required", network: [] };
    if (prepared === undefined || "error" in prepared) throw new Error("bash prepares");
    const quiet = { callId: "c", output: () => {}, ask: async () => null, rows: () => [] };
    const outcome = await prepared.run({ ...quiet, signal: new AbortController().signal });
    expect(outcome.text).toMatch(/need a sandbox/);
    expect(existsSync(join(at.ws, "x"))).toBe(false);
  });

  test("[TOOL-124] one that can't be built: the command was not run, and the output says why", async () => {
    const program = ["/bin/false", "/usr/bin/false"].find(existsSync) ?? "/bin/false";
    await using at = scratch({
      change: withFound({ available: true, program }),
      sandbox: { mode: "on", network: [] },
    });
    const outcome = await run(at, "touch x");
    expect(outcome).toMatchObject({
      isError: true,
      text: expect.stringMatching(/could not be built; the command was not/),
    });
    expect(existsSync(join(at.ws, "x"))).toBe(false);
  });
});

describe.skipIf(!found.available)(`a command in a sandbox (${here})`, () => {
  test("[TOOL-120] it writes in the workspace, the added directories and its /tmp, and nowhere else", async () => {
    await using at = scratch();
    const added = join(at.base, "added");
    mkdirSync(added);
    mkdirSync(join(at.base, "beside"));
    const place = { ...at.place, directories: [added], sandbox: { mode: "required", network: [] } } as const;
    const script = [
      `for d in . ${added} /tmp /var/tmp ${at.base} ${at.base}/beside /etc /usr /proc/sys/kernel /sys /run / "$HOME"; do`,
      'if (echo x > "$d/made-here") 2>/dev/null; then echo "wrote $d"; else echo "not $d"; fi; done',
    ].join("\n");
    const prepared = await at.box.get("bash")?.prepare({ command: script }, place);
    if (prepared === undefined || "error" in prepared) throw new Error("bash prepares");
    expect(prepared.subject).toMatchObject({ sandboxed: true });
    const quiet = { callId: "c", output: () => {}, ask: async () => null, rows: () => [] };
    const { text } = await prepared.run({ ...quiet, signal: new AbortController().signal });
    const wrote = text.split("\n").filter((line) => line.startsWith("wrote "));
    // The base lies in /tmp, which is the tab's own inside, so that it can be written to there and is not the real one.
    const own = [at.base, `${at.base}/beside`, process.env.HOME ?? ""].filter((path) => path.startsWith("/tmp"));
    expect(wrote.filter((line) => !own.includes(line.slice(6)))).toEqual([
      "wrote .",
      `wrote ${added}`,
      "wrote /tmp",
      "wrote /var/tmp",
    ]);
    expect(readdirSync(at.base).sort()).toEqual(["added", "beside", "home", "spill", "ws"]);
    expect(readdirSync(join(at.base, "beside"))).toEqual([]);
    expect(readFileSync(join(added, "made-here"), "utf8")).toBe("x\n");
    expect(existsSync("/tmp/made-here")).toBe(false);
  });

  test("[TOOL-120] what one command leaves in /tmp the next one of the tab finds, and its end removes it", async () => {
    await using at = boxed();
    await run(at, "echo kept > /tmp/note; echo $TMPDIR");
    expect((await run(at, "cat /tmp/note")).text).toBe("kept\n");
    const folder = (await at.operations.sandbox?.temporary(at.place.tabId)) ?? "";
    expect(existsSync(join(folder, "note"))).toBe(true);
    await at.box.closePlace(at.place.tabId);
    expect(existsSync(folder)).toBe(false);
  });

  test("[TOOL-121] VARVE_HOME is not there, by no way; the tab's own output files are", async () => {
    await using at = boxed();
    writeFileSync(join(at.place.home, "token"), "SECRET\n");
    symlinkSync(at.place.home, join(at.ws, "link"));
    const long = await run(at, "seq 1 20000");
    const spilled = /the whole output is in (\S+)⟩/.exec(long.text)?.[1] ?? "";
    const tries = [
      `ls -A ${at.place.home}`,
      `cat ${at.place.home}/token link/token ../home/token`,
      `cat /proc/1/root${at.place.home}/token /proc/self/root${at.place.home}/token`,
      `echo x > ${at.place.home}/token`,
      `umount ${at.place.home}`,
      `unshare -Urm sh -c 'umount ${at.place.home}; cat ${at.place.home}/token'`,
      `grep -rs SECRET ${at.base}`,
    ];
    const { text } = await run(at, `${tries.join("; ")}; sed -n 20000p ${spilled}`);
    expect(text).not.toContain("SECRET");
    expect(text).toMatch(/20000\n$/);
    expect(readFileSync(join(at.place.home, "token"), "utf8")).toBe("SECRET\n");
  });

  test("[TOOL-121] a home in the workspace is hidden from it too", async () => {
    await using at = boxed();
    mkdirSync(join(at.ws, "state"));
    writeFileSync(join(at.ws, "state/token"), "SECRET\n");
    const place = { ...at.place, home: join(at.ws, "state") };
    const prepared = await at.box
      .get("bash")
      ?.prepare({ command: "cat st*/token; ls; mv state other; cat other/*" }, place);
    if (prepared === undefined || "error" in prepared) throw new Error("bash prepares");
    const quiet = { callId: "c", output: () => {}, ask: async () => null, rows: () => [] };
    const { text } = await prepared.run({ ...quiet, signal: new AbortController().signal });
    expect(text).not.toContain("SECRET");
    expect(text).toContain("state\n");
  });

  test("[TOOL-121] what holds a home in the workspace cannot be moved away, nor the next command find it elsewhere", async () => {
    await using at = boxed();
    const home = join(at.ws, "a/b/state");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "token"), "SECRET\n");
    const place = { ...at.place, home };
    const quiet = { callId: "c", output: () => {}, ask: async () => null, rows: () => [] };
    for (const command of ["mv a/b a/c; mv a c; echo x > a/b/beside", "find . -name token -exec cat {} +; ls a/b"]) {
      const prepared = await at.box.get("bash")?.prepare({ command }, place);
      if (prepared === undefined || "error" in prepared) throw new Error("bash prepares");
      const { text } = await prepared.run({ ...quiet, signal: new AbortController().signal });
      expect(text).not.toContain("SECRET");
    }
    expect(readFileSync(join(home, "token"), "utf8")).toBe("SECRET\n");
    expect(readFileSync(join(at.ws, "a/b/beside"), "utf8")).toBe("x\n");
  });

  test("[TOOL-121] without a home in its place nothing runs, for it may be anywhere", async () => {
    await using at = boxed();
    rmSync(at.place.home, { recursive: true });
    expect(await run(at, "echo ran")).toMatchObject({ isError: true, text: expect.stringMatching(/VARVE_HOME/) });
  });

  test("[TOOL-122] it sees no process but its own, can signal none, and has no way to other programs' sockets", async () => {
    await using at = boxed();
    const path = join(at.base, "s");
    const server = createSocketServer((socket) => socket.end("hello"));
    await new Promise<void>((done) => server.listen(path, done));
    const { text } = await run(
      at,
      [
        `kill -0 ${process.pid} 2>&1; cat /proc/${process.pid}/environ 2>&1 | head -c 100; ls /run | wc -l`,
        "ls -d /proc/[0-9]* | wc -l; tr '\\0' '\\n' < /proc/1/environ | grep -vcE '^(PWD|OLDPWD|SHLVL|_)='; grep CapEff /proc/self/status",
        `echo "agent:$SSH_AUTH_SOCK:$DBUS_SESSION_BUS_ADDRESS:$XDG_RUNTIME_DIR"; ls ${path} 2>&1`,
      ].join("\n"),
    );
    server.close();
    expect(text).toMatch(/No such process/);
    expect(text).toMatch(/\n0\n[3-6]\n0\nCapEff:\s0000000000000000\nagent:::\n/);
    expect(text).toMatch(/No such file/);
  });

  test("[TOOL-123] no network unless one is named: neither this machine's ports nor names", async () => {
    await using at = boxed();
    const seen: string[] = [];
    const server = createServer((asked, answer) => answer.end(`hello ${seen.push(asked.url ?? "")}`));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const get = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET /raw HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
    expect(await run(at, get)).toMatchObject({ isError: true, text: expect.stringMatching(/refused/) });
    await using open = boxed(["*"]);
    expect((await run(open, get)).text).toContain("hello 1");
    await using listed = boxed([`127.0.0.1:${port}`]);
    expect(await run(listed, get)).toMatchObject({ isError: true });
    const through = [
      'exec 3<>/dev/tcp/127.0.0.1/39218; p="$http_proxy"',
      `printf 'GET http://127.0.0.1:${port}/named HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3; echo; echo "$p"`,
      `exec 3<>/dev/tcp/127.0.0.1/39218; printf 'GET http://localhost:${port}/x HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`,
    ].join("\n");
    const { text } = await run(listed, through);
    expect(text).toMatch(/200 OK[\s\S]*hello 2\nhttp:\/\/127\.0\.0\.1:39218\n[\s\S]*403 Forbidden[\s\S]*not among/);
    expect(seen).toEqual(["/raw", "/named"]);
    server.closeAllConnections();
    server.close();
  });

  test.each([
    ["cat; echo out; echo err >&2; echo both > /dev/stderr; exit 3", "out\nerr\nboth\n⟨exit 3⟩", 3],
    ["true", "⟨no output⟩", 0],
    ["kill -9 $$", "⟨no output⟩\n⟨killed by SIGKILL⟩", undefined],
    ["kill -TERM $$", "⟨no output⟩\n⟨killed by SIGTERM⟩", undefined],
    ["exit 137", "⟨no output⟩\n⟨exit 137⟩", 137],
    ["kill -9 -1", "⟨no output⟩\n⟨killed by SIGKILL⟩", undefined],
    ["no-such-program", /not found\n⟨exit 127⟩$/, 127],
  ])("[TOOL-125] H22 %s is told as without one", async (command, text, exitCode) => {
    await using at = boxed();
    const outcome = await run(at, command);
    expect(outcome.text).toEqual(text instanceof RegExp ? expect.stringMatching(text) : text);
    expect(outcome.details?.exitCode).toBe(exitCode);
    expect(outcome.details?.sandbox).toBe("bubblewrap");
  });

  test("[TOOL-125] H22 what a command leaves running goes on until its tab ends, and nothing of the sandbox stays", async () => {
    await using at = boxed();
    const outcome = await run(at, "setsid sleep 77 & (env -i setsid sleep 77 &) ; echo hi");
    expect(outcome).toMatchObject({ isError: false, text: expect.stringMatching(/^hi\n⟨\d background process/) });
    expect((await living(at)).length).toBeGreaterThan(0);
    await at.box.closePlace(at.place.tabId);
    expect(await living(at)).toEqual([]);
    await expect.poll(() => boxesOf(at), { timeout: 5_000 }).toEqual([]);
  });

  test("[TOOL-125] H22 after its time nothing of it lives, also what shed its mark", async () => {
    await using at = boxed();
    const start = performance.now();
    const outcome = await run(at, "echo begun; (env -i setsid sleep 78 &); trap '' TERM; sleep 78", 1_000);
    expect(performance.now() - start).toBeLessThan(6_000);
    expect(outcome).toMatchObject({ isError: true, text: expect.stringMatching(/^begun\n⟨timed out after 1 s/) });
    expect(await living(at)).toEqual([]);
    await expect.poll(() => boxesOf(at), { timeout: 5_000 }).toEqual([]);
  });

  test("[TOOL-125] H25 a stopped command may say its last words", async () => {
    await using at = boxed();
    const stop = new AbortController();
    const command = "trap 'echo last; exit' TERM; echo begun; while :; do sleep .1; done";
    const output = () => stop.abort("stopped");
    const outcome = await at.call("bash", { command }, { signal: stop.signal, output });
    // Where the stop meets the sleep first, the shell tells of that as well.
    expect(outcome.text).toMatch(/^begun\n(?:Terminated\n)?last\n⟨stopped/);
    expect(await living(at)).toEqual([]);
  });

  test("[TOOL-125] jobs are started, read, waited for and stopped", async () => {
    await using at = boxed();
    const command = "echo up; while [ ! -e go ]; do sleep .05; done; echo more; exit 4";
    expect((await at.call("bash", { command, background: true })).text).toMatch(/⟨job 1: running⟩$/);
    at.file("go", "");
    expect((await at.call("job", { action: "wait", id: "1" })).text).toMatch(/more\n⟨job 1: exit 4⟩$/);
    await at.call("bash", { command: "setsid sleep 60 & sleep 60", background: true });
    expect((await at.call("job", { action: "stop", id: "2" })).text).toMatch(/⟨job 2: stopped/);
    expect(await living(at)).toEqual([]);
  });

  test("[TOOL-126] what a command can write decides nothing that runs outside", async () => {
    await using at = boxed([], {
      change: (real) => ({
        ...real,
        processes: {
          ...real.processes,
          environment: () => ({
            PATH: `${at.ws}/bin:${process.env.PATH ?? ""}`,
            BASH_ENV: `${at.ws}/env.sh`,
            LD_PRELOAD: "",
            "BASH_FUNC_exec%%": "() { touch outside; }",
          }),
        },
      }),
    });
    const marker = join(at.base, "outside");
    const bad = `#!/bin/sh\n: > ${marker}\nexec /bin/cat "$@"\n`;
    for (const name of ["cat", "bash", "bwrap"]) {
      at.file(`bin/${name}`, bad);
      chmodSync(join(at.ws, "bin", name), 0o755);
    }
    at.file("env.sh", `: > ${marker}\n`);
    expect((await run(at, "echo hi")).text).toContain("hi\n");
    expect(existsSync(marker)).toBe(false);
  });

  test("[TOOL-127] places with keys in the user's home are empty", async () => {
    await using at = boxed([], {
      change: (real) => ({
        ...real,
        files: {
          ...real.files,
          get userHome() {
            return join(at.base, "user");
          },
        },
      }),
    });
    for (const folder of [".ssh", ".config/gh", "dotfiles/aws", ".cargo"]) {
      mkdirSync(join(at.base, "user", folder), { recursive: true });
      writeFileSync(join(at.base, "user", folder, "secret"), "SECRET\n");
    }
    writeFileSync(join(at.base, "user/.netrc"), "SECRET\n");
    symlinkSync("dotfiles/aws", join(at.base, "user/.aws"));
    const place = { ...at.place, cwd: join(at.base, "user") };
    const command = "cat .ssh/* .config/gh/* .netrc .aws/* dotfiles/aws/*; echo; wc -c .cargo/secret";
    const prepared = await at.box.get("bash")?.prepare({ command }, place);
    if (prepared === undefined || "error" in prepared) throw new Error("bash prepares");
    const quiet = { callId: "c", output: () => {}, ask: async () => null, rows: () => [] };
    const { text } = await prepared.run({ ...quiet, signal: new AbortController().signal });
    expect(text).not.toContain("SECRET");
    expect(text).toContain("7 .cargo/secret");
  });
});

/** Command lines of living sandboxes of this scratch's commands. */
async function boxesOf(at: Scratch): Promise<readonly string[]> {
  const lines = readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ")];
    } catch {
      // It ended while it was looked at.
      return [];
    }
  });
  return lines.filter((line) => line.includes(homeMark(at.place.home)));
}
