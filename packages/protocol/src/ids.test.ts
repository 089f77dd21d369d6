import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  idMaker,
  noTurn,
  parseBlobHash,
  parseChunkId,
  parseClientId,
  parseLogId,
  parseTabId,
  parseTurnId,
  uuidV7Maker,
} from "./ids.ts";

const parsers = [parseTabId, parseLogId, parseChunkId, parseClientId];

describe("ids from outside", () => {
  test.each(["a", "A-z_9", "x".repeat(64), "01890a5d-ac96-774b-bcce-b302099a8057"])("[ID-1] %s is legal", (text) => {
    for (const parse of parsers) expect(parse(text)).toBe(text);
    expect(parseTurnId(text)).toBe(text);
  });
  test.each(["", "x".repeat(65), "a b", "a/b", "../x", "ä", "a\n", "a.b", "%2e", "a\u0000"])(
    "[ID-1] %j is not",
    (text) => {
      for (const parse of parsers) expect(parse(text)).toBeNull();
      if (text !== "") expect(parseTurnId(text)).toBeNull();
    },
  );
  test("[ID-1] rows outside a turn carry the empty turn id, and nothing else may be empty", () => {
    expect(parseTurnId("")).toBe(noTurn);
  });
  test("[ID-2] a blob's name is 64 lower-case hex digits", () => {
    expect(parseBlobHash("a".repeat(64))).toBe("a".repeat(64));
    for (const wrong of ["A".repeat(64), "a".repeat(63), "a".repeat(65), "g".repeat(64), ""]) {
      expect(parseBlobHash(wrong)).toBeNull();
    }
  });
});

describe("ids made here", () => {
  const fillWith = (byte: number) => (into: Uint8Array) => void into.fill(byte);
  test("[ID-3] are UUIDv7: 48 bits of milliseconds, version 7, variant 10", () => {
    expect(uuidV7Maker(() => 0x0123456789ab, fillWith(0xff))()).toBe("01234567-89ab-7fff-bfff-ffffffffffff");
    expect(uuidV7Maker(() => 0, fillWith(0))()).toBe("00000000-0000-7000-8000-000000000000");
  });
  test("[ID-3] are legal whatever clock and chance say, and sort by their time", () => {
    const moment = fc.double({ min: -1e15, max: 2e14, noNaN: true });
    fc.assert(
      fc.property(moment, moment, fc.nat(255), (a, b, byte) => {
        const [first, second] = [uuidV7Maker(() => a, fillWith(byte))(), uuidV7Maker(() => b, fillWith(byte))()];
        expect(parseChunkId(first)).toBe(first);
        expect(first[14]).toBe("7");
        expect("89ab").toContain(first[19]);
        if (Math.floor(Math.max(0, a)) < Math.floor(Math.max(0, b))) expect(first < second).toBe(true);
      }),
    );
  });
  test("[ID-3] a maker wraps any source of texts, for each kind alike", () => {
    let n = 0;
    const ids = idMaker(() => `id-${++n}`);
    expect([ids.tab(), ids.log(), ids.chunk(), ids.turn(), ids.client()]).toEqual([
      "id-1",
      "id-2",
      "id-3",
      "id-4",
      "id-5",
    ]);
  });
});
