import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toolLimits } from "./limits.ts";
import { type FileOperations, WorldFault } from "./operations.ts";
import { type Scratch, scratch } from "./testing/scratch.ts";

const change = (path: string, ...lines: readonly string[]): string =>
  `${[`--- a/${path}`, `+++ b/${path}`, ...(lines.length > 0 ? lines : ["@@", "-one", "+two"])].join("\n")}\n`;
const created = (path: string): string => `--- /dev/null\n+++ b/${path}\n@@\n+new\n`;
const deleted = (path: string): string => `--- a/${path}\n+++ /dev/null\n@@\n-one\n`;
const withFiles = (part: (real: FileOperations) => Partial<FileOperations>) =>
  scratch({ change: (real) => ({ ...real, files: { ...real.files, ...part(real.files) } }) });
const textIn = (at: Scratch, name: string): string => readFileSync(join(at.ws, name), "utf8");

describe("a patch that can't be done to its end", () => {
  test("[TOOL-144] a deleted file comes back with its mode", async () => {
    await using at = withFiles((real) => ({
      stage: async (path, bytes) => {
        const staged = await real.stage(path, bytes);
        const commit = async () => {
          await staged.discard();
          throw new WorldFault("EIO", path);
        };
        return path.endsWith("b") ? { ...staged, commit } : staged;
      },
    }));
    chmodSync(at.file("run.sh", "one\n"), 0o750);
    at.file("b", "one\n");
    expect((await at.call("patch", { patch: deleted("run.sh") + change("b") })).isError).toBe(true);
    expect(readdirSync(at.ws).map((name) => textIn(at, name))).toEqual(["one\n", "one\n"]);
    expect(statSync(join(at.ws, "run.sh")).mode & 0o7777).toBe(0o750);
  });

  test("[TOOL-144] a place that two files want is given to neither", async () => {
    await using at = scratch();
    at.file("f", "one\n");
    const patch = deleted("f") + created("way/in") + created("way");
    expect(await at.call("patch", { patch })).toMatchObject({ isError: true });
    expect(textIn(at, "f")).toBe("one\n");
    expect(existsSync(join(at.ws, "way/in"))).toBe(false);
  });

  test("[TOOL-144] a file that was replaced and then could not be synced is put back too", async () => {
    await using at = withFiles((real) => ({
      stage: async (path, bytes) => {
        const staged = await real.stage(path, bytes);
        const commit = async () => {
          await staged.commit();
          throw new WorldFault("EIO", path);
        };
        return path.endsWith("b") ? { ...staged, commit } : staged;
      },
    }));
    for (const name of ["a", "b", "c"]) at.file(name, "one\n");
    const { isError, text } = await at.call("patch", { patch: change("a") + change("b") + change("c") });
    expect(isError).toBe(true);
    expect(text).not.toContain("undone");
    expect(readdirSync(at.ws).map((name) => textIn(at, name))).toEqual(["one\n", "one\n", "one\n"]);
  });

  test("[TOOL-144] a file beside the others that can't be taken away keeps nothing from being put back", async () => {
    await using at = withFiles((real) => ({
      stage: async (path, bytes) => {
        const staged = await real.stage(path, bytes);
        if (path.endsWith("a")) return staged;
        const fault = async () => {
          await staged.discard();
          throw new WorldFault("EIO", path);
        };
        return { commit: fault, discard: fault };
      },
    }));
    for (const name of ["a", "b", "c"]) at.file(name, "one\n");
    expect((await at.call("patch", { patch: change("a") + change("b") + change("c") })).isError).toBe(true);
    expect(readdirSync(at.ws).map((name) => textIn(at, name))).toEqual(["one\n", "one\n", "one\n"]);
  });

  test("[TOOL-144] what somebody else wrote meanwhile is not written over, and is named", async () => {
    await using at = withFiles(() => ({
      remove: async (path) => {
        writeFileSync(join(path, "../a"), "theirs\n");
        throw new WorldFault("EACCES", path);
      },
    }));
    for (const name of ["a", "c"]) at.file(name, "one\n");
    const { text } = await at.call("patch", { patch: change("a") + deleted("c") });
    expect(text).toBe("The patch failed half way and could not be undone. Changed are: a.");
    expect([textIn(at, "a"), textIn(at, "c")]).toEqual(["theirs\n", "one\n"]);
  });
});

