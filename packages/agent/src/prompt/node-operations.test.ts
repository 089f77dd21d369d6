import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@varve/sim";
import { expect, test } from "vitest";
import { nodeContextOperations } from "./node-operations.ts";

async function folder() {
  const path = await realpath(await mkdtemp(join(tmpdir(), "varve-context-")));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
const operations = nodeContextOperations({ clock: createFakeClock(), shell: "/bin/bash" });
const git = (cwd: string, ...args: readonly string[]) => execFileSync("git", args, { cwd, stdio: "ignore" });

test("[CTX-7] a file is read up to its cap, in whole characters and without its byte order mark", async () => {
  await using dir = await folder();
  await writeFile(join(dir.path, "A"), "\uFEFFab😀cd");
  expect(await operations.readText(join(dir.path, "A"), { charsMax: 100 })).toMatchObject({
    text: "ab😀cd",
    clipped: false,
  });
  expect(await operations.readText(join(dir.path, "A"), { charsMax: 3 })).toMatchObject({ text: "ab", clipped: true });
});

test("[CTX-7] what is not there or is no file is null", async () => {
  await using dir = await folder();
  execFileSync("mkfifo", [join(dir.path, "pipe")]);
  expect(await operations.readText(join(dir.path, "none"), { charsMax: 10 })).toBeNull();
  expect(await operations.readText(dir.path, { charsMax: 10 })).toBeNull();
  expect(await operations.list(join(dir.path, "none"), 10)).toBeNull();
  expect(await operations.repository(dir.path)).toBeNull();
  expect(await operations.place(dir.path)).toBeNull();
});

test("[CTX-7] a directory is listed in order, folders marked, the rest counted", async () => {
  await using dir = await folder();
  await mkdir(join(dir.path, "b"));
  for (const name of ["c", "a", "B"]) await writeFile(join(dir.path, name), "");
  expect(await operations.list(dir.path, 3)).toEqual({ names: ["B", "a", "b/"], more: 1 });
});

test("[CTX-7] a repository tells root, place, branch and changes, also before its first commit", async () => {
  await using dir = await folder();
  git(dir.path, "init", "-b", "trunk");
  await mkdir(join(dir.path, "pkg"));
  await writeFile(join(dir.path, "pkg", "new"), "");
  const at = join(dir.path, "pkg");
  expect(await operations.repository(at)).toEqual({ root: dir.path, prefix: "pkg/", branch: "trunk", changed: 1 });
  expect(await operations.place(at)).toEqual({ root: dir.path, prefix: "pkg/" });
  git(dir.path, "add", ".");
  git(dir.path, "commit", "-m", "x");
  expect(await operations.repository(dir.path)).toEqual({ root: dir.path, prefix: "", branch: "trunk", changed: 0 });
  git(dir.path, "checkout", "--detach");
  expect(await operations.repository(dir.path)).toMatchObject({ branch: null });
});
