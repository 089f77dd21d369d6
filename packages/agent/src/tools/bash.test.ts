import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { toolLimits } from "./limits.ts";
import { nodeOperations } from "./node-operations.ts";
import { markVariable } from "./shell-env.ts";
import { homeMark } from "./shell-task.ts";
import { runPrepared, type Scratch, scratch } from "./testing/scratch.ts";
import type { ToolBox } from "./tool.ts";
import { createToolBox, endOrphans } from "./toolbox.ts";

const secondsSince = (start: number) => (performance.now() - start) / 1_000;

/** Living processes of this scratch's calls. */
const living = async (at: Scratch) =>
  (await at.operations.processes.marked(markVariable, homeMark(at.place.home))) ?? [];

const run = (at: Scratch, command: string, timeoutMs = 20_000) => at.call("bash", { command, timeoutMs });

describe("the life of a command", () => {
  test.each([
    ["sleep 30 & echo hi", 1],
    ["setsid sleep 30 & echo hi", 1],
    ["(setsid sleep 30 &) ; sleep 30 & echo hi", 2],
  ])("[TOOL-60] H22 %s returns at once, counts what goes on, and the tab's end ends it", async (command, left) => {
    await using at = scratch();
    const start = performance.now();
    const outcome = await run(at, command);
    expect(secondsSince(start)).toBeLessThan(5);
    const words = left === 1 ? "1 background process" : `${left} background processes`;
    expect(outcome).toMatchObject({
      isError: false,
      text: `hi\n⟨${words} still running⟩`,
      details: { exitCode: 0, background: left },
    });
    expect(await living(at)).toHaveLength(left);
    await at.box.closePlace(at.place.tabId);
    expect(await living(at)).toEqual([]);
  });

  test("[TOOL-60] H22 later output does not grow the result, and does not end its writer", async () => {
    await using at = scratch();
    const outcome = await run(
      at,
      "(for i in 1 2 3 4 5 6 7 8; do sleep .2; echo later$i; done; echo end > done.txt) & echo hi",
    );
    expect(outcome.text).toMatch(/^hi\n/);
    expect(outcome.text).not.toContain("later5");
    await run(at, "while [ ! -e done.txt ]; do sleep .05; done");
    expect(existsSync(join(at.ws, "done.txt"))).toBe(true);
  });

  test("[TOOL-60] H22 what a call left running ends when its turn is stopped", async () => {
    await using at = scratch();
    const turn = new AbortController();
    await at.call("bash", { command: "setsid sleep 30 & echo hi" }, { signal: turn.signal });
    expect(await living(at)).toHaveLength(1);
    turn.abort("stopped");
    await at.box.closePlace(at.place.tabId);
    expect(await living(at)).toEqual([]);
  });

  test.each([
    ["cat", "⟨no output⟩", 0],
    ['read x; echo "got:$x"', "got:\n", 0],
    ["true", "⟨no output⟩", 0],
    ["exit 3", "⟨no output⟩\n⟨exit 3⟩", 3],
    ["echo out; echo err >&2; exit 1", "out\nerr\n⟨exit 1⟩", 1],
    ["printf 'no end'; exit 2", "no end\n⟨exit 2⟩", 2],
    ["echo both > /dev/stderr; echo again > /dev/stdout", "both\nagain\n", 0],
    ["no-such-program", /not found\n⟨exit 127⟩$/, 127],
    ["kill -9 $$", "⟨no output⟩\n⟨killed by SIGKILL⟩", undefined],
    ["kill -TERM $$", "⟨no output⟩\n⟨killed by SIGTERM⟩", undefined],
    ["if then", /syntax error[\s\S]*⟨exit 2⟩$/, 2],
  ])("[TOOL-61] H22 %s", async (command, text, exitCode) => {
    await using at = scratch();
    const outcome = await run(at, command);
    expect(outcome.text).toEqual(text instanceof RegExp ? expect.stringMatching(text) : text);
    expect(outcome.isError).toBe(exitCode !== 0);
    expect(outcome.details?.exitCode).toBe(exitCode);
  });

  test("[TOOL-62] H22 no pager, no editor, no prompt", async () => {
    await using at = scratch();
    const git = (...args: readonly string[]) => execFileSync("git", [...args], { cwd: at.ws, stdio: "pipe" });
    git("init", "-q");
    const stream = Array.from(
      { length: 500 },
      (_, i) => `commit refs/heads/main\ncommitter T <t@varve.invalid> ${i} +0000\ndata 2\nc\n\n`,
    ).join("");
    execFileSync("git", ["fast-import", "--quiet"], { cwd: at.ws, input: stream });
    git("symbolic-ref", "HEAD", "refs/heads/main");
    const log = await run(at, "git log --oneline | wc -l; git log > /dev/null; git log | head -1");
    expect(log.text).toMatch(/^500\ncommit /);
    expect((await run(at, "git log")).isError).toBe(false);
    const commit = await run(at, "echo x > f; git add f; git commit");
    expect(commit).toMatchObject({ isError: true, text: expect.stringMatching(/empty commit message/) });
    expect((await run(at, "sudo -n true; ssh-askpass; true")).text).not.toContain("timed out");
  });

  test.each([
    "trap '' TERM; sleep 60",
    "sh -c 'sleep 60' & sleep 60",
    "setsid sleep 60 & (trap '' TERM; sleep 60) & sleep 60",
    "exec env -i sleep 60",
  ])("[TOOL-63] H22 after its time nothing of it lives: %s", async (command) => {
    await using at = scratch();
    const start = performance.now();
    const outcome = await run(at, `echo begun; ${command}`, 1_000);
    expect(secondsSince(start)).toBeLessThan(6);
    expect(outcome).toMatchObject({ isError: true, text: expect.stringMatching(/^begun\n⟨timed out after 1 s/) });
    expect(outcome.details?.exitCode).not.toBe(0);
    expect(await living(at)).toEqual([]);
  });

  test("[TOOL-63] H25 a stopped call ends its processes and keeps what it said", async () => {
    await using at = scratch();
    const stop = new AbortController();
    const outcome = await at.call(
      "bash",
      { command: "echo begun; sleep 60; touch X" },
      { signal: stop.signal, output: () => stop.abort("stopped") },
    );
    expect(outcome).toMatchObject({ isError: true, text: expect.stringMatching(/^begun\n⟨stopped/) });
    expect(await living(at)).toEqual([]);
    expect(existsSync(join(at.ws, "X"))).toBe(false);
  });

  test("[TOOL-64] H22 half a gigabyte of output: start and end kept, memory bounded, the rest in a file", async () => {
    await using at = scratch();
    const before = process.memoryUsage().heapUsed;
    const outcome = await run(at, "yes | head -c 500000000; echo end", 60_000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 * 1024 ** 2);
    expect(outcome.text.length).toBeLessThan(toolLimits.outputCharsMax + 300);
    expect(outcome.text).toMatch(/^y\ny\n[\s\S]*characters left out[\s\S]*y\nend\n$/);
    expect(outcome.spill?.bytes.length).toBe(toolLimits.spillBytesMax);
  }, 90_000);

  test("[TOOL-64] the file with the whole output can be read and searched without a question", async () => {
    await using at = scratch();
    const outcome = await run(at, "seq 1 20000");
    const path = /the whole output is in (\S+)⟩/.exec(outcome.text)?.[1] ?? "";
    expect(outcome.spill?.bytes).toEqual(readFileSync(path));
    const read = await at.prepare("read", { path, offset: 10_000, limit: 1 });
    expect(read.effect).toBe("read");
    expect((await at.call("read", { path, offset: 10_000, limit: 1 })).text).toMatch(/^10000\t10000\n/);
    expect((await at.prepare("grep", { pattern: "^7777$", path })).effect).toBe("read");
    expect((await at.call("write", { path: `${path}.x`, content: "" })).text).toMatch(/can be read and not changed/);
    const other = { ...at.place, tabId: JSON.parse('"other"') };
    expect(await at.box.get("read")?.prepare({ path }, other)).toMatchObject({ effect: "run" });
    await at.box.closePlace(at.place.tabId);
    expect(existsSync(path)).toBe(false);
  });

  test("[TOOL-64] a server may keep spill files in its home, and they outlive it", async () => {
    await using at = scratch();
    const inHome = { ...at.place, home: at.base };
    const prepare = async (box: ToolBox, name: string, args: JsonObject) => {
      const prepared = await box.get(name)?.prepare(args, inHome);
      if (prepared === undefined || "error" in prepared) throw new Error(prepared?.error ?? name);
      return prepared;
    };
    const { text } = await at.call("bash", { command: "seq 1 20000" });
    const path = /the whole output is in (\S+)⟩/.exec(text)?.[1] ?? "";
    await at.box.close();
    const later = createToolBox(nodeOperations({ spillRoot: join(at.base, "spill") }));
    const read = await prepare(later, "read", { path, limit: 1 });
    expect(read.effect).toBe("read");
    expect((await runPrepared(read)).text).toMatch(/^1\t1\n/);
    await expect(prepare(later, "read", { path: join(at.base, "spill/other/x") })).rejects.toThrow(/no tool may touch/);
  });

  test("[TOOL-65] output comes live, in order, and the result says the same", async () => {
    await using at = scratch();
    const seen: string[] = [];
    const outcome = await at.call(
      "bash",
      { command: "echo one; printf '\\033[31mtwo\\033[0m\\n'; printf '10%%\\r20%%\\n'" },
      { output: (text) => seen.push(text) },
    );
    expect(seen.join("")).toBe("one\ntwo\n10%\r20%\n");
    expect(outcome.text).toBe("one\ntwo\n20%\n");
  });

  test("[TOOL-65] output that is late on a busy machine is not lost", async () => {
    const late = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
    await using at = scratch({
      change: (real) => ({
        ...real,
        processes: {
          ...real.processes,
          startShell: async (start) => {
            const shell = await real.processes.startShell(start);
            return {
              ...shell,
              closed: shell.closed.then(() => late(450)),
              onBytes: (listener) => shell.onBytes((bytes) => void late(400).then(() => listener?.(bytes))),
            };
          },
        },
      }),
    });
    expect((await run(at, "echo late; exit 3")).text).toBe("late\n⟨exit 3⟩");
  });

  test.each([
    ["printf '\\344\\270'; sleep .2; printf '\\255'", "中"],
    ["printf 'caf\\351\\n'", "caf\ufffd\n⟨non-UTF-8 output: some bytes are shown as \ufffd⟩"],
    ["head -c 1000 /dev/zero", "⟨binary output, 1000 bytes⟩"],
  ])("[TOOL-72] H23 %s", async (command, text) => {
    await using at = scratch();
    expect((await run(at, command)).text).toBe(text);
  });

  test("[TOOL-66] a child sees the user's environment, less Varve's and the hidden names", async () => {
    await using at = scratch({
      hiddenEnv: ["MY_KEY"],
      change: (real) => ({
        ...real,
        processes: {
          ...real.processes,
          environment: () => ({
            PATH: process.env.PATH ?? "",
            MINE: "1",
            MY_KEY: "secret",
            VARVE_TOKEN: "t",
            npm_lifecycle_event: "start",
          }),
        },
      }),
    });
    const { text } = await run(at, "env");
    expect(text).toContain("MINE=1\n");
    expect(text).toContain("PAGER=cat\n");
    for (const absent of ["secret", "VARVE", "npm_"]) expect(text).not.toContain(absent);
  });

  test("[TOOL-14] H22 a directory that is gone is said, and the next call works", async () => {
    await using at = scratch();
    renameSync(at.ws, `${at.ws}2`);
    expect(await run(at, "echo hi")).toMatchObject({
      isError: true,
      text: expect.stringContaining("does not exist any more"),
    });
    renameSync(`${at.ws}2`, at.ws);
    expect((await run(at, "echo hi; pwd")).text).toBe(`hi\n${at.ws}\n`);
    rmSync(at.ws, { recursive: true });
  });

  test("[TOOL-67] the prompt shows the text that runs, and its key is text and directory", async () => {
    await using at = scratch();
    const command = "echo a; echo b";
    expect(await at.prepare("bash", { command })).toMatchObject({
      effect: "run",
      lock: null,
      subject: { tool: "bash", command, key: `${command}\nin ${at.ws}` },
    });
  });

  test.each([
    [{ command: "  " }, /empty/],
    [{ command: "a\0b" }, /NUL/],
    [{ command: "x", timeoutMs: 5 }, /timeoutMs/],
    [{ command: "x", shell: "zsh" }, /shell/],
    [{}, /command/],
  ])("[TOOL-4] %j is refused in words", async (args, words) => {
    await using at = scratch();
    expect(await at.call("bash", args)).toMatchObject({ isError: true, text: expect.stringMatching(words) });
  });
});

