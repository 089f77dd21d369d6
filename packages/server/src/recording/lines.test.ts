import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";
import { recordingLimits } from "./limits.ts";
import { linesOf } from "./lines.ts";

async function* chunked(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].toSorted((a, b) => a - b);
  for (const [index, place] of places.entries()) yield bytes.subarray(places[index - 1] ?? 0, place);
}
async function read(chunks: AsyncIterable<Uint8Array>): Promise<readonly (string | null)[]> {
  const lines = [];
  for await (const line of linesOf(chunks)) lines.push(line);
  return lines;
}

describe("lines of a file", () => {
  test("[BILL-7] are the same wherever the reading was cut, in the middle of a character too", async () => {
    const line = fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replaceAll("\n", "é"));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat({ max: 500 })), fc.boolean(), async (lines, cuts, ended) => {
        const whole = lines.map((text) => text.toWellFormed());
        const bytes = Buffer.from(whole.join("\n") + (ended && whole.length > 0 ? "\n" : ""));
        const expected = whole.at(-1) === "" && !ended ? whole.slice(0, -1) : whole;
        expect(await read(chunked(bytes, cuts))).toEqual(expected);
      }),
    );
  });

  test("[BILL-7] one that is too long is never held: null stands for it, and the next one is whole", async () => {
    const part = new Uint8Array(1024 * 1024).fill(0x61);
    async function* long(parts: number): AsyncGenerator<Uint8Array> {
      yield Buffer.from("before\n");
      for (let count = 0; count < parts; count++) yield part;
      yield Buffer.from("\nbehind");
    }
    const most = recordingLimits.lineBytesMax / part.length;
    expect((await read(long(most))).map((line) => line?.length)).toEqual([6, recordingLimits.lineBytesMax, 6]);
    expect(await read(long(most + 1))).toEqual(["before", null, "behind"]);
  });
});

describe("what is remembered", () => {
  test("[BILL-7] is bounded: the older half goes first, each of it once, and is told", () => {
    const gone: number[] = [];
    const map = new BoundedMap<string, number>(4, (value) => gone.push(value));
    for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3, d: 4 })) map.set(key, value);
    map.set("a", 10);
    map.set("d", 40);
    expect(gone).toEqual([]);
    map.set("e", 5);
    expect(gone).toEqual([10, 2]);
    expect(["a", "b", "c", "d", "e"].map((key) => map.get(key))).toEqual([undefined, undefined, 3, 40, 5]);
    map.drain();
    expect(gone).toEqual([10, 2, 3, 40, 5]);
    expect(map.get("c")).toBeUndefined();
  });
});
