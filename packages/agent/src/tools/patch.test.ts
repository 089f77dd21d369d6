import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FileOperations, WorldFault } from "./operations.ts";
import { runPrepared, type Scratch, scratch } from "./testing/scratch.ts";

const mark = "\ufeff";
const git = (path: string, ...lines: readonly string[]): string =>
  `${[`--- a/${path}`, `+++ b/${path}`, ...lines].join("\n")}\n`;
const unended = "\\ No newline at end of file";

interface Row {
  readonly row: string;
  readonly before: string | Uint8Array;
  readonly hunks: readonly string[];
  /** The file's text afterwards, or a part of the error, with which every byte stays as it was. */
  readonly after: string | RegExp;
}

const rows: readonly Row[] = [
  {
    row: "a line changes",
    before: "a\nb\nc\n",
    hunks: ["@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"],
    after: "a\nB\nc\n",
  },
  { row: "a line comes", before: "a\nb\n", hunks: ["@@ -1,2 +1,3 @@", " a", "+x", " b"], after: "a\nx\nb\n" },
  { row: "a line goes", before: "a\nb\n", hunks: ["@@ -1,2 +1 @@", " a", "-b"], after: "a\n" },
  {
    row: "two hunks",
    before: "a\nb\nc\nd\n",
    hunks: ["@@ -1 +1 @@", "-a", "+A", "@@ -4 +4,2 @@", "-d", "+D", "+E"],
    after: "A\nb\nc\nD\nE\n",
  },
  { row: "wrong counts", before: "a\nb\n", hunks: ["@@ -7,9 +7,1 @@", " a", "-b", "+c"], after: "a\nc\n" },
  { row: "no numbers", before: "a\nb\n", hunks: ["@@", "-b", "+c"], after: "a\nc\n" },
  {
    row: "a word behind the head",
    before: "a\nb\n",
    hunks: ["@@ -2 +2 @@ function f() {", "-b", "+c"],
    after: "a\nc\n",
  },
  {
    row: "an empty line without its blank",
    before: "a\n\nb\n",
    hunks: ["@@ -1,3 +1,3 @@", " a", "", "-b", "+c"],
    after: "a\n\nc\n",
  },
  {
    row: "CRLF",
    before: "a\r\nb\r\nc\r\n",
    hunks: ["@@ -1,3 +1,4 @@", " a", "-b", "+B", "+C", " c"],
    after: "a\r\nB\r\nC\r\nc\r\n",
  },
  {
    row: "mixed ends",
    before: "a\r\nb\nc\r\n",
    hunks: ["@@ -1,3 +1,4 @@", " a", "-b", "+B", " c", "+d"],
    after: "a\r\nB\nc\r\nd\r\n",
  },
  { row: "CRLF asked for", before: "a\nb\n", hunks: ["@@ -2 +2 @@", "-b", "+B\r"], after: "a\nB\r\n" },
  { row: "byte order mark", before: `${mark}a\nb\n`, hunks: ["@@ -1 +1 @@", "-a", "+A"], after: `${mark}A\nb\n` },
  {
    row: "tabs",
    before: "\tx:\n\t\ty\n",
    hunks: ["@@ -1,2 +1,2 @@", " \tx:", "-\t\ty", "+\t\tz"],
    after: "\tx:\n\t\tz\n",
  },
  { row: "dollar signs", before: "x\n", hunks: ["@@ -1 +1 @@", "-x", "+$& $$ $1 $` $'"], after: "$& $$ $1 $` $'\n" },
  { row: "a lone CR", before: "a\rb\nc\n", hunks: ["@@ -1 +1 @@", "-a\rb", "+d\re"], after: "d\re\nc\n" },
  { row: "no final newline, unsaid", before: "a\nb", hunks: ["@@ -2 +2 @@", "-b", "+c"], after: "a\nc" },
  {
    row: "no final newline, said",
    before: "a\nb",
    hunks: ["@@ -2 +2 @@", "-b", unended, "+c", unended],
    after: "a\nc",
  },
  { row: "a final newline comes", before: "a\nb", hunks: ["@@ -2 +2 @@", "-b", unended, "+b"], after: "a\nb\n" },
  { row: "a final newline goes", before: "a\nb\n", hunks: ["@@ -2 +2 @@", "-b", "+b", unended], after: "a\nb" },
  {
    row: "behind a last line without end",
    before: "a\r\nb",
    hunks: ["@@ -2 +2,2 @@", " b", "+c"],
    after: "a\r\nb\r\nc",
  },
  { row: "into an empty file", before: "", hunks: ["@@ -0,0 +1 @@", "+a"], after: "a\n" },
  {
    row: "lines that look like a head",
    before: "-- x\n++ z\n",
    hunks: ["@@ -1,2 +1,2 @@", "--- x", "+++ y", " ++ z"],
    after: "++ y\n++ z\n",
  },
  {
    row: "one of several places, by number",
    before: "a\nx\na\n",
    hunks: ["@@ -3 +3 @@", "-a", "+b"],
    after: "a\nx\nb\n",
  },
  {
    row: "several places",
    before: "a\nx\na\n",
    hunks: ["@@ -2 +2 @@", "-a", "+b"],
    after: /2 places \(from lines 1, 3\)/,
  },
  {
    row: "another blank",
    before: "a  b\n",
    hunks: ["@@ -1 +1 @@", "-a b", "+c"],
    after: /other whitespace.*line 1 there is "a {2}b"/,
  },
  {
    row: "not there",
    before: "a\nb\n",
    hunks: ["@@ -1 +1 @@", "-x", "+c"],
    after: /line 1 it wants "x"; the file has "a"/,
  },
  {
    row: "beyond the end",
    before: "a\n",
    hunks: ["@@ -1,2 +1 @@", " a", "-x"],
    after: /line 2 it wants "x"; the file has ended there/,
  },
  {
    row: "one hunk of two",
    before: "a\nb\n",
    hunks: ["@@ -1 +1 @@", "-a", "+A", "@@ -2 +2 @@", "-x", "+y"],
    after: /f, hunk 2: /,
  },
  {
    row: "hunks in the wrong order",
    before: "a\nb\n",
    hunks: ["@@ -2 +2 @@", "-b", "+B", "@@ -1 +1 @@", "-a", "+A"],
    after: /before the end of the hunk above/,
  },
  { row: "no line of the file", before: "a\n", hunks: ["@@ -1,0 +2 @@", "+b"], after: /place is not certain/ },
  { row: "nothing changes", before: "a\n", hunks: ["@@ -1 +1 @@", " a"], after: /changes nothing/ },
  { row: "no hunk", before: "a\n", hunks: [], after: /no hunk/ },
  { row: "a line without sign", before: "a\n", hunks: ["@@ -1 +1 @@", "a", "+b"], after: /begins with neither/ },
  {
    row: "Latin-1",
    before: Buffer.from("636166e90a780a", "hex"),
    hunks: ["@@ -2 +2 @@", "-x", "+y"],
    after: /not UTF-8/,
  },
  {
    row: "a final newline that is not there",
    before: "a",
    hunks: ["@@ -1 +1 @@", " a", "+b", "@@ -9 +9 @@", "-a", "+c"],
    after: /hunk/,
  },
];