describe("jobs", () => {
  test("[TOOL-80] a background command goes on, is read, waited for and told of once", async () => {
    await using at = scratch();
    const started = await at.call("bash", {
      command: "echo up; while [ ! -e go ]; do sleep .05; done; echo more; exit 4",
      background: true,
    });
    expect(started).toMatchObject({ isError: false, text: "up\n⟨job 1: running⟩", details: { job: "1" } });
    expect((await at.call("job", { action: "list" })).text).toMatch(/^job 1: running: echo up; while/);
    expect((await at.call("job", { action: "read", id: "1" })).text).toBe("⟨no new output⟩\n⟨job 1: running⟩");
    expect((await at.call("job", { action: "wait", id: "1", timeoutMs: 50 })).text).toMatch(/running⟩$/);
    at.file("go", "");
    expect((await at.call("job", { action: "wait", id: "1" })).text).toBe("more\n⟨job 1: exit 4⟩");
    expect((await at.call("job", { action: "read", id: "1" })).text).toBe("⟨no new output⟩\n⟨job 1: exit 4⟩");
  });

  test("[TOOL-80] one that fails at once says so at once", async () => {
    await using at = scratch();
    expect((await at.call("bash", { command: "echo no; exit 1", background: true })).text).toBe("no\n⟨job 1: exit 1⟩");
  });

  test("[TOOL-81] stop ends all of its processes", async () => {
    await using at = scratch();
    await at.call("bash", { command: "setsid sleep 60 & sleep 60", background: true });
    expect((await living(at)).length).toBeGreaterThanOrEqual(2);
    expect((await at.call("job", { action: "stop", id: "1" })).text).toMatch(/⟨job 1: stopped/);
    expect(await living(at)).toEqual([]);
  });

  test("[TOOL-81] a tab's end ends its jobs; another tab's go on", async () => {
    await using at = scratch();
    const other = { ...at.place, tabId: JSON.parse('"other"') };
    await at.call("bash", { command: "sleep 60", background: true });
    const prepared = await at.box.get("bash")?.prepare({ command: "sleep 60", background: true }, other);
    if (prepared === undefined || "error" in prepared) throw new Error("bash prepares");
    const quiet = {
      callId: "c",
      signal: new AbortController().signal,
      output: () => {},
      ask: async () => null,
      rows: () => [],
    };
    expect((await prepared.run(quiet)).text).toContain("job 1: running");
    const before = (await living(at)).length;
    await at.box.closePlace(at.place.tabId);
    expect((await living(at)).length).toBeLessThan(before);
    expect((await living(at)).length).toBeGreaterThan(0);
    await at.box.close();
    expect(await living(at)).toEqual([]);
  });

  test("[TOOL-82] one more than the most is refused, an unknown one is named", async () => {
    await using at = scratch();
    for (let i = 0; i < toolLimits.jobsRunningMax; i++) {
      expect((await at.call("bash", { command: "sleep 60", background: true })).isError).toBe(false);
    }
    expect((await at.call("bash", { command: "sleep 60", background: true })).text).toMatch(/8 jobs are running/);
    expect((await at.call("job", { action: "read", id: "77" })).text).toMatch(/There is no job 77. There are: 1, 2/);
    expect((await at.call("job", { action: "wait" })).text).toMatch(/needs the "id"/);
  });

  test("[TOOL-83] an aborted wait leaves the job alone", async () => {
    await using at = scratch();
    await at.call("bash", { command: "sleep 60", background: true });
    const stop = new AbortController();
    const waiting = at.call("job", { action: "wait", id: "1" }, { signal: stop.signal });
    queueMicrotask(() => stop.abort("stopped"));
    expect(await waiting).toMatchObject({ isError: true, text: expect.stringContaining("stopped") });
    expect((await at.call("job", { action: "list" })).text).toMatch(/running/);
  });

  test("[TOOL-84] a new server ends what an earlier one of its home left, and nothing of another home", async () => {
    await using at = scratch();
    await using other = scratch();
    await run(at, "setsid sleep 60 &");
    await run(other, "setsid sleep 60 &");
    await endOrphans(at.operations, at.place.home);
    expect(await living(at)).toEqual([]);
    expect(await living(other)).toHaveLength(1);
  });
});
