import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMatcher, redactText } from "./matcher.ts";
import { StreamRedactor } from "./stream-redactor.ts";

/** Few letters, so that secrets overlap, begin alike and hold one another. */
const letters = fc.constantFrom("a", "b", "v");
const word = (minLength: number, maxLength: number) =>
  fc.array(letters, { minLength, maxLength }).map((parts) => parts.join(""));
const token = `varve_${"Ab-_".repeat(11).slice(0, 43)}`;
const piecesOf = (forms: readonly string[]) =>
  fc.array(fc.oneof(word(0, 6), fc.constantFrom(...forms), fc.constantFrom(token, token.slice(0, 30), "varve_", "v")), {
    maxLength: 12,
  });

function streamed(
  forms: readonly string[],
  pieces: readonly string[],
): { readonly all: string; readonly held: number } {
  const matcher = createMatcher(forms);
  const redactor = new StreamRedactor(() => matcher);
  let all = "";
  let given = 0;
  let held = 0;
  for (const piece of pieces) {
    given += piece.length;
    all += redactor.push(piece);
    // Marks may be longer than what they stand for, so only a stream without any tells what is held back.
    if (!redactor.changed) held = Math.max(held, given - all.length);
  }
  return { all: all + redactor.end(), held };
}

describe("a secret in pieces", () => {
  test("[SECRET-1] for every split the pieces are, put together, the text without its secrets", () => {
    fc.assert(
      fc.property(fc.array(word(3, 9), { minLength: 1, maxLength: 4 }), (forms) => {
        fc.assert(
          fc.property(piecesOf(forms), fc.array(fc.nat(), { maxLength: 20 }), (texts, cuts) => {
            const text = texts.join("");
            const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((a, b) => a - b);
            const pieces = [0, ...places].map((from, at) => text.slice(from, places[at] ?? text.length));
            expect(streamed(forms, pieces).all).toBe(redactText(createMatcher(forms), text));
          }),
          { numRuns: 40 },
        );
      }),
      { numRuns: 25 },
    );
  });

  test("[SECRET-1] letter by letter nothing of it comes out, and what only looked like its beginning does", () => {
    const secret = "sk-ant-0123456789";
    const text = `a sk-ant-01 b ${secret} c sk-`;
    const { all, held } = streamed([secret], [...text]);
    expect(all).toBe("a sk-ant-01 b [secret] c sk-");
    expect(held).toBeLessThan(secret.length);
  });

  test("[SECRET-1] a text without anything like it passes piece by piece, at once", () => {
    const redactor = new StreamRedactor(() => createMatcher(["sk-ant-0123456789"]));
    for (const piece of ["Reading ", "the file", "\n", "done."]) expect(redactor.push(piece)).toBe(piece);
    expect([redactor.end(), redactor.changed]).toEqual(["", false]);
  });

  test("[SECRET-1] the end of a piece is looked through once, however many secrets the piece holds", () => {
    const matcher = createMatcher(["sk-ant-0123456789"]);
    let looked = 0;
    const openAt = (text: string, from: number): number => {
      looked += 1;
      return matcher.openAt(text, from);
    };
    const redactor = new StreamRedactor(() => ({ ...matcher, openAt }));
    const lines = 1_000;
    expect(redactor.push("sk-ant-0123456789\n".repeat(lines))).toBe("[secret]\n".repeat(lines));
    expect(looked).toBe(1);
  });

  test("[SECRET-2] cut off in the middle, the beginning of a secret is replaced as well; a few letters are not", () => {
    const cut = (text: string): string => {
      const redactor = new StreamRedactor(() => createMatcher(["sk-ant-0123456789"]));
      return redactor.push(text) + redactor.cut();
    };
    expect(cut("key sk-ant-01234")).toBe("key [secret]");
    expect(cut("this")).toBe("this");
    expect(cut("key sk-")).toBe("key sk-");
  });
});
