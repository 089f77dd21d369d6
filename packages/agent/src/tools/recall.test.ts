import type { JsonObject } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { RowList } from "../testing/rows.ts";
import { toolLimits } from "./limits.ts";
import { scratch } from "./testing/scratch.ts";

const log = () =>
  new RowList()
    .at("", 0)
    .system({ kind: "note", topic: "environment", text: "Directory: /repo" })
    .at("t1", 0)
    .user("fix the Bug")
    .request()
    .text("Looking.")
    .call("A", "bash", '{"command":"npm test"}')
    .usage()
    .result("A", "1 failed", true)
    .error("no");

async function recall(rows: RowList, args: JsonObject) {
  await using at = scratch();
  return at.call("recall", args, { rows: rows.rows });
}

describe("recall", () => {
  test.each<[string, JsonObject, string]>([
    ["one row", { seq: 2 }, "[2] user: fix the Bug"],
    ["a call with its arguments", { seq: 5 }, '[5] you called bash: {"command":"npm test"}'],
    ["an error result", { seq: 7 }, "[7] error of bash: 1 failed"],
    ["a note", { seq: 1 }, "[1] note: Directory: /repo"],
    ["a row of bookkeeping", { seq: 3 }, "[3] nothing that you wrote or read"],
    ["a range, bookkeeping left out", { from: 2, to: 4 }, "[2] user: fix the Bug\n[4] you: Looking."],
    ["a range that runs over the end", { from: 7, to: 99 }, "[7] error of bash: 1 failed\n[8] error: no"],
    ["a range of one", { from: 4 }, "[4] you: Looking."],
    ["bookkeeping alone", { from: 3, to: 3 }, "[3] nothing that you wrote or read"],
    ["a word, letter case ignored", { query: "BUG" }, "[2] user: fix the Bug"],
    ["a word in a range", { query: "o", from: 3, to: 4 }, "[4] you: Looking."],
    ["a word that is nowhere", { query: "zebra" }, "No row holds that text. This log has rows 1 to 8."],
  ])("[TOOL-98] %s", async (_name, args, text) => {
    expect(await recall(log(), args)).toMatchObject({ isError: false, text });
  });

  test.each<[string, JsonObject, string]>([
    [
      "nothing said",
      {},
      'Say which row ("seq"), which rows ("from", "to") or which text ("query"). This log has rows 1 to 8.',
    ],
    ["a row that is not there", { seq: 99 }, "There is no row 99. This log has rows 1 to 8."],
    ["a range the wrong way", { from: 5, to: 2 }, "There is no row from 5 to 2. This log has rows 1 to 8."],
  ])("[TOOL-98] %s is answered with the rows that there are", async (_name, args, text) => {
    expect(await recall(log(), args)).toMatchObject({ isError: true, text });
  });

  test("[TOOL-98] newest first, and its own calls and answers are not found", async () => {
    const rows = log().user("bug again").call("R", "recall", '{"query":"bug"}');
    const data = { callId: "R", name: "recall", result: "bug", isError: false };
    rows.append([{ ...(rows.rows[6] ?? expect.fail("a row")), role: "tool", type: "tool_result", data }]);
    const { text } = await recall(rows, { query: "bug" });
    expect(text.split("\n").map((line) => line.slice(0, 4))).toEqual(["[9] ", "[2] "]);
  });

  test("[TOOL-99] answers are bounded and say where to go on", async () => {
    const rows = new RowList();
    for (let index = 0; index < 500; index++) rows.user(`row ${index} ${"x".repeat(500)}`);
    const { text } = await recall(rows, { from: 1, to: 500 });
    expect(text.length).toBeLessThan(toolLimits.recallCharsMax + 200);
    const next = /go on with \{"from": (\d+), "to": 500\}⟩$/.exec(text)?.[1];
    expect(text).toContain(`[${Number(next) - 1}] `);
    expect(text).not.toContain(`[${next}] `);
    const found = await recall(rows, { query: "row" });
    expect(found.text.split("\n")).toHaveLength(toolLimits.recallFoundMax + 1);
    expect(found.text.length).toBeLessThan(toolLimits.recallCharsMax);
  });

  test("[TOOL-99] a long row is cut among others and shown far longer alone", async () => {
    const rows = new RowList().user(`${"a".repeat(30_000)}`).user("b");
    const among = await recall(rows, { from: 1, to: 2 });
    expect(among.text).toContain("⟨cut: 30006 characters; ask for this row alone⟩");
    expect(among.text.length).toBeLessThan(3_000);
    const alone = await recall(rows, { seq: 1 });
    expect(alone.text.length).toBeGreaterThan(20_000);
    expect(alone.text.slice(-100)).toContain('⟨cut: 30006 characters; look further on with {"query": "a word of it"}⟩');
  });

  test("[TOOL-98] it reads and needs no permission", async () => {
    await using at = scratch();
    expect((await at.prepare("recall", { seq: 1 })).effect).toBe("read");
  });
});
