import { describe, expect, test } from "vitest";
import { showBlock } from "./html.ts";
import { splitWhole } from "./split.ts";

const htmlOf = (text: string): string =>
  splitWhole(text)
    .map(showBlock)
    .map((block) => (block.kind === "html" ? block.html : block.text))
    .join("\n");

const countOf = (html: string, tag: string): number => html.split(`<${tag}>`).length - 1;

describe("what one text can cost", () => {
  test.each<[string, string, string]>([
    ["quotes", `${">".repeat(10_000)} x`, "blockquote"],
    ["quotes with blanks", `${"> ".repeat(10_000)}x`, "blockquote"],
    ["lists in one line", `${"- ".repeat(10_000)}x`, "ul"],
    ["numbered lists in one line", `${"1. ".repeat(5_000)}x`, "ol"],
    ["quotes and lists in turn", `${"> - ".repeat(3_000)}x`, "ul"],
    ["lists over lines", Array.from({ length: 120 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n"), "ul"],
  ])("%s inside each other end at a depth, and what is below is text", (_what, text, tag) => {
    const html = htmlOf(text);
    expect(countOf(html, tag)).toBeGreaterThan(5);
    expect(countOf(html, tag)).toBeLessThanOrEqual(40);
    expect(html).toContain("x");
  });

  // Each of them took the square of its length, or more: they would not end within the time that a test has.
  test.each<[string, string]>([
    ["a word of dots that could begin an address", `${"a.".repeat(100_000)}@`],
    ["a word of underscores", "_a".repeat(60_000)],
    ["a word of exclamations", "a!".repeat(60_000)],
    ["a line of open brackets", "[".repeat(50_000)],
    ["a line of open pictures", "![a](".repeat(10_000)],
    ["a line of stars", "**a *b ".repeat(10_000)],
    ["a line of tags", "<a ".repeat(20_000)],
  ])("%s is read, and stays what it says", (_what, text) => {
    const html = htmlOf(text);
    expect(html.length).toBeGreaterThan(text.length / 2);
    expect(html).not.toMatch(/<(?!\/?(p|em|strong)>)/);
  });

  test("a long word between others is a word, and emphasis around it holds", () => {
    const word = "y".repeat(1_500);
    expect(htmlOf(`*one* ${word} **two**`)).toBe(`<p><em>one</em> ${word} <strong>two</strong></p>\n`);
  });
});
