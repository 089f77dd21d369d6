import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { makeProject } from "./project.ts";

const run = promisify(execFile);

test("a project is a clean repository with TODO comments and exactly one failing test, and leaves nothing", async () => {
  let dir = "";
  {
    await using project = await makeProject("tasks");
    dir = project.dir;
    const git = async (...args: string[]) => (await run("git", args, { cwd: dir })).stdout.trim();
    expect(await git("status", "--porcelain")).toBe("");
    expect(await git("log", "--format=%s %aI")).toBe("first version 2026-01-01T00:00:00+00:00");
    expect(readFileSync(project.path("src/list.js"), "utf8")).toContain("// TODO: refuse an empty title");
    const env = { PATH: process.env.PATH };
    const failed = await run(process.execPath, ["--test"], { cwd: dir, env }).catch(
      (error: { stdout: string }) => error,
    );
    expect(failed.stdout).toMatch(/pass 2\b/);
    expect(failed.stdout).toMatch(/fail 1\b/);
    await project.write("deep/er/new.txt", "x");
    expect(await git("status", "--porcelain")).toBe("?? deep/");
  }
  expect(existsSync(dir)).toBe(false);
});

test("two projects are apart, with the same commit", async () => {
  await using one = await makeProject();
  await using two = await makeProject();
  const head = async (dir: string) => (await run("git", ["rev-parse", "HEAD"], { cwd: dir })).stdout;
  expect(one.dir).not.toBe(two.dir);
  expect(await head(one.dir)).toBe(await head(two.dir));
});
