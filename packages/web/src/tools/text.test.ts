import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clipLines, LINE_CHARS_MAX } from "./clip-lines.ts";
import { DIFF_LINES_MAX, diffLines } from "./diff-lines.ts";
import { tailLines, terminalText } from "./terminal-text.ts";
import { markWords } from "./word-diff.ts";

describe("long text", () => {
  test.each([
    ["", 3, "", 0],
    ["a\nb", 3, "a\nb", 0],
    ["a\nb\nc\n", 3, "a\nb\nc", 0],
    ["a\nb\nc\nd", 3, "a\nb\nc", 1],
    ["a\nb\nc\nd\ne\n", 3, "a\nb\nc", 2],
  ])("%j cut after %d lines", (text, max, shown, hidden) => {
    expect(clipLines(text, max)).toEqual({ text: shown, hidden });
  });

  test("shown and hidden lines are all lines", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "", "bb"), { minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        (lines, max) => {
          const { text, hidden } = clipLines(lines.join("\n"), max);
          const whole = lines.length - (lines.length > 1 && lines.at(-1) === "" ? 1 : 0);
          expect(text.split("\n").length + hidden).toBeGreaterThanOrEqual(whole);
          expect(text.split("\n").length).toBeLessThanOrEqual(Math.max(max, lines.length));
          expect(lines.join("\n").startsWith(text)).toBe(true);
        },
      ),
    );
  });

  test("a line without end is cut", () => {
    expect(clipLines("x".repeat(LINE_CHARS_MAX * 2), 10).text.length).toBeLessThan(LINE_CHARS_MAX + 5);
  });
});

describe("terminal output", () => {
  test.each([
    ["plain\n", "plain\n"],
    ["\u001b[32mgreen\u001b[0m", "green"],
    ["\u001b]0;title\u0007text", "text"],
    ["\u001b]8;;http://a\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["10%\r50%\r100%\n", "100%\n"],
    ["long text\rab\n", "abng text\n"],
    ["a\r\nb\r\n", "a\nb\n"],
    ["abc\b\bX", "aXc"],
    ["bell\u0007 nul\u0000", "bell nul"],
  ])("%j reads %j", (raw, expected) => {
    expect(terminalText(raw)).toBe(expected);
  });

  test.each([
    ["a\nb\nc", 2, "b\nc"],
    ["a\nb\nc\n", 2, "b\nc\n"],
    ["a", 5, "a"],
    ["", 2, ""],
    ["\n\n\n", 1, "\n"],
  ])("the end of %j, %d lines", (text, lines, expected) => {
    expect(tailLines(text, lines)).toBe(expected);
  });
});

describe("a unified diff", () => {
  const diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -9 +9,2 @@\n nine\n+--- dash\n";

  test("is lines with their numbers on both sides", () => {
    expect(diffLines(diff).lines.map((line) => [line.kind, line.text, line.before, line.after])).toEqual([
      ["same", "one", 1, 1],
      ["removed", "two", 2, null],
      ["added", "2", null, 2],
      ["same", "three", 3, 3],
      ["gap", "", null, null],
      ["same", "nine", 9, 9],
      ["added", "--- dash", null, 10],
    ]);
  });

  test("past the limit says how much is left out", () => {
    const long = `@@ -0,0 +1 @@\n${"+x\n".repeat(DIFF_LINES_MAX + 5)}`;
    expect(diffLines(long).lines.length).toBe(DIFF_LINES_MAX);
    expect(diffLines(long).clipped).toBe(5);
  });

  test("marks the words that changed, and only in lines that are alike", () => {
    const { lines } = diffLines(
      "@@ -1,2 +1,2 @@\n-const total = a + b;\n-foo\n+const sum = a + b;\n+entirely different words\n",
    );
    const marks = markWords(lines);
    const changed = (index: number) =>
      marks
        .get(index)
        ?.filter((span) => span.changed)
        .map((span) => span.text);
    expect(changed(0)).toEqual(["total"]);
    expect(changed(2)).toEqual(["sum"]);
    expect(marks.has(1)).toBe(false);
    for (const [index, spans] of marks) expect(spans.map((span) => span.text).join("")).toBe(lines[index]?.text);
  });
});
