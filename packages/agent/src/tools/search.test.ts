import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toolLimits } from "./limits.ts";
import { comparePaths } from "./path-order.ts";
import { type Scratch, scratch } from "./testing/scratch.ts";

const withoutProgram = () =>
  scratch({ change: (real) => ({ ...real, processes: { ...real.processes, ripgrep: async () => null } }) });

/** Ignore files of all kinds, hidden files, binaries, long lines, names that sort badly. */
function plant(at: Scratch): void {
  const files: Readonly<Record<string, string | Uint8Array>> = {
    ".gitignore": "*.log\nbuild/\n!keep.log\n/only-root.txt\n",
    ".ignore": "private.txt\n",
    ".hidden/a.ts": "needle hidden\n",
    "a.ts": "one\nneedle\nthree\nNeedle\n",
    "a/b.ts": "needle a/b\r\nsecond\r\n",
    "a-b.ts": "needle a-b\n",
    "a/only-root.txt": "needle deeper\n",
    "only-root.txt": "needle root\n",
    "build/out.ts": "needle build\n",
    "deep/build/out.ts": "needle deep build\n",
    "x.log": "needle log\n",
    "keep.log": "needle kept\n",
    "private.txt": "needle private\n",
    "sub/.gitignore": "!x.log\n*.tmp\n",
    "sub/x.log": "needle sub log\n",
    "sub/y.tmp": "needle tmp\n",
    "sub/Ünïcode 𝄞.ts": "needle ü\n",
    "zero.bin": Buffer.from("needle\0needle\n"),
    "latin.txt": Buffer.from("needle caf\xe9\n", "latin1"),
    "long.txt": `${"x".repeat(6_000)}needle\n`,
    "long-start.txt": `needle${"y".repeat(6_000)}\n`,
    ".git/config": "needle git\n",
    "[odd]{name}.ts": "needle odd\n",
  };
  for (const [path, content] of Object.entries(files)) at.file(path, content);
  at.file(".git/info/exclude", "excluded.txt\n");
  at.file("excluded.txt", "needle excluded\n");
}

const searches: readonly (readonly [string, JsonObject])[] = [
  ["glob", { pattern: "**" }],
  ["glob", { pattern: "*.ts" }],
  ["glob", { pattern: "./a/*.ts" }],
  ["glob", { pattern: "**/*.{ts,log}" }],
  ["glob", { pattern: "*", path: "sub" }],
  ["glob", { pattern: "x.log" }],
  ["glob", { pattern: "private.txt" }],
  ["glob", { pattern: "none" }],
  ["grep", { pattern: "needle" }],
  ["grep", { pattern: "needle", ignoreCase: true, glob: "*.ts" }],
  ["grep", { pattern: "^needle$" }],
  ["grep", { pattern: "n.edle", literal: true }],
  ["grep", { pattern: "needle", path: "sub" }],
  ["grep", { pattern: "needle", path: "a.ts" }],
  ["grep", { pattern: "needle", path: "x.log" }],
  ["grep", { pattern: "[Nn]eedle", context: 1, path: "a.ts" }],
  ["grep", { pattern: "needle", context: 2, glob: "a*.ts" }],
  ["grep", { pattern: "needle", filesOnly: true }],
  ["grep", { pattern: "not there" }],
];