describe("files in the way of each other", () => {
  const before = (at: Scratch) => {
    at.file("f", "one\n");
    symlinkSync("f", join(at.ws, "link"));
    mkdirSync(join(at.ws, "sub"));
    symlinkSync("..", join(at.ws, "sub/up"));
  };

  test.each([
    ["by the same name", change("f") + change("f")],
    ["by another spelling", change("f") + change("./sub/../f")],
    ["by a link", change("f") + change("link")],
    ["by a directory that is a link", change("f") + change("sub/up/f")],
    ["changed and deleted", change("f") + deleted("f")],
    ["deleted and made", deleted("f") + created("f")],
    ["made twice", created("new") + created("sub/../new")],
    ["made and deleted", created("new") + deleted("new")],
    ["made twice through a link", created("new") + created("sub/up/new")],
    ["below a file that goes", deleted("f") + created("f/in")],
    ["a directory", change("f") + change("sub")],
    ["a new file where a directory is", change("f") + created("sub")],
  ])("[TOOL-142] %s: nothing is changed", async (_, patch) => {
    await using at = scratch();
    before(at);
    expect(await at.call("patch", { patch })).toMatchObject({ isError: true });
    expect(readdirSync(at.ws)).toEqual(["f", "link", "sub"]);
    expect(textIn(at, "f")).toBe("one\n");
  });

  test("[TOOL-144] another name of the same file keeps the old bytes", async () => {
    await using at = scratch();
    before(at);
    linkSync(join(at.ws, "f"), join(at.ws, "twin"));
    expect((await at.call("patch", { patch: change("f") })).isError).toBe(false);
    expect([textIn(at, "f"), textIn(at, "twin")]).toEqual(["two\n", "one\n"]);
  });
});

describe("large patches", () => {
  const alike = "a\n".repeat(20_000);
  const some: readonly string[] = Array(5_000).fill(" a");

  test("[TOOL-154] lines that are all alike are not compared for ever", async () => {
    await using at = scratch();
    at.file("f", `${alike}b\n${alike}`);
    // Fits once, and its rarest line says where.
    expect((await at.call("patch", { patch: change("f", "@@", ...some, "-b", "+c") })).isError).toBe(false);
    const hunk = [...some, "-a", "+d", ...some];
    const nowhere = await at.call("patch", { patch: change("f", "@@", ...hunk, " e") });
    expect(nowhere).toMatchObject({ isError: true, text: expect.stringContaining('the file has no line "e"') });
    const many = await at.call("patch", { patch: change("f", "@@", ...hunk) });
    expect(many).toMatchObject({ isError: true, text: expect.stringContaining("too much like the others") });
    const named = await at.call("patch", { patch: change("f", "@@ -1001 +1001 @@", ...hunk) });
    expect(named.isError).toBe(false);
    expect(textIn(at, "f").split("\n").indexOf("d")).toBe(6_000);
  });

  test("[TOOL-154] a hunk may add more lines than a call has arguments", async () => {
    await using at = scratch();
    at.file("f", "a\n");
    const outcome = await at.call("patch", { patch: change("f", "@@", " a", Array(200_000).fill("+b").join("\n")) });
    expect(outcome.isError).toBe(false);
    expect(textIn(at, "f")).toBe(`a\n${"b\n".repeat(200_000)}`);
  });

  test("[TOOL-154] thousands of hunks that are nowhere are told of, the first of them with the reason", async () => {
    await using at = scratch();
    at.file("f", alike);
    const hunks = Array.from({ length: 5_000 }, (_, i) => ["@@", `-x${i}`, "+y"]).flat();
    const { text } = await at.call("patch", { patch: change("f", ...hunks) });
    expect(text.split("\n")).toHaveLength(toolLimits.patchProblemsMax + 2);
    expect(text).toContain('hunk 20: the file has no line "x19"');
    expect(textIn(at, "f")).toBe(alike);
  });
});
