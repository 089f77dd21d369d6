import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunkId } from "../dev/fake-rows.ts";
import { EDITS_MAX, editsText, parseEdits, type QueueEdits, withEdit } from "./edits.ts";

const edit = { text: "mine", base: "before", wasHeld: false };
const none: QueueEdits = new Map();

describe("edits under way", () => {
  test("come back from their text as they were, whatever was typed", () => {
    const anyEdit = fc.record({ text: fc.string({ unit: "binary" }), base: fc.string(), wasHeld: fc.boolean() });
    const anyId = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/).map(chunkId);
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(anyId, anyEdit), { selector: ([id]) => id, maxLength: 9 }), (list) => {
        expect([...parseEdits(editsText(new Map(list)))]).toEqual(list);
      }),
    );
  });

  test("leave nothing behind when the last one ends", () => {
    const begun = withEdit(none, chunkId("a"), edit);
    expect(editsText(begun)).not.toBe("");
    expect(editsText(withEdit(begun, chunkId("a"), null))).toBe("");
  });

  test("are bounded, and the oldest makes room", () => {
    let edits = none;
    for (let i = 0; i <= EDITS_MAX; i++) edits = withEdit(edits, chunkId(`m${i}`), edit);
    expect(edits.size).toBe(EDITS_MAX);
    expect([edits.has(chunkId("m0")), edits.has(chunkId(`m${EDITS_MAX}`))]).toEqual([false, true]);
  });

  test.each(["", "{", "null", "[1]", '[["a"]]', '[["a",{"text":1,"base":"","wasHeld":true}]]', '[["no id!",{}]]'])(
    "read from %j are none",
    (text) => {
      expect(parseEdits(text).size).toBe(0);
    },
  );
});