const textIn = (at: Scratch, path: string) => readFileSync(join(at.ws, path), "utf8");
const withFiles = (change: (real: FileOperations) => Partial<FileOperations>) =>
  scratch({ change: (real) => ({ ...real, files: { ...real.files, ...change(real.files) } }) });

describe("patch", () => {
  test.each(rows)("[TOOL-140] bytes in, bytes out: $row", async ({ before, hunks, after }) => {
    await using at = scratch();
    at.file("f", before);
    const outcome = await at.call("patch", { patch: git("f", ...hunks) });
    if (after instanceof RegExp) {
      expect(outcome).toMatchObject({ isError: true, text: expect.stringMatching(after) });
      expect(outcome.text).toContain("Nothing was changed");
      expect(readFileSync(join(at.ws, "f")).equals(Buffer.from(before))).toBe(true);
    } else {
      expect(outcome.text).toMatch(/^Changed f \(\+\d+ −\d+ lines\)\.$/);
      expect(textIn(at, "f")).toBe(after);
    }
    expect(readdirSync(at.ws)).toEqual(["f"]);
  });

  test("[TOOL-140] a patch that came with CRLF says nothing of the file's line ends", async () => {
    await using at = scratch();
    at.file("f", "a\nb\n");
    await at.call("patch", { patch: git("f", "@@ -2 +2 @@", "-b", "+c").replaceAll("\n", "\r\n") });
    expect(textIn(at, "f")).toBe("a\nc\n");
  });

  test("[TOOL-141] several files at once: one changed, one made with its directories, one deleted", async () => {
    await using at = scratch();
    at.file("a.txt", "one\n");
    at.file("old.txt", "x\ny\n");
    const patch = [
      "diff --git a/a.txt b/a.txt",
      "index 1..2 100644",
      git("a.txt", "@@ -1 +1 @@", "-one", "+two"),
      "diff --git a/new/deep.txt b/new/deep.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new/deep.txt\n@@ -0,0 +1,2 @@\n+p\n+q",
      "--- a/old.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n",
    ].join("\n");
    const prepared = await at.prepare("patch", { patch });
    const paths = ["a.txt", "new/deep.txt", "old.txt"].map((name) => join(at.ws, name));
    expect(prepared).toMatchObject({
      effect: "write",
      lock: paths,
      subject: { tool: "patch", key: paths.join("\n"), parts: paths.map((text) => ({ text, asks: true })) },
    });
    expect(prepared.subject.path).toBeUndefined();
    expect(readdirSync(at.ws)).toEqual(["a.txt", "old.txt"]);
    const outcome = await runPrepared(prepared);
    expect(outcome).toMatchObject({
      isError: false,
      text: "Patched 3 files:\nChanged a.txt (+1 −1 lines).\nCreated new/deep.txt (+2 −0 lines).\nDeleted old.txt (+0 −2 lines).",
      details: { summary: "+3 −3", diff: prepared.subject.diff, added: 3, removed: 3 },
    });
    expect(readdirSync(at.ws)).toEqual(["a.txt", "new"]);
    expect([textIn(at, "a.txt"), textIn(at, "new/deep.txt")]).toEqual(["two\n", "p\nq\n"]);
  });

  test("[TOOL-141] one file that does not fit keeps all of them as they were, and each is named", async () => {
    await using at = scratch();
    at.file("a", "one\n");
    at.file("b", "one\n");
    const patch = [
      git("a", "@@ -1 +1 @@", "-one", "+two"),
      git("b", "@@ -1 +1 @@", "-two", "+three"),
      git("gone", "@@ -1 +1 @@", "-x", "+y"),
    ].join("");
    const outcome = await at.call("patch", { patch });
    expect(outcome).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Nothing was changed, in no file\.\nb, hunk 1: .*\ngone does not exist\.$/),
    });
    expect([textIn(at, "a"), textIn(at, "b")]).toEqual(["one\n", "one\n"]);
  });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ["a rename", "--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", /can't rename/],
    ["a rename as git says it", "diff --git a/f b/g\nrename from f\nrename to g\n", /can't do "rename from f"/],
    ["a change of mode", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", /can't do "old mode/],
    ["binary", "diff --git a/f b/f\nBinary files a/f and b/f differ\n", /can't do "Binary/],
    ["no patch at all", "hello\n", /no file in this patch.*unified diff/],
    ["a hunk without file", "@@ -1 +1 @@\n-a\n+b\n", /before any "---"/],
    ["another format", "*** Begin Patch\n*** Update File: f\n", /unified diff/],
    ["a quoted path", '--- "a/f"\n+++ "b/f"\n@@ -1 +1 @@\n-a\n+b\n', /without quotes/],
    ["no path", "--- \t\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", /names no file/],
    ["nothing to nothing", "--- /dev/null\n+++ /dev/null\n", /names no file/],
    ["a new file that is there", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", /exists already/],
    ["a new file with old lines", "--- /dev/null\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n", /only have lines/],
    ["a deletion that shows not all", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", /does not remove all/],
    ["a deletion through a link", "--- a/link\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", /is a link/],
    ["a file twice", git("f", "@@", "-a", "+b") + git("./f", "@@", "-b", "+c"), /more than once/],
    ["a directory", git("dir", "@@", "-a", "+b"), /is a directory/],
    ["too many files", Array.from({ length: 33 }, (_, i) => git(`n${i}`, "@@", "+a")).join(""), /at most 32 files/],
    ["half a pair", git("f", "@@", "-a", "+\ud800"), /surrogate/],
    ["too long a path", git("f".repeat(5_000), "@@", "-a", "+b"), /too long/],
  ];
  test.each(refused)("[TOOL-142] %s is refused in words, before anyone is asked", async (_name, patch, words) => {
    await using at = scratch();
    at.file("f", "a\nb\n");
    mkdirSync(join(at.ws, "dir"));
    symlinkSync("f", join(at.ws, "link"));
    expect(await at.box.get("patch")?.prepare({ patch }, at.place)).toEqual({ error: expect.stringMatching(words) });
    expect(textIn(at, "f")).toBe("a\nb\n");
  });

  test("[TOOL-142] of many misfits the first are named", async () => {
    await using at = scratch();
    at.file("f", "a\n");
    const hunks = Array.from({ length: 50 }, (_, i) => `@@\n-x${i}\n+y`);
    const { text } = await at.call("patch", { patch: git("f", ...hunks) });
    expect(text.split("\n")).toHaveLength(22);
    expect(text).toMatch(/f, hunk 20: .*\n\.\.\. and 30 more\.$/);
  });

  test("[TOOL-143] a file that changed since it was read, or since the prompt, keeps all files as they are", async () => {
    await using at = scratch();
    at.file("a", "one\n");
    at.file("b", "one\n");
    const patch = git("a", "@@", "-one", "+two") + git("b", "@@", "-one", "+two");
    const prepared = await at.prepare("patch", { patch });
    at.file("b", "one\nmore\n");
    expect(await runPrepared(prepared)).toMatchObject({
      isError: true,
      text: expect.stringContaining("b changed on disk"),
    });
    await at.call("read", { path: "a" });
    at.file("a", "one\nmore\n");
    expect(await at.call("patch", { patch })).toMatchObject({ isError: true, text: expect.stringContaining("stale") });
    expect([textIn(at, "a"), textIn(at, "b")]).toEqual(["one\nmore\n", "one\nmore\n"]);
  });

  test("[TOOL-143] a patch and an edit of one step that were prepared together follow one another", async () => {
    await using at = scratch();
    at.file("a", "one\ntwo\n");
    const edit = await at.prepare("edit", { path: "a", oldText: "one", newText: "1" });
    const patch = await at.prepare("patch", { patch: git("a", "@@", "-two", "+2") });
    expect(patch.lock).toEqual([edit.lock]);
    expect((await runPrepared(edit)).isError).toBe(false);
    expect((await runPrepared(patch)).isError).toBe(false);
    expect(textIn(at, "a")).toBe("1\n2\n");
    expect((await at.call("write", { path: "a", content: "x" })).isError).toBe(false);
  });

  test("[TOOL-144] modes and links stay", async () => {
    await using at = scratch();
    chmodSync(at.file("dir/f", "one\n"), 0o751);
    symlinkSync("dir/f", join(at.ws, "link"));
    expect((await at.call("patch", { patch: git("link", "@@", "-one", "+two") })).isError).toBe(false);
    expect(statSync(join(at.ws, "dir/f")).mode & 0o7777).toBe(0o751);
    expect(textIn(at, "link")).toBe("two\n");
    expect(readdirSync(join(at.ws, "dir"))).toEqual(["f"]);
  });

  const three = `${git("a", "@@", "-one", "+two") + git("b", "@@", "-one", "+two")}--- a/c\n+++ /dev/null\n@@\n-one\n`;
  const threeFiles = (at: Scratch) => {
    for (const name of ["a", "b", "c"]) at.file(name, "one\n");
  };

  test("[TOOL-144] a disk that takes only the first file keeps all as they were", async () => {
    let taken = 0;
    await using at = withFiles((real) => ({
      stage: (path, bytes) => {
        taken += 1;
        return taken > 1 ? Promise.reject(new WorldFault("ENOSPC", path)) : real.stage(path, bytes);
      },
    }));
    threeFiles(at);
    const outcome = await at.call("patch", { patch: three });
    expect(outcome).toMatchObject({ isError: true, text: expect.stringContaining("disk is full") });
    expect(readdirSync(at.ws).map((name) => textIn(at, name))).toEqual(["one\n", "one\n", "one\n"]);
  });

  test("[TOOL-144] what was done is undone when a later file can't be, and may be patched again", async () => {
    let refusals = 1;
    await using at = withFiles((real) => ({
      remove: (path) => (refusals-- > 0 ? Promise.reject(new WorldFault("EACCES", path)) : real.remove(path)),
    }));
    threeFiles(at);
    expect(await at.call("patch", { patch: three })).toMatchObject({
      isError: true,
      text: expect.stringContaining("may not"),
    });
    expect(readdirSync(at.ws).map((name) => textIn(at, name))).toEqual(["one\n", "one\n", "one\n"]);
    expect((await at.call("patch", { patch: three })).isError).toBe(false);
    expect(readdirSync(at.ws).map((name) => textIn(at, name))).toEqual(["two\n", "two\n"]);
  });

  test("[TOOL-144] what can't even be undone is named", async () => {
    const fault = (path: string) => Promise.reject(new WorldFault("EROFS", path));
    await using at = withFiles(() => ({ remove: fault, replace: fault }));
    threeFiles(at);
    const { text } = await at.call("patch", { patch: three });
    expect(text).toBe("The patch failed half way and could not be undone. Changed are: a, b.");
  });

  test.each([
    ["../out/f", "run"],
    ["outbox/f", "run"],
    [".git/hooks/x", "run"],
    ["sub/f", "write"],
  ])("[TOOL-145] %s: a patch has the effect of its most daring file", async (path, effect) => {
    await using at = scratch();
    mkdirSync(join(at.base, "out"));
    writeFileSync(join(at.base, "out/f"), "one\n");
    symlinkSync(join(at.base, "out"), join(at.ws, "outbox"));
    at.file("plain", "one\n");
    for (const file of [".git/hooks/x", "sub/f"]) at.file(file, "one\n");
    const patch = git("plain", "@@", "-one", "+two") + git(path, "@@", "-one", "+two");
    expect((await at.prepare("patch", { patch })).effect).toBe(effect);
    const denied = `${git("plain", "@@", "-one", "+two")}--- /dev/null\n+++ b/../home/x\n@@\n+a\n`;
    expect(await at.call("patch", { patch: denied })).toMatchObject({
      isError: true,
      text: expect.stringContaining("no tool may touch"),
    });
    expect(textIn(at, "plain")).toBe("one\n");
  });
});

const word = fc.constantFrom("a", "b", "", "\t x", "é𝄞", "$&", "-- a", "++ b", "@@ c", "a\rb");
const end = fc.constantFrom("\n", "\r\n");

/** A file as lines with ends, and for each whether it stays, goes, or is replaced by others. */
const worlds = fc.record({
  lines: fc.array(
    fc.record({
      text: word,
      end,
      fate: fc.constantFrom("keep", "keep", "go", "swap"),
      others: fc.array(word, { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 14 },
  ),
  ended: fc.boolean(),
  marked: fc.boolean(),
});

test("[TOOL-146] whatever the file and the patch: the kept lines are the same bytes, and the new text is what was asked for", async () => {
  await using at = scratch();
  await fc.assert(
    fc.asyncProperty(worlds, async ({ lines, ended, marked }) => {
      const last = lines.length - 1;
      const ends = lines.map((line, i) => (i === last && !ended ? "" : line.end));
      const before = (marked ? mark : "") + lines.map((line, i) => line.text + ends[i]).join("");
      const hunk = lines.flatMap(({ text, fate, others }, i) => {
        const open = ends[i] === "" ? [unended] : [];
        if (fate === "keep") return [` ${text}`, ...open];
        return [`-${text}`, ...open, ...(fate === "swap" ? others.map((other) => `+${other}`) : [])];
      });
      fc.pre(lines.some(({ fate }) => fate !== "keep"));
      // A file that ends in an open empty line is one without that line.
      fc.pre(lines[last]?.text !== "" || ended);
      const path = at.file("f", before);
      const now = lines.flatMap(({ fate, others }) => (fate === "swap" ? others : []));
      const kept = lines.filter(({ fate }) => fate === "keep").length;
      const head = `@@ -1,${lines.length} +1,${kept + now.length} @@`;
      await at.box.closePlace(at.place.tabId);
      const outcome = await at.call("patch", { patch: git("f", head, ...hunk) });
      expect(outcome).toMatchObject({ isError: false });
      const pieces = lines.flatMap(({ text, fate, others }, i) => {
        if (fate === "keep") return [escaped(text + ends[i])];
        return fate === "swap" ? others.map((other) => `${escaped(other)}\r?\n`) : [];
      });
      // Only the last line may have no end, and an added one there follows what the patch says of it.
      const all = new RegExp(`^${marked ? mark : ""}${pieces.join("")}$`, "u");
      expect(readFileSync(path, "utf8")).toMatch(all);
    }),
    { numRuns: 150 },
  );
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