describe("searching", () => {
  test.each(searches)("[TOOL-50] %s %j finds the same with and without ripgrep", async (name, args) => {
    await using fast = scratch();
    await using slow = withoutProgram();
    expect(await fast.operations.processes.ripgrep()).not.toBeNull();
    plant(fast);
    plant(slow);
    const outcome = await fast.call(name, args);
    expect(outcome.isError).toBe(false);
    expect(await slow.call(name, args)).toEqual(outcome);
  });

  test("[TOOL-51] ignore files, .git and binary files are left out, hidden files are not", async () => {
    await using at = scratch();
    plant(at);
    expect((await at.call("glob", { pattern: "**" })).text.split("\n")).toEqual([
      ".gitignore",
      ".hidden/a.ts",
      ".ignore",
      "[odd]{name}.ts",
      "a/b.ts",
      "a/only-root.txt",
      "a-b.ts",
      "a.ts",
      "keep.log",
      "latin.txt",
      "long-start.txt",
      "long.txt",
      "sub/.gitignore",
      "sub/x.log",
      "sub/Ünïcode 𝄞.ts",
      "zero.bin",
    ]);
    const { text } = await at.call("grep", { pattern: "needle" });
    for (const absent of ["build", "private", "tmp", "zero", "git", "excluded", "only-root.txt:1:needle root"]) {
      expect(text).not.toContain(absent);
    }
  });

  test("[TOOL-52] matches are path, line and text; long lines are cut; the count is told", async () => {
    await using at = scratch();
    at.file("a.ts", "one\nneedle here\nthree\n");
    at.file("b.ts", `needle${"y".repeat(6_000)}\r\n`);
    const outcome = await at.call("grep", { pattern: "needle" });
    expect(outcome.text).toBe(`a.ts:2:needle here\nb.ts:1:needle${"y".repeat(394)}…`);
    expect(outcome.details).toEqual({ summary: "2 matches in 2 files", matches: 2, files: 2, more: false });
  });

  test("[TOOL-52] lines around matches are marked, and groups set apart", async () => {
    await using at = scratch();
    at.file("f", "1\n2 hit\n3\n4\n5\n6\n7 hit\n8\n");
    expect((await at.call("grep", { pattern: "hit", context: 1 })).text.split("\n")).toEqual([
      ...["f-1-1", "f:2:2 hit", "f-3-3"],
      "--",
      ...["f-6-6", "f:7:7 hit", "f-8-8"],
    ]);
  });

  test.each([true, false])(
    "[TOOL-53] results are capped, sorted, and say that there is more (ripgrep: %s)",
    async (program) => {
      await using at = program ? scratch() : withoutProgram();
      for (let i = 0; i < 30; i++) at.file(`f${String(i).padStart(2, "0")}.txt`, "hit\n".repeat(1_000));
      const outcome = await at.call("grep", { pattern: "hit" });
      const lines = outcome.text.split("\n");
      expect(lines).toHaveLength(toolLimits.grepMatchesMax + 1);
      expect(lines[0]).toBe("f00.txt:1:hit");
      expect(lines.at(-2)).toBe(`f00.txt:${toolLimits.grepMatchesMax}:hit`);
      expect(lines.at(-1)).toMatch(/there is more: narrow/);
      expect(outcome.details).toMatchObject({ more: true });
    },
  );

  test("[TOOL-50] a root above the workspace's own names has its prefix, a file is searched though ignored", async () => {
    await using at = scratch();
    plant(at);
    expect((await at.call("grep", { pattern: "needle", path: "x.log" })).text).toBe("x.log:1:needle log");
    expect((await at.call("grep", { pattern: "needle", path: "sub", glob: "x.*" })).text).toBe(
      "sub/x.log:1:needle sub log",
    );
  });

  test.each([
    [{ pattern: "(" }, true, /search failed/],
    [{ pattern: "(" }, false, /search failed/],
    [{ pattern: "a\nb" }, true, /line ends/],
    [{ pattern: "x", path: "nope" }, true, /does not exist/],
  ] as const)("[TOOL-54] grep %j (ripgrep: %s) is refused in words", async (args, program, words) => {
    await using at = program ? scratch() : withoutProgram();
    at.file("f", "x\n");
    expect(await at.call("grep", args)).toMatchObject({ isError: true, text: expect.stringMatching(words) });
  });

  test("[TOOL-54] a pipe in the tree does not hold the search, nor is it searched by name", async () => {
    await using at = withoutProgram();
    at.file("f", "needle\n");
    execFileSync("mkfifo", [join(at.ws, "pipe")]);
    expect((await at.call("grep", { pattern: "needle" })).text).toBe("f:1:needle");
    expect((await at.call("grep", { pattern: "needle", path: "pipe" })).isError).toBe(true);
  });

  test("[TOOL-54] without ripgrep a pattern that explodes leaves the file out instead of hanging", async () => {
    await using at = withoutProgram();
    at.file("bad", `${"a".repeat(40)}!\n`);
    at.file("good", "aaab\n");
    expect((await at.call("grep", { pattern: "^(a+)+b?$" })).isError).toBe(false);
  });

  test("[TOOL-54] a search that is too slow gives what it has and says so", async () => {
    await using at = scratch({
      change: (real) => ({
        ...real,
        // The limit comes at once.
        clock: { now: () => 0, setTimer: (_ms, fire) => real.clock.setTimer(0, fire) },
        processes: {
          ...real.processes,
          run: ({ signal, onBytes }) =>
            new Promise((done) => {
              onBytes(Buffer.from("a.ts\0"));
              const end = () => done({ code: null, stderr: "" });
              if (signal.aborted) end();
              signal.addEventListener("abort", end);
            }),
        },
      }),
    });
    expect((await at.call("glob", { pattern: "*" })).text).toMatch(
      /^a\.ts\n⟨the search took too long and is not complete/,
    );
  });
});

