import { afterEach, describe, expect, test } from "vitest";
import { limitProblems, tableText } from "./check-limits.mjs";
import { tempFolder } from "./lib/temp-folder.mjs";

const folders = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});
function rootWith(files) {
  const folder = tempFolder(files);
  folders.push(folder);
  return folder.path;
}

const path = "packages/agent/src/limits.ts";
const code = `export const turnLimits = {
  /** Beyond it the turn ends. */
  stepsMax: 200,
  /** A page is cut | beyond either. */
  bytesMax: 4 * 1024 ** 2,
  charsMax: 64_000,
  waitMs: 90_000,
  shareMax: 0.25,
} as const;
/** Names that are kept. */
const namesMax = 1_000;
const local = 3;
`;
const row = (name, value, unit, words) => `| \`${name}\` | ${value} | ${unit} | ${words} | \`agent/src/limits.ts\` |`;

describe("the table of limits", () => {
  test("names, values in the largest whole unit, and the words above each are the code's", () => {
    const text = tableText(rootWith({ [path]: code }));
    expect(text.split("\n").filter((line) => line.startsWith("| `"))).toEqual([
      row("turnLimits.stepsMax", "200", "", "Beyond it the turn ends."),
      row("turnLimits.bytesMax", "4", "MiB", "A page is cut / beyond either."),
      row("turnLimits.charsMax", "64 000", "characters", "A page is cut / beyond either."),
      row("turnLimits.waitMs", "90", "s", "A page is cut / beyond either."),
      row("turnLimits.shareMax", "25", "%", "A page is cut / beyond either."),
      row("namesMax", "1 000", "", "Names that are kept."),
    ]);
  });

  const table = (...rows) => ({
    [path]: "/** So many. */\nexport const namesMax = 7;\n",
    "docs/LIMITS.md": rows.join("\n"),
  });
  test.each([
    ["nothing to say", [row("namesMax", "7", "", "So many.")], []],
    ["words of the table's own", [row("namesMax", "7", "", "More are refused.")], []],
    ["a limit that is not in it", [], ["namesMax is not in docs/LIMITS.md"]],
    ["another value", [row("namesMax", "8", "", "x")], ["namesMax is 7  in"]],
    ["another unit", [row("namesMax", "7", "s", "x")], ["7 s here"]],
    ["no words", [row("namesMax", "7", "", "")], ["does not say what happens there"]],
    [
      "a row without a limit",
      [row("namesMax", "7", "", "x"), row("gone", "1", "", "x")],
      ["gone is nothing in the code"],
    ],
  ])("%s", (_name, rows, problems) => {
    expect(limitProblems(rootWith(table(...rows)))).toEqual(problems.map((part) => expect.stringContaining(part)));
  });

  test("words of the table's own stay when it is written anew", () => {
    const root = rootWith(table(row("namesMax", "8", "", "More are refused."), row("gone", "1", "", "x")));
    expect(tableText(root)).toContain(`${row("namesMax", "7", "", "More are refused.")}\n`);
    expect(tableText(root)).not.toContain("gone");
  });

  test.each([
    ["tests", "packages/agent/src/a.test.ts"],
    ["what serves tests", "packages/agent/src/testing/a.ts"],
    ["the simulation", "packages/sim/src/a.ts"],
  ])("%s bound nothing of the product", (_name, file) => {
    expect(limitProblems(rootWith({ [file]: "const aMax = 1;\n" }))).toEqual([]);
  });
});
