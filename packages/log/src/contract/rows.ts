import { describe, expect, test } from "vitest";
import { verifyRows } from "../verify-rows.ts";
import {
  accept,
  allRows,
  call,
  claimed,
  ids,
  notice,
  type OpenLog,
  outside,
  type Place,
  refusalOf,
  result,
  said,
  sealed,
  sound,
  startMs,
  system,
  turnEnd,
  usage,
  userText,
} from "./fixtures.ts";

/** Appending: density, all or nothing, exactness, ids, results. */
export function describeRows(open: OpenLog): void {
  describe("rows", () => {
    test("[LOG-1] seqs are dense from 1, within a batch and over batches", async () => {
      await using opened = await open();
      const claim = await claimed(opened.log);
      const first = await sealed(opened.log, claim, { rows: [said(["t1", 0], "a"), said(["t1", 0], "b")] });
      const second = await sealed(opened.log, claim, { rows: [said(["t1", 0], "c")] });
      expect([...first.rows, ...second.rows].map((row) => [row.seq, row.term])).toEqual(
        [1, 2, 3].map((seq) => [seq, claim.term]),
      );
      expect([first.tail, second.tail, (await opened.log.tab(claim.tabId))?.tail]).toEqual([2, 3, 3]);
    });

    test("[LOG-1] a batch without rows moves nothing, yet is fenced", async () => {
      await using opened = await open();
      const claim = await claimed(opened.log);
      expect(await opened.log.commit(claim, { rows: [] })).toEqual({ kind: "committed", rows: [], tail: 0, inbox: [] });
      sound(await opened.log.claim(claim.tabId, startMs));
      expect(await opened.log.commit(claim, { rows: [] })).toEqual({ kind: "fenced" });
    });

    test("[LOG-2] a refused batch leaves nothing behind, whatever in it was refused", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const [waiting, fresh] = [ids.chunk(), ids.chunk()];
      const taken = said(["t1", 0], "first");
      await sealed(log, claim, { rows: [taken], inbox: [accept(waiting)] });
      const before = [await allRows(log, claim.logId), await log.tab(claim.tabId), await log.message(waiting)];
      const good = { rows: [said(["t1", 0], "x")], inbox: [accept(fresh)], tab: { title: "changed" } };
      const bad = [
        { ...good, rows: [...good.rows, taken] },
        { ...good, inbox: [...good.inbox, { write: "drop", id: ids.chunk() }] },
        { ...good, inbox: [{ write: "drop", id: waiting }, accept(fresh), { write: "change", id: fresh, version: 7 }] },
      ] as const;
      for (const batch of bad) {
        expect((await log.commit(claim, batch)).kind).toBe("refused");
        expect([await allRows(log, claim.logId), await log.tab(claim.tabId), await log.message(waiting)]).toEqual(
          before,
        );
        expect(await log.message(fresh)).toBeNull();
      }
      expect((await sealed(log, claim, good)).rows.map((row) => row.seq)).toEqual([2]);
    });

    test("[LOG-3] what commit answers, a page, a seq and an id give are one and the same", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const rows = [
        userText(["t1", 0], "hi"),
        call(["t1", 0], "c", { b: 1, a: [true, null, 1.5e300] }),
        result(["t1", 0], "c"),
        usage(["t1", 0]),
        turnEnd(["t1", 0]),
      ];
      const committed = await sealed(log, claim, { rows });
      expect(committed.rows).toEqual(rows.map((row, at) => ({ ...row, seq: at + 1, term: claim.term })));
      expect(await allRows(log, claim.logId)).toStrictEqual(committed.rows);
      for (const row of committed.rows) {
        expect(await log.row(claim.logId, row.seq)).toStrictEqual(row);
        expect(await log.rowById(claim.logId, row.id)).toStrictEqual(row);
      }
      expect(await log.row(claim.logId, 6)).toBeNull();
      expect(await log.rowById(claim.logId, ids.chunk())).toBeNull();
      expect(await log.row(ids.log(), 1)).toBeNull();
    });

    test("[LOG-3] the JSON text of data stays: key order, __proto__, NUL, undefined left out, no shared objects", async () => {
      await using opened = await open();
      const claim = await claimed(opened.log);
      const odd = JSON.parse('{"z":"\\u0000nul","__proto__":{"x":1},"a":{"10":1,"9":"\\u2028"}}');
      const text = { text: "x", partial: undefined };
      const row = {
        ...call(["t1", 0], "c"),
        data: { callId: "c", name: "n", arguments: odd, argsText: "{}" },
      } as const;
      const before = JSON.stringify([row.data, text]);
      // The optional field is there and undefined, which a caller in JavaScript may well write.
      const rows = [row, { ...said(["t1", 0], "x"), data: text }] as unknown as readonly ReturnType<typeof said>[];
      await sealed(opened.log, claim, { rows });
      odd.z = "changed later";
      const stored = await allRows(opened.log, claim.logId);
      expect(JSON.stringify(stored.map((kept) => kept.data))).toBe(before);
      expect(Object.keys(stored[1]?.data ?? {})).toEqual(["text"]);
    });

    test("[LOG-4] a lone surrogate becomes U+FFFD, whole pairs stay", async () => {
      await using opened = await open();
      const claim = await claimed(opened.log);
      const rows = [said(["t1", 0], "a\ud800b \u{1F600}"), call(["t1", 0], "c\udc00", { "k\ud83d": "\udc00\ud83d" })];
      const stored = (await sealed(opened.log, claim, { rows })).rows;
      expect(stored[0]?.data).toEqual({ text: "a\uFFFDb \u{1F600}" });
      expect(stored[1]?.data).toMatchObject({ callId: "c\uFFFD", arguments: { "k\uFFFD": "\uFFFD\uFFFD" } });
      expect(await refusalOf(opened.log, claim, { rows: [result(["t1", 0], "c\uFFFD")] })).toBe("committed");
    });

    test("[LOG-7] an id stands once in a log", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const row = said(["t1", 0], "a");
      const twice = await log.commit(claim, { rows: [row, row] });
      expect(twice).toMatchObject({ kind: "refused", fault: { code: "id-taken" } });
      await sealed(log, claim, { rows: [row] });
      expect(await refusalOf(log, claim, { rows: [row] })).toBe("id-taken");
      expect(await refusalOf(log, claim, { rows: [notice(outside), { ...notice(outside), id: row.id }] })).toBe(
        "id-taken",
      );
      const other = await claimed(log);
      expect(await refusalOf(log, other, { rows: [row] })).toBe("committed");
    });

    test("[LOG-8] a second result of a call is refused", async () => {
      await using opened = await open();
      const claim = await claimed(opened.log);
      const at: Place = ["t1", 0];
      expect(await refusalOf(opened.log, claim, { rows: [call(at, "a"), result(at, "a"), result(at, "a")] })).toBe(
        "result-already-sealed",
      );
      await sealed(opened.log, claim, { rows: [call(at, "a"), call(at, "b"), result(at, "b")] });
      expect(await refusalOf(opened.log, claim, { rows: [result(at, "b")] })).toBe("result-already-sealed");
      expect(await refusalOf(opened.log, claim, { rows: [result(at, "a")] })).toBe("committed");
      expect(await refusalOf(opened.log, claim, { rows: [result(at, "a")] })).toBe("result-already-sealed");
    });

    test("[LOG-8] a call id that a later call uses again can be answered again", async () => {
      await using opened = await open();
      const claim = await claimed(opened.log);
      await sealed(opened.log, claim, { rows: [call(["t1", 0], "a"), result(["t1", 0], "a"), call(["t1", 1], "a")] });
      expect(await refusalOf(opened.log, claim, { rows: [result(["t1", 1], "a")] })).toBe("committed");
      expect(await refusalOf(opened.log, claim, { rows: [result(["t1", 1], "a")] })).toBe("result-already-sealed");
    });

    const at: Place = ["t1", 1];
    const ask = system(at, {
      kind: "ask",
      state: "asked",
      askId: ids.chunk(),
      callId: "a",
      question: "?",
      options: [],
    });
    test.each([
      ["nothing", [], "committed"],
      ["the call's own step", [said(at, "more"), call(at, "b"), result(at, "b")], "committed"],
      ["usage of its step", [usage(at)], "committed"],
      ["a notice outside any turn", [notice(outside)], "committed"],
      ["a notice of a later step", [notice(["t1", 2])], "committed"],
      ["a question", [ask], "committed"],
      ["the end of its turn", [turnEnd(at)], "committed"],
      ["a steer that follows the step's results", [userText(at, "steer")], "committed"],
      ["a row of an earlier step of its turn", [said(["t1", 0], "late")], "committed"],
      ["a row of the next step", [said(["t1", 2], "next")], "result-already-sealed"],
      ["a call of the next step", [call(["t1", 2], "c")], "result-already-sealed"],
      ["a message of the next turn", [turnEnd(at), userText(["t2", 0], "next")], "result-already-sealed"],
      ["a later step, then a notice", [said(["t1", 2], "x"), notice(["t1", 2])], "result-already-sealed"],
      ["a later step, then a row of the call's own", [said(["t1", 2], "x"), said(at, "y")], "result-already-sealed"],
    ] as const)("[LOG-9] a result behind %s: %s", async (_, between, expected) => {
      for (const together of [true, false]) {
        await using opened = await open();
        const claim = await claimed(opened.log);
        const before = [said(["t1", 0], "x"), call(at, "a"), ...between.map((row) => ({ ...row, id: ids.chunk() }))];
        if (!together) await sealed(opened.log, claim, { rows: before });
        const rows = together ? [...before, result(at, "a")] : [result(at, "a")];
        expect(await refusalOf(opened.log, claim, { rows })).toBe(expected);
        if (expected === "committed") expect(verifyRows(await allRows(opened.log, claim.logId))).toEqual([]);
      }
    });
  });
}
