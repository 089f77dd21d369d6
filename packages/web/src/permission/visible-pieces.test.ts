import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { visibleText } from "../tools/visible-text.ts";
import { disguiseWarning, lookalikes, visiblePieces } from "./visible-pieces.ts";

describe("what a question shows marked", () => {
  test.each([
    ["ls -la", [{ text: "ls -la", odd: false }]],
    ["", []],
    [
      "a\u202eb",
      [
        { text: "a", odd: false },
        { text: "⟨U+202E⟩", odd: true },
        { text: "b", odd: false },
      ],
    ],
    ["⟨U+202E⟩", [{ text: "⟨U+202E⟩", odd: false }]],
    [
      "\u200b\u200b",
      [
        { text: "⟨U+200B⟩", odd: true },
        { text: "⟨U+200B⟩", odd: true },
      ],
    ],
  ])("%j has these pieces", (text, pieces) => {
    expect(visiblePieces(text)).toEqual(pieces);
  });

  test("the pieces of any text are together what is shown of it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const pieces = visiblePieces(text);
        expect(pieces.map((piece) => piece.text).join("")).toBe(visibleText(text));
        for (const { text: shown, odd } of pieces) expect(visibleText(shown) === shown || odd).toBe(true);
      }),
    );
  });
});

describe("letters that look like others", () => {
  test.each([
    ["cat file.txt", ""],
    ["echo größe naïve", ""],
    ["echo Привет", ""],
    ["echo 好 λ α", ""],
    ["c\u0430t x", "\u0430 (U+0430) in “c\u0430t”"],
    ["npm run b\u03bfom", "\u03bf (U+03BF)"],
    ["ｒm x", "ｒ (U+FF52)"],
    ["𝐫m x", "𝐫 (U+1D42B)"],
    ["\u0430b \u0435b \u043eb \u0440b \u0441b", "and 1 more"],
  ])("%j says %j", (text, said) => {
    if (said === "") expect(lookalikes(text)).toBe("");
    else expect(lookalikes(text)).toContain(said);
  });

  test("hidden characters are counted", () => {
    expect(disguiseWarning("ls")).toBe("");
    expect(disguiseWarning("l\u200bs")).toContain("1 character that shows nothing");
    expect(disguiseWarning("l\u200bs\u202e")).toContain("2 characters that show nothing");
  });
});