describe("the order of paths", () => {
  test("[TOOL-53] it is ripgrep's own sorted walk", async () => {
    await using at = scratch();
    const names = ["a", "a.b", "a/b", "a/b.c", "a-b", "B", "b/c/d", "é", "z", "𝄞", "～"];
    for (const name of names) at.file(`${name}/f`, "x\n");
    const program = (await at.operations.processes.ripgrep()) ?? "";
    const sorted = execFileSync(program, ["--files", "--hidden", "--sort=path", "--no-config"], {
      cwd: at.ws,
      encoding: "utf8",
    });
    const paths = sorted.trimEnd().split("\n");
    expect([...paths].reverse().sort(comparePaths)).toEqual(paths);
  });

  test("[TOOL-53] it is a total order", () => {
    const path = fc
      .array(fc.constantFrom("a", "b", "é", "𝄞", "～", ".", "-"), { minLength: 1, maxLength: 4 })
      .map((p) => p.join("/"));
    fc.assert(
      fc.property(path, path, path, (a, b, c) => {
        expect(Math.sign(comparePaths(a, b))).toBe(-Math.sign(comparePaths(b, a)) + 0);
        expect(comparePaths(a, b) === 0).toBe(a === b);
        if (comparePaths(a, b) < 0 && comparePaths(b, c) < 0) expect(comparePaths(a, c)).toBeLessThan(0);
      }),
    );
  });
});

describe("list", () => {
  test("[TOOL-55] names in order with what they are, ignored ones marked", async () => {
    await using at = scratch();
    plant(at);
    mkdirSync(join(at.ws, "empty"));
    execFileSync("mkfifo", [join(at.ws, "pipe")]);
    const { text, details } = await at.call("list", {});
    const lines = text.split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        ".git/",
        "a/",
        "build/ (ignored)",
        "x.log (11 bytes) (ignored)",
        "keep.log (12 bytes)",
        "pipe (fifo)",
      ]),
    );
    expect(lines.map((line) => line.replace(/[/ ].*/, ""))).toEqual(
      lines.map((line) => line.replace(/[/ ].*/, "")).sort((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y))),
    );
    expect(details).toMatchObject({ matches: lines.length, more: false });
    expect((await at.call("list", { path: "empty" })).text).toBe("⟨empty directory⟩");
    expect((await at.call("list", { path: "a.ts" })).text).toMatch(/not a directory. Use "read"/);
  });

  test("[TOOL-53] a large directory is capped and says so", async () => {
    await using at = scratch();
    for (let i = 0; i < toolLimits.listEntriesMax + 5; i++) at.file(`d/${String(i).padStart(5, "0")}`, "");
    const { text, details } = await at.call("list", { path: "d" });
    expect(text.split("\n")).toHaveLength(toolLimits.listEntriesMax + 1);
    expect(text).toMatch(/there is more: use "glob"/);
    expect(details).toMatchObject({ more: true });
  });
});
