/** Ways around the workspace's edge that go through the system's own views of files and processes. */
import { spawn } from "node:child_process";
import { readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runPrepared, scratch } from "./testing/scratch.ts";

const linux = process.platform === "linux";
const threads = linux ? readdirSync("/proc/self/task") : [];

describe.runIf(linux)("the process table", () => {
  test("[TOOL-11] the server's threads are the server", async () => {
    await using at = scratch();
    expect(threads.length).toBeGreaterThan(1);
    for (const thread of threads) {
      for (const path of [`/proc/${thread}/environ`, `/proc/${thread}/cmdline`, `/proc/self/task/${thread}/environ`]) {
        expect(await at.call("read", { path }), path).toMatchObject({
          isError: true,
          text: expect.stringContaining("no tool"),
        });
      }
      expect(await at.call("list", { path: `/proc/${thread}` })).toMatchObject({ isError: true });
    }
  });

  test("[TOOL-11] what another process was started with is not told, the rest of it is outside", async () => {
    await using at = scratch();
    const child = spawn("sleep", ["60"], { env: { SECRET: "canary", PATH: process.env.PATH } });
    try {
      for (const name of ["environ", "mem", `task/${child.pid}/environ`]) {
        const outcome = await at.call("read", { path: `/proc/${child.pid}/${name}` });
        expect(outcome, name).toMatchObject({ isError: true, text: expect.stringContaining("no tool") });
      }
      const search = await at.call("grep", { pattern: "canary", path: `/proc/${child.pid}` });
      expect(search.text).not.toContain("SECRET");
      expect(await at.prepare("read", { path: `/proc/${child.pid}/comm` })).toMatchObject({ effect: "run" });
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("[TOOL-12] searches leave it out", async () => {
    await using at = scratch();
    expect(await at.call("grep", { pattern: "PATH=", path: "/proc" })).toMatchObject({ isError: true });
    expect(await at.call("glob", { pattern: "environ", path: "/proc/1" })).toMatchObject({ isError: true });
  });

  test.each(["root", "cwd"])("[TOOL-10] a way through /proc/<pid>/%s ends at the real path", async (name) => {
    await using at = scratch();
    writeFileSync(join(at.place.home, "token"), "SECRET");
    const child = spawn("sleep", ["60"], { cwd: at.place.home });
    try {
      const path = `/proc/${child.pid}/${name}${name === "root" ? at.place.home : ""}/token`;
      expect(await at.call("read", { path })).toMatchObject({
        isError: true,
        text: expect.not.stringContaining("SECRET"),
      });
    } finally {
      child.kill("SIGKILL");
    }
  });
});

test("[TOOL-11] no command starts in a directory that became a link into the home", async () => {
  await using at = scratch();
  writeFileSync(join(at.place.home, "token"), "SECRET");
  const prepared = await at.prepare("bash", { command: "cat tok*" });
  renameSync(at.ws, join(at.base, "elsewhere"));
  symlinkSync(at.place.home, at.ws);
  const run = {
    callId: "c",
    signal: new AbortController().signal,
    output: () => {},
    ask: async () => null,
    rows: () => [],
  };
  await expect(prepared.run(run).then(({ text, isError }) => ({ text, isError }))).resolves.toMatchObject({
    isError: true,
    text: expect.not.stringContaining("SECRET"),
  });
});

test.each([
  ["grep", { pattern: "SECRET", path: "sub" }],
  ["glob", { pattern: "*", path: "sub" }],
  ["grep", { pattern: "SECRET", path: "sub/token" }],
])("[TOOL-13] %s %j: a link put in the way after the check is not searched", async (name, args) => {
  await using at = scratch();
  at.file("sub/token", "plain");
  writeFileSync(join(at.place.home, "token"), "SECRET");
  const prepared = await at.prepare(name, args);
  renameSync(join(at.ws, "sub"), join(at.ws, "was-sub"));
  symlinkSync(at.place.home, join(at.ws, "sub"));
  const outcome = await runPrepared(prepared).catch(() => ({ text: "failed", isError: true }));
  expect(outcome).toMatchObject({ isError: true });
  expect(outcome.text).not.toContain("1:SECRET");
});

test("[TOOL-13] a file that became a link after the check is not searched", async () => {
  await using at = scratch();
  at.file("f", "plain");
  writeFileSync(join(at.place.home, "token"), "SECRET");
  const prepared = await at.prepare("grep", { pattern: "SECRET", path: "f" });
  rmSync(join(at.ws, "f"));
  symlinkSync(join(at.place.home, "token"), join(at.ws, "f"));
  const outcome = await runPrepared(prepared).catch(() => ({ text: "failed", isError: true }));
  expect(outcome).toMatchObject({ isError: true, text: expect.not.stringContaining("SECRET") });
});

test.runIf(linux)("[TOOL-66] a program that a search starts is handed no environment", async () => {
  await using at = scratch();
  const seen: string[] = [];
  const { code } = await at.operations.processes.run({
    file: "/bin/sh",
    args: ["-c", "/bin/cat /proc/$$/environ"],
    cwd: at.ws,
    signal: new AbortController().signal,
    onBytes: (bytes) => seen.push(Buffer.from(bytes).toString()) > 0,
  });
  expect(code).not.toBeNull();
  expect(seen.join("")).toBe("");
});
