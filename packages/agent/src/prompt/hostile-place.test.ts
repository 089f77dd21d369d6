/** Directories that nobody has looked at yet: what they hold is read as text, and nothing in them is run. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { readInstructions } from "./instructions.ts";
import { nodeContextOperations } from "./node-operations.ts";

function place() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "varve-hostile-")));
  const [repo, home, out] = [join(base, "repo"), join(base, "home"), join(base, "out")];
  for (const folder of [repo, home, out]) mkdirSync(folder);
  const file = (path: string, text: string): string => {
    writeFileSync(join(base, path), text);
    return join(base, path);
  };
  return { base, repo, home, file, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }) };
}
const operations = nodeContextOperations({ clock: createFakeClock() });
const author = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
const git = (cwd: string, ...args: readonly string[]): void =>
  void execFileSync("git", [...author, ...args], { cwd, stdio: "ignore" });

/** A repository with one committed file whose bytes must be looked at again. */
function committed(repo: string): void {
  git(repo, "init", "-b", "trunk");
  writeFileSync(join(repo, "f"), "one\n");
  git(repo, "add", ".");
  git(repo, "commit", "-m", "x");
  writeFileSync(join(repo, "f"), "two\n");
  utimesSync(join(repo, "f"), 1, 1);
}

describe("a repository's own settings", () => {
  test.each([
    ["filter.x.clean"],
    ["filter.x.process"],
    ["filter.A b=c.d.clean"],
    ["core.fsmonitor"],
    ["core.hooksPath"],
  ])("[CTX-8] %s names a program that is not run", async (setting) => {
    using at = place();
    committed(at.repo);
    const mark = join(at.base, "was-run");
    const script = at.file("script", `#!/bin/sh\ntouch ${mark}\ncat\n`);
    execFileSync("chmod", ["+x", script]);
    const hooks = join(at.base, "hooks");
    mkdirSync(hooks);
    for (const hook of ["post-index-change", "fsmonitor-watchman"]) symlinkSync(script, join(hooks, hook));
    git(at.repo, "config", setting, setting === "core.hooksPath" ? hooks : script);
    const name = /^filter\.(.*)\.\w+$/.exec(setting)?.[1];
    if (name !== undefined) {
      git(at.repo, "config", `filter.${name}.required`, "true");
      // A name with a blank can't be asked for by an attribute; git still reads its settings.
      writeFileSync(join(at.repo, ".gitattributes"), `* filter=${name.split(" ")[0] ?? ""}\n`);
    }
    expect(await operations.repository(at.repo)).toMatchObject({ branch: "trunk" });
    expect(existsSync(mark)).toBe(false);
  });

  test("[CTX-8] settings that are included count as well", async () => {
    using at = place();
    committed(at.repo);
    const mark = join(at.base, "was-run");
    writeFileSync(join(at.repo, "more"), `[filter "x"]\n\tclean = touch ${mark}; cat\n`);
    git(at.repo, "config", "include.path", "../more");
    writeFileSync(join(at.repo, ".gitattributes"), "* filter=x\n");
    expect(await operations.repository(at.repo)).toMatchObject({ branch: "trunk", changed: 3 });
    expect(existsSync(mark)).toBe(false);
  });

  test("[CTX-8] a missing object is fetched from nowhere", async () => {
    using at = place();
    committed(at.repo);
    const mark = join(at.base, "was-run");
    for (const [name, value] of [
      ["core.repositoryformatversion", "1"],
      ["extensions.partialClone", "origin"],
      ["remote.origin.promisor", "true"],
      ["remote.origin.url", "ssh://host.invalid/x"],
      ["core.sshCommand", `touch ${mark}; false`],
    ] as const) {
      git(at.repo, "config", name, value);
    }
    rmSync(join(at.repo, ".git", "objects"), { recursive: true });
    mkdirSync(join(at.repo, ".git", "objects"));
    await operations.repository(at.repo);
    expect(existsSync(mark)).toBe(false);
  });

  test("[CTX-8] a module inside is not looked into", async () => {
    using at = place();
    const inner = join(at.repo, "inner");
    mkdirSync(inner);
    committed(inner);
    const mark = join(at.base, "was-run");
    git(inner, "config", "filter.x.clean", `touch ${mark}; cat`);
    writeFileSync(join(inner, ".gitattributes"), "* filter=x\n");
    git(at.repo, "init", "-b", "trunk");
    git(at.repo, "-c", "core.fsmonitor=false", "add", "inner");
    rmSync(mark, { force: true });
    expect(await operations.repository(at.repo)).toMatchObject({ branch: "trunk" });
    expect(existsSync(mark)).toBe(false);
  });
});

describe("instruction files", () => {
  const read = (at: ReturnType<typeof place>) =>
    readInstructions(operations, { home: at.home, cwd: at.repo, repository: null });

  test.each([["../out/secret"], ["../home/token"], ["/proc/self/environ"], ["way/secret"]])(
    "[CTX-9] a link to %s is not followed",
    async (target) => {
      using at = place();
      at.file("out/secret", "SECRET");
      at.file("home/token", "SECRET");
      symlinkSync("../out", join(at.repo, "way"));
      symlinkSync(target, join(at.repo, "AGENTS.md"));
      expect(await read(at)).toEqual({ blocks: [], files: [] });
    },
  );

  test("[CTX-9] a home inside the directory stays closed", async () => {
    using at = place();
    at.file("home/token", "SECRET");
    symlinkSync("home/token", join(at.base, "AGENTS.md"));
    const { blocks } = await readInstructions(operations, { home: at.home, cwd: at.base, repository: null });
    expect(blocks).toEqual([]);
  });

  test("[CTX-9] a link within the folder and one in the home are followed", async () => {
    using at = place();
    at.file("repo/CONTRIBUTING.md", "of the repository");
    symlinkSync("CONTRIBUTING.md", join(at.repo, "AGENTS.md"));
    at.file("out/mine.md", "of the person");
    symlinkSync("../out/mine.md", join(at.home, "AGENTS.md"));
    const { blocks } = await read(at);
    expect(blocks).toEqual([expect.stringContaining("of the person"), expect.stringContaining("of the repository")]);
  });

  test("[CTX-9] a named pipe in their place holds nothing up", async () => {
    using at = place();
    execFileSync("mkfifo", [join(at.repo, "AGENTS.md")]);
    writeFileSync(join(at.repo, "CLAUDE.md"), "here");
    // More of them than the process has threads for files.
    const all = await Promise.all(Array.from({ length: 8 }, () => read(at)));
    expect(all.map(({ blocks }) => blocks.length)).toEqual(Array.from({ length: 8 }, () => 1));
  });
});
