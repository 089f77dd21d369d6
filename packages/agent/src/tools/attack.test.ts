/** Ways around the workspace's edge that go through the system's own views of files and processes. */
import { spawn } from "node:child_process";
import { readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch } from "./testing/scratch.ts";

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
  const run = { callId: "c", signal: new AbortController().signal, output: () => {}, ask: async () => null };
  await expect(prepared.run(run).then(({ text, isError }) => ({ text, isError }))).resolves.toMatchObject({
    isError: true,
    text: expect.not.stringContaining("SECRET"),
  });
});
