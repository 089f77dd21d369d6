import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replaceText } from "./replace-text.ts";

interface Row {
  readonly name: string;
  readonly text: string;
  readonly oldText: string;
  readonly newText: string;
  readonly all?: boolean;
  readonly expected: string;
}

const rows: readonly Row[] = [
  { name: "LF stays", text: "a\nb\nc\n", oldText: "b", newText: "B1\nB2", expected: "a\nB1\nB2\nc\n" },
  {
    name: "CRLF for new line ends",
    text: "a\r\nb\r\nc\r\n",
    oldText: "b",
    newText: "B1\nB2",
    expected: "a\r\nB1\r\nB2\r\nc\r\n",
  },
  { name: "mixed ends untouched", text: "a\r\nb\nc\r\n", oldText: "b", newText: "B", expected: "a\r\nB\nc\r\n" },
  {
    name: "new end like its own line",
    text: "a\r\nb\nc\r\n",
    oldText: "b",
    newText: "B\nC",
    expected: "a\r\nB\nC\nc\r\n",
  },
  { name: "LF in the search matches CRLF", text: "a\r\nb\r\n", oldText: "a\nb", newText: "X", expected: "X\r\n" },
  {
    name: "ends of the match are kept one by one",
    text: "a\r\nb\nc\r\n",
    oldText: "a\nb\nc",
    newText: "x\ny\nz",
    expected: "x\r\ny\nz\r\n",
  },
  { name: "a lone line end", text: "a\r\nb\r\n", oldText: "a\n", newText: "a\n\n", expected: "a\r\n\r\nb\r\n" },
  { name: "last line without end", text: "a\r\nb", oldText: "b", newText: "b\nc", expected: "a\r\nb\r\nc" },
  {
    name: "CRLF asked for in an LF file is literal",
    text: "a\nb\n",
    oldText: "b",
    newText: "b\r\nc",
    expected: "a\nb\r\nc\n",
  },
  { name: "dollar signs are literal", text: "x", oldText: "x", newText: "$& $$ $1 $` $'", expected: "$& $$ $1 $` $'" },
  { name: "all, not overlapping", text: "aaaa", oldText: "aa", newText: "b", all: true, expected: "bb" },
  { name: "all over CRLF", text: "a\r\na\r\n", oldText: "a\n", newText: "b\n", all: true, expected: "b\r\nb\r\n" },
  { name: "lone CR is a character", text: "a\rb\n", oldText: "a\rb", newText: "c", expected: "c\n" },
];

describe("replaceText", () => {
  test.each(rows)("[TOOL-21] exact replacement: $name", ({ text, oldText, newText, all, expected }) => {
    expect(replaceText(text, { oldText, newText, all: all ?? false })).toMatchObject({
      kind: "replaced",
      text: expected,
    });
  });

  test("[TOOL-22] overlapping matches are several, because each could be meant", () => {
    expect(replaceText("aaa", { oldText: "aa", newText: "b", all: false })).toEqual({
      kind: "several",
      matches: 2,
      lines: [1, 1],
    });
  });

  test("[TOOL-22] the lines of several matches are told, at most five", () => {
    const replaced = replaceText("x\n".repeat(9), { oldText: "x", newText: "y", all: false });
    expect(replaced).toEqual({ kind: "several", matches: 9, lines: [1, 2, 3, 4, 5] });
  });

  test("[TOOL-23] bytes outside of the match never change", () => {
    const piece = fc.array(fc.constantFrom("a", "b", "\n", "\r\n", "\t", " ", "é", "𝄞", "\r"), { maxLength: 12 });
    fc.assert(
      fc.property(piece, piece, piece, (before, middle, after) => {
        const [head, tail] = [`${before.join("")}`, after.join("")];
        // A CR right before the match, or an LF right after it, would make another line end of two.
        const text = `${head}⟪${middle.join("")}⟫${tail}`;
        const replaced = replaceText(text, { oldText: `⟪${middle.join("")}⟫`, newText: "<new\nlines>", all: false });
        expect(replaced.kind).toBe("replaced");
        if (replaced.kind !== "replaced") return;
        expect(replaced.text.startsWith(head)).toBe(true);
        expect(replaced.text.endsWith(tail)).toBe(true);
        expect(replaced.text.slice(head.length, replaced.text.length - tail.length)).toMatch(/^<new\r?\nlines>$/);
      }),
    );
  });

  test("[TOOL-23] replacing a text by itself changes nothing, whatever the line ends", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "\n", "\r\n", "ab"), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(), (parts, from, length) => {
        const text = parts.join("");
        const plain = text.replaceAll("\r\n", "\n");
        const start = from % plain.length;
        const same = plain.slice(start, start + 1 + (length % 5));
        expect(replaceText(text, { oldText: same, newText: same, all: true })).toMatchObject({ text });
      }),
    );
  });
});
