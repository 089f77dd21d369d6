import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { showBlock } from "./html.ts";
import { emptySplit, normaliseLines, type SplitState, splitMore, splitWhole } from "./split.ts";

const pieces = [
  "word", "two words", "\n", "\n\n", "\n\n\n", " ", "    ", "\t", "- item", "- ", "* star", "1. one", "2) two", "> quote", ">",
  "# head", "## ", "===", "---", "***", "```", "```ts\n", "~~~", "code()", "| a | b |", "|---|---|", "[x]: http://a.b", "[x]",
  "[l](http://a.b)", "**bold**", "_em", "`tick", "<div>", "</div>", "<!-- c -->", "<script>", "- [ ] task", "\\", "&amp;", "\r\n",
  "\r", "  \n", "http://a.b", "   1. deep", "      - deeper", "$x$", "🎈",
] as const; // biome-ignore format: a table of words
const documents = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(""));

const all = (state: SplitState) => [...state.final, ...state.tail];
const joined = (state: SplitState): string =>
  all(state)
    .map((block) => block.raw)
    .join("");
const types = (blocks: readonly { readonly tokens: readonly { readonly type: string }[] }[]) =>
  blocks.map((block) => block.tokens.map((token) => token.type).join());

function feed(text: string, cuts: readonly number[]): SplitState[] {
  const ends = [...new Set([...cuts.map((cut) => cut % (text.length + 1)), text.length])].sort((a, b) => a - b);
  const states: SplitState[] = [];
  let state = emptySplit;
  for (const end of ends) {
    state = splitMore(state, text.slice(0, end));
    states.push(state);
  }
  return states;
}

describe("a growing text", () => {
  test("is its blocks, whole and in order, at each prefix", () => {
    fc.assert(
      fc.property(documents, fc.array(fc.nat(), { maxLength: 12 }), (text, cuts) => {
        const states = feed(text, cuts);
        for (const state of states) expect(joined(state)).toBe(state.text);
        expect(states.at(-1)?.text ?? "").toBe(normaliseLines(text));
      }),
      { numRuns: 3000 },
    );
  });

  test("ends as a full reading does", () => {
    fc.assert(
      fc.property(documents, fc.array(fc.nat(), { maxLength: 12 }), (text, cuts) => {
        const last = feed(text, cuts).at(-1) ?? emptySplit;
        const whole = splitWhole(text);
        expect(all(last).map((block) => block.raw)).toEqual(whole.map((block) => block.raw));
        expect(types(all(last))).toEqual(types(whole));
      }),
      { numRuns: 3000 },
    );
  });

  test("keeps each final block as it is", () => {
    fc.assert(
      fc.property(documents, fc.array(fc.nat(), { maxLength: 12 }), (text, cuts) => {
        let before: SplitState = emptySplit;
        for (const state of feed(text, cuts)) {
          before.final.forEach((block, index) => {
            if (state.final.length >= before.final.length) expect(state.final[index]).toBe(block);
          });
          before = state;
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("costs the parser a small multiple of its length", () => {
    const text = Array.from({ length: 400 }, (_, i) => `Paragraph ${i} has a few words in it.\n\n`).join("");
    let state = emptySplit;
    for (let end = 20; end < text.length; end += 20) state = splitMore(state, text.slice(0, end));
    expect(state.parsed).toBeLessThan(10 * text.length);
  });

  test("starts again when the text is another one", () => {
    const first = splitMore(emptySplit, "one\n\ntwo\n\nthree\n\nfour");
    const other = splitMore(first, "something else");
    expect(all(other).map((block) => block.raw)).toEqual(["something else"]);
  });
});

test("an open fence is code while it grows", () => {
  const state = splitMore(emptySplit, "Look:\n\n```ts\nconst a = 1;\n");
  expect(all(state).map(showBlock).at(-1)).toEqual({ kind: "code", language: "ts", text: "const a = 1;" });
});
