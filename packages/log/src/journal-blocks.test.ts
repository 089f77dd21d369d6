import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { joinPiece } from "./journal-blocks.ts";

describe("journalled text", () => {
  test("[LOG-24] pieces in order give the text, however often some are repeated", () => {
    const pieces = fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 5 }), { maxLength: 10 });
    fc.assert(
      fc.property(pieces, fc.array(fc.nat(9), { maxLength: 6 }), (parts, repeats) => {
        const placed = parts.map((text, at) => ({ text, offset: parts.slice(0, at).join("").length }));
        const again = repeats.flatMap((at) => placed[at] ?? []);
        const joined = [...placed, ...again].reduce((text, piece) => joinPiece(text, piece.offset, piece.text), "");
        expect(joined).toBe(parts.join(""));
      }),
    );
  });

  test("[LOG-24] behind a lost piece nothing is joined: what is kept is a true beginning", () => {
    expect(joinPiece("abc", 4, "e")).toBe("abc");
    expect(joinPiece("abc", 3, "d")).toBe("abcd");
    expect(joinPiece("abcdef", 2, "cd")).toBe("abcdef");
    expect(joinPiece("abc", 2, "cde")).toBe("abcde");
  });
});
