import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toolLimits } from "./limits.ts";
import type { SpillFile } from "./operations.ts";
import { OutputKeeper } from "./output-keeper.ts";

function memorySpill(): SpillFile & { readonly text: () => string } {
  const blocks: Uint8Array[] = [];
  return {
    path: "/spill/1.txt",
    append: (bytes) => void blocks.push(bytes.slice()),
    bytes: () => Buffer.concat(blocks),
    close: () => {},
    text: () => Buffer.concat(blocks).toString("utf8"),
  };
}

describe("OutputKeeper", () => {
  test("[TOOL-75] what fits is kept whole, in any pieces, and spills nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 2_000 }), { maxLength: 14 }), (pieces) => {
        const keeper = new OutputKeeper(() => {
          throw new Error("nothing to spill");
        });
        for (const piece of pieces) keeper.append(piece);
        expect(keeper.text()).toBe(pieces.join(""));
        expect(keeper.spill()).toBeNull();
        expect(keeper.isEmpty).toBe(pieces.join("") === "");
      }),
    );
  });

  test("[TOOL-75] of what does not fit the start and the end are kept, and the spill file holds all of it", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20_000), { minLength: 4, maxLength: 12 }), (sizes) => {
        const pieces = sizes.map((size, i) => String.fromCharCode(97 + (i % 26)).repeat(size + 10_000));
        const spill = memorySpill();
        const keeper = new OutputKeeper(() => spill);
        for (const piece of pieces) keeper.append(piece);
        const whole = pieces.join("");
        const half = toolLimits.outputCharsMax / 2;
        const [head = "", note = "", tail = ""] = keeper.text().split("\n");
        expect(whole.startsWith(head)).toBe(true);
        expect(whole.endsWith(tail)).toBe(true);
        expect(tail).toHaveLength(half);
        expect(note).toBe(
          `⟨${whole.length - head.length - half} characters left out; the whole output is in /spill/1.txt⟩`,
        );
        expect(spill.text()).toBe(whole);
      }),
      { numRuns: 20 },
    );
  });

  test("[TOOL-75] the cut is never within a character", () => {
    const keeper = new OutputKeeper(memorySpill);
    keeper.append(`x${"𝄞".repeat(toolLimits.outputCharsMax)}`);
    expect(keeper.text()).not.toMatch(/(^|[^\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff]($|[^\udc00-\udfff])/);
  });

  test("[TOOL-76] a spill file ends at its limit, and the note says how much of it there is", () => {
    const spill = memorySpill();
    const keeper = new OutputKeeper(() => spill);
    for (let i = 0; i < 12; i++) keeper.append("y".repeat(1024 ** 2));
    expect(spill.bytes().length).toBe(toolLimits.spillBytesMax);
    expect(keeper.text()).toContain(`its first ${toolLimits.spillBytesMax} bytes are in /spill/1.txt`);
  });

  test("[TOOL-76] a disk that takes no more costs the middle, not the command", () => {
    const keeper = new OutputKeeper(() => {
      throw new Error("ENOSPC");
    });
    keeper.append("z".repeat(100_000));
    expect(keeper.text()).toContain("could not be kept: the disk took no more");
    expect(keeper.spill()).toBeNull();
  });
});
