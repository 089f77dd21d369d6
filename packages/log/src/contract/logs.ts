import { describe, expect, test } from "vitest";
import type { Claim, Log } from "../log.ts";
import { rowUnits } from "../row-text.ts";
import { segmentsMax } from "../segments.ts";
import {
  accept,
  allRows,
  call,
  claimed,
  ids,
  makeTab,
  newTab,
  type OpenLog,
  refusalOf,
  result,
  said,
  sealed,
  sound,
  startMs,
  turnEnd,
  userText,
} from "./fixtures.ts";

const texts = async (log: Log, logId: Claim["logId"]) =>
  (await allRows(log, logId)).map((row) => (row.type === "text" ? row.data.text : row.type));
const write = (log: Log, claim: Claim, words: readonly string[]) =>
  sealed(log, claim, { rows: words.map((word) => said(["t1", 0], word)) });
const claimOf = async (log: Log, id: Claim["tabId"], nowMs = startMs) => sound(await log.claim(id, nowMs));

/** Fences, pages, forks, and what purge leaves. */
export function describeLogs(open: OpenLog): void {
  describe("fences", () => {
    test("[LOG-5] only the newest claim writes; an older one writes nothing at all", async () => {
      await using opened = await open();
      const { log } = opened;
      const old = await claimed(log);
      const [a, b] = await Promise.all([log.claim(old.tabId, startMs), log.claim(old.tabId, startMs)]);
      const [first, second] = [sound(a), sound(b)];
      expect(new Set([old.term, first.term, second.term]).size).toBe(3);
      const winner = first.term > second.term ? first : second;
      const loser = first.term > second.term ? second : first;
      for (const claim of [old, loser, { ...winner, term: winner.term + 1 }]) {
        const batch = { rows: [said(["t1", 0], "x")], inbox: [accept(ids.chunk())], tab: { title: "stolen" } };
        expect(await log.commit(claim, batch)).toEqual({ kind: "fenced" });
      }
      expect(await log.tab(old.tabId)).toMatchObject({ tail: 0, title: "A tab", term: winner.term });
      await write(log, winner, ["a"]);
      expect((await allRows(log, old.logId)).map((row) => row.term)).toEqual([winner.term]);
    });

    test("[LOG-6] a term is the time of the claim, and later than any before when the clock went back", async () => {
      await using opened = await open();
      const tab = await makeTab(opened.log);
      const terms: number[] = [];
      for (const now of [startMs, startMs - 5000, startMs, startMs + 7.9])
        terms.push((await claimOf(opened.log, tab.id, now)).term);
      expect(terms).toEqual([startMs, startMs + 1, startMs + 2, startMs + 7]);
      expect(await opened.log.claim(ids.tab(), startMs)).toBeNull();
    });

    test("[LOG-6] a claim brings the tab as it is and what waits, in queue order", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const [one, two, three, gone] = [ids.chunk(), ids.chunk(), ids.chunk(), ids.chunk()];
      await sealed(log, claim, {
        rows: [said(["t1", 0], "a")],
        inbox: [accept(one), accept(gone), accept(two, "held"), accept(three)],
      });
      await sealed(log, claim, {
        inbox: [
          { write: "drop", id: gone },
          { write: "change", id: three, version: 1, position: 0.5 },
        ],
      });
      const next = await claimOf(log, claim.tabId);
      expect(next.waiting.map((record) => [record.id, record.state])).toEqual([
        [three, "queued"],
        [one, "queued"],
        [two, "held"],
      ]);
      expect(next).toMatchObject({ tail: 1, logId: claim.logId, tab: { id: claim.tabId, tail: 1, term: next.term } });
    });
  });

  describe("pages", () => {
    test("[LOG-10] both ways, by limit, before and after any seq, of any log", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      await write(log, claim, ["1", "2", "3", "4", "5"]);
      const seqs = async (more: object) =>
        sound(await log.page({ logId: claim.logId, limit: 2, ...more })).rows.map((row) => row.seq);
      expect(await seqs({})).toEqual([4, 5]);
      expect(await seqs({ before: 4 })).toEqual([2, 3]);
      expect(await seqs({ before: 2 })).toEqual([1]);
      expect(await seqs({ before: 1 })).toEqual([]);
      expect(await seqs({ before: 99 })).toEqual([4, 5]);
      expect(await seqs({ after: 0 })).toEqual([1, 2]);
      expect(await seqs({ after: 4 })).toEqual([5]);
      expect(await seqs({ after: 5 })).toEqual([]);
      expect(await seqs({ after: 1, limit: 99 })).toEqual([2, 3, 4, 5]);
      expect(await log.page({ logId: (await makeTab(log)).logId, limit: 5 })).toEqual({ rows: [], tail: 0 });
      expect(await log.page({ logId: ids.log(), limit: 5 })).toMatchObject({ kind: "fault", code: "unknown-log" });
    });

    test("[LOG-11] a page ends before the row that would pass its size, yet holds one", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      await write(log, claim, ["x".repeat(100), "\u{1F600}".repeat(50), "y".repeat(5000), '"'.repeat(50)]);
      const rows = await allRows(log, claim.logId);
      const units = rows.map((row) => JSON.stringify(row).length);
      expect(rows.map((row) => rowUnits(row, JSON.stringify(row.data)))).toEqual(units);
      const page = async (more: object) =>
        sound(await log.page({ logId: claim.logId, limit: 10, ...more })).rows.map((row) => row.seq);
      const [one = 0, two = 0] = units;
      expect(await page({ after: 0, bytesMax: one + two })).toEqual([1, 2]);
      expect(await page({ after: 0, bytesMax: one + two - 1 })).toEqual([1]);
      expect(await page({ after: 0, bytesMax: 1 })).toEqual([1]);
      expect(await page({ after: 2, bytesMax: 200 })).toEqual([3]);
      expect(await page({ bytesMax: 600 })).toEqual([4]);
      expect(await page({ before: 3, bytesMax: one + two })).toEqual([1, 2]);
      expect(await page({ before: 3, bytesMax: two })).toEqual([2]);
    });
  });

  describe("forks", () => {
    test("[LOG-12] a child shares its parent's rows up to its fork, and goes on by itself", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      await write(log, claim, ["a", "b", "c", "d"]);
      const target = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq: 2 } as const;
      const fork = await makeTab(log, { logId: target.logId }, target);
      expect(fork).toMatchObject({ tail: 2, logId: target.logId });
      const forkClaim = await claimOf(log, fork.id);
      await write(log, claim, ["e"]);
      const added = await write(log, forkClaim, ["x", "y"]);
      expect(added.rows.map((row) => row.seq)).toEqual([3, 4]);
      expect(await texts(log, claim.logId)).toEqual(["a", "b", "c", "d", "e"]);
      expect(await texts(log, target.logId)).toEqual(["a", "b", "x", "y"]);
      const [shared, hidden] = [(await log.row(claim.logId, 2))?.id, (await log.row(claim.logId, 3))?.id];
      expect((await log.rowById(target.logId, shared ?? ids.chunk()))?.seq).toBe(2);
      expect(await log.rowById(target.logId, hidden ?? ids.chunk())).toBeNull();
      expect((await log.row(target.logId, 3))?.data).toEqual({ text: "x" });
      expect(await log.logsOf(fork.id)).toMatchObject([{ parentId: claim.logId, parentSeq: 2, tail: 4 }]);
    });

    test("[LOG-7] the ids of shared rows are taken in a child; those of hidden ones are free", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const { rows } = await write(log, claim, ["a", "b"]);
      const target = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq: 1 } as const;
      const fork = await claimOf(log, (await makeTab(log, { logId: target.logId }, target)).id);
      const [shared, hidden] = rows.map((row) => said(["t1", 0], "again", row.id));
      expect(await refusalOf(log, fork, { rows: shared === undefined ? [] : [shared] })).toBe("id-taken");
      expect(await refusalOf(log, fork, { rows: hidden === undefined ? [] : [hidden] })).toBe("committed");
      expect((await log.rowById(fork.logId, rows[1]?.id ?? ids.chunk()))?.data).toEqual({ text: "again" });
    });

    test("[LOG-9] a call among the shared rows is answered in the child, once and in time", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      await sealed(log, claim, {
        rows: [call(["t1", 0], "a"), call(["t1", 0], "b"), result(["t1", 0], "a"), said(["t1", 1], "x")],
      });
      for (const [parentSeq, a, b] of [
        [2, "committed", "committed"],
        [3, "result-already-sealed", "committed"],
        [4, "result-already-sealed", "result-already-sealed"],
      ] as const) {
        const target = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq } as const;
        const fork = await claimOf(log, (await makeTab(log, { logId: target.logId }, target)).id);
        expect(await refusalOf(log, fork, { rows: [result(["t1", 0], "a")] })).toBe(a);
        expect(await refusalOf(log, fork, { rows: [result(["t1", 0], "b")] })).toBe(b);
      }
    });

    test("[LOG-13] a child's term starts at that of the rows it shares, so terms never go back in a log", async () => {
      await using opened = await open();
      const { log } = opened;
      const tab = await makeTab(log);
      const late = await claimOf(log, tab.id, startMs + 1_000_000);
      await write(log, late, ["a"]);
      const target = { kind: "child", logId: ids.log(), parentId: tab.logId, parentSeq: 1 } as const;
      const fork = await makeTab(log, { logId: target.logId }, target);
      expect(fork.term).toBe(late.term);
      expect((await claimOf(log, fork.id, startMs)).term).toBe(late.term + 1);
    });

    test("[LOG-14] a tab points on and back; no old fence comes to life again, no log is lost", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      await write(log, claim, ["a", "b"]);
      sound(await log.changeTab(claim.tabId, { seen: 2 }));
      const child = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq: 1 } as const;
      const pointed = sound(await log.point(claim, child, startMs));
      expect(pointed).toMatchObject({ logId: child.logId, tail: 1, seen: 1 });
      expect((await log.tab(claim.tabId))?.seen).toBe(1);
      expect(pointed.term).toBeGreaterThan(claim.term);
      const fence = { tabId: claim.tabId, logId: pointed.logId, term: pointed.term };
      expect(await log.commit(fence, { rows: [] })).toMatchObject({ kind: "committed", tail: 1 });
      for (const old of [claim, { ...claim, logId: child.logId }])
        expect(await log.commit(old, { rows: [] })).toEqual({ kind: "fenced" });
      expect(await log.point(claim, child, startMs)).toMatchObject({ kind: "fault", code: "log-fenced" });
      const second = await claimOf(log, claim.tabId);
      expect(second.term).toBeGreaterThan(pointed.term);
      await write(log, second, ["c"]);
      const back = sound(await log.point(second, { kind: "earlier", logId: claim.logId }, startMs));
      expect(back).toMatchObject({ logId: claim.logId, tail: 2 });
      for (const old of [claim, second]) expect(await log.commit(old, { rows: [] })).toEqual({ kind: "fenced" });
      await write(log, await claimOf(log, claim.tabId), ["d"]);
      const third = await claimOf(log, claim.tabId);
      const fresh = { kind: "fresh", logId: ids.log() } as const;
      expect(sound(await log.point(third, fresh, startMs)).tail).toBe(0);
      expect((await log.logsOf(claim.tabId)).map((entry) => [entry.id, entry.tail])).toEqual([
        [claim.logId, 3],
        [child.logId, 2],
        [fresh.logId, 0],
      ]);
      expect(await texts(log, child.logId)).toEqual(["a", "c"]);
      expect(await texts(log, claim.logId)).toEqual(["a", "b", "d"]);
    });

    test("[LOG-14] a tab is not pointed to what is not its own, not there, or taken", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const other = await claimed(log);
      await write(log, claim, ["a"]);
      const point = async (target: Parameters<Log["point"]>[1]) => await log.point(claim, target, startMs);
      const parentId = claim.logId;
      expect(await point({ kind: "earlier", logId: other.logId })).toMatchObject({ code: "unknown-log" });
      expect(await point({ kind: "earlier", logId: ids.log() })).toMatchObject({ code: "unknown-log" });
      expect(await point({ kind: "fresh", logId: other.logId })).toMatchObject({ code: "id-taken" });
      expect(await point({ kind: "child", logId: ids.log(), parentId: ids.log(), parentSeq: 0 })).toMatchObject({
        code: "unknown-log",
      });
      for (const parentSeq of [2, -1, 0.5]) {
        const logId = ids.log();
        expect(await point({ kind: "child", logId, parentId, parentSeq })).toMatchObject({ code: "bad-cursor" });
        expect(await log.page({ logId, limit: 1 })).toMatchObject({ code: "unknown-log" });
      }
      expect(await refusalOf(log, claim, { rows: [said(["t1", 0], "b")] })).toBe("committed");
    });

    test("[LOG-15] a chain of forks reads as one log; one fork too many is refused", async () => {
      await using opened = await open();
      const { log } = opened;
      let claim = await claimed(log);
      const depth = 40;
      for (let level = 1; level < depth; level++) {
        await write(log, claim, [`${level}`, "hidden"]);
        const target = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq: level } as const;
        sound(await log.point(claim, target, startMs));
        claim = await claimOf(log, claim.tabId);
      }
      expect(await texts(log, claim.logId)).toEqual(Array.from({ length: depth - 1 }, (_, at) => `${at + 1}`));
      expect(sound(await log.page({ logId: claim.logId, before: 20, limit: 3 })).rows.map((row) => row.seq)).toEqual([
        17, 18, 19,
      ]);
      expect(sound(await log.page({ logId: claim.logId, after: 20, limit: 3 })).rows.map((row) => row.seq)).toEqual([
        21, 22, 23,
      ]);
      expect(segmentsMax).toBeGreaterThan(depth);
    });

    test("[LOG-15] forks at one point stay as shallow as the first", async () => {
      await using opened = await open();
      const { log } = opened;
      let claim = await claimed(log);
      await write(log, claim, ["a"]);
      for (let again = 0; again < 12; again++) {
        const target = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq: 1 } as const;
        sound(await log.point(claim, target, startMs));
        claim = await claimOf(log, claim.tabId);
      }
      expect(await texts(log, claim.logId)).toEqual(["a"]);
    });
  });

  describe("purge", () => {
    const trash = (log: Log, id: Claim["tabId"]) => log.changeTab(id, { trashedAt: startMs });

    test("[LOG-22] removes a trashed tab with its rows and messages, and nothing of another", async () => {
      await using opened = await open();
      const { log } = opened;
      const [gone, stays] = [await claimed(log), await claimed(log)];
      const message = ids.chunk();
      await sealed(log, gone, {
        rows: [userText(["t1", 0], "x", message), turnEnd(["t1", 0])],
        inbox: [accept(message, "sealed")],
      });
      await write(log, stays, ["kept"]);
      expect(await log.purge(gone.tabId)).toMatchObject({ kind: "fault", code: "bad-request" });
      expect(await log.purge(ids.tab())).toMatchObject({ kind: "fault", code: "unknown-tab" });
      await trash(log, gone.tabId);
      expect(await log.purge(gone.tabId)).toBeNull();
      expect([await log.tab(gone.tabId), await log.message(message), await log.row(gone.logId, 1)]).toEqual([
        null,
        null,
        null,
      ]);
      expect(await log.page({ logId: gone.logId, limit: 1 })).toMatchObject({ code: "unknown-log" });
      expect(await log.logsOf(gone.tabId)).toEqual([]);
      expect(await log.commit(gone, { rows: [] })).toEqual({ kind: "fenced" });
      expect(await texts(log, stays.logId)).toEqual(["kept"]);
    });

    test("[LOG-22] rows that a living fork shares stay until the last such fork goes", async () => {
      await using opened = await open();
      const { log } = opened;
      const parent = await claimed(log);
      await write(log, parent, ["a", "b", "c", "d"]);
      const forkAt = async (parentId: Claim["logId"], parentSeq: number) => {
        const target = { kind: "child", logId: ids.log(), parentId, parentSeq } as const;
        return claimOf(log, (await makeTab(log, { logId: target.logId, parentId: parent.tabId }, target)).id);
      };
      const middle = await forkAt(parent.logId, 3);
      await write(log, middle, ["x"]);
      const young = await forkAt(middle.logId, 2);
      await write(log, young, ["y"]);
      for (const { tabId } of [parent, middle]) {
        await trash(log, tabId);
        expect(await log.purge(tabId)).toBeNull();
        expect(await texts(log, young.logId)).toEqual(["a", "b", "y"]);
      }
      expect((await log.tab(young.tabId))?.parentId).toBeNull();
      expect((await allRows(log, parent.logId)).map((row) => row.seq)).toEqual([1, 2]);
      await write(log, young, ["z"]);
      await trash(log, young.tabId);
      expect(await log.purge(young.tabId)).toBeNull();
      for (const logId of [parent.logId, young.logId]) expect(await log.row(logId, 1)).toBeNull();
      expect(await log.tabs()).toEqual([]);
    });
  });

  describe("purge and earlier logs", () => {
    test("[LOG-22] what a living tab reaches by an earlier log of its own, or of the purged tab, stays, and so do all files", async () => {
      await using opened = await open();
      const { log } = opened;
      const parent = await claimed(log);
      await write(log, parent, ["a", "b", "c"]);
      const cleared = { kind: "fresh", logId: ids.log() } as const;
      sound(await log.point(parent, cleared, startMs));
      await write(log, await claimOf(log, parent.tabId), ["anew"]);
      const { blob } = sound(await log.blobs.put(new Uint8Array([1, 2]), "x/y"));
      // A tab on a fork of that earlier log, which then goes on elsewhere: it reaches the rows by an earlier log of its own.
      const target = { kind: "child", logId: ids.log(), parentId: parent.logId, parentSeq: 2 } as const;
      const child = await claimOf(log, (await makeTab(log, { logId: target.logId }, target)).id);
      await write(log, child, ["x"]);
      sound(await log.point(child, { kind: "fresh", logId: ids.log() }, startMs));
      sound(await log.changeTab(parent.tabId, { trashedAt: startMs }));
      expect(await log.purge(parent.tabId)).toBeNull();
      expect(await texts(log, child.logId)).toEqual(["a", "b", "x"]);
      expect([await log.row(parent.logId, 3), await log.row(cleared.logId, 1)]).toEqual([null, null]);
      expect((await log.logsOf(child.tabId)).map(({ id }) => id)).toContain(child.logId);
      expect([...((await log.blobs.get(blob))?.bytes ?? [])]).toEqual([1, 2]);
      const claim = await claimOf(log, child.tabId);
      expect(sound(await log.point(claim, { kind: "earlier", logId: child.logId }, startMs)).tail).toBe(3);
      sound(await log.changeTab(child.tabId, { trashedAt: startMs }));
      expect(await log.purge(child.tabId)).toBeNull();
      expect(await log.row(parent.logId, 1)).toBeNull();
    });

    test("[LOG-14] every log that a tab ever pointed to is on its list, through forks, cuts and ways back", async () => {
      await using opened = await open();
      const { log } = opened;
      let claim = await claimed(log);
      const made = [claim.logId];
      for (const kind of ["fresh", "child", "earlier", "child", "fresh", "earlier", "child"] as const) {
        await write(log, claim, [kind]);
        const logId = kind === "earlier" ? (made[1] ?? claim.logId) : ids.log();
        const target = kind === "child" ? { kind, logId, parentId: claim.logId, parentSeq: 1 } : { kind, logId };
        sound(await log.point(claim, target, startMs));
        if (kind !== "earlier") made.push(logId);
        claim = await claimOf(log, claim.tabId);
      }
      expect((await log.logsOf(claim.tabId)).map(({ id }) => id)).toEqual(made);
      const forked = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq: 1 } as const;
      const fork = await makeTab(log, { logId: forked.logId }, forked);
      expect((await log.logsOf(fork.id)).map(({ id }) => id)).toEqual([forked.logId]);
      expect((await log.logsOf(claim.tabId)).map(({ id }) => id)).toEqual(made);
      for (const logId of made) sound(await log.page({ logId, limit: 1 }));
    });
  });

  describe("tabs", () => {
    test("[LOG-27] a tab is kept as it was made and changed, in the order of making", async () => {
      await using opened = await open();
      const { log } = opened;
      const tab = newTab({ title: "T\ud800\0", cwd: "/x" });
      const entry = sound(await log.createTab(tab));
      expect(entry).toEqual({
        ...tab,
        title: "T\uFFFD\uFFFD",
        tail: 0,
        term: 0,
        seen: 0,
        updatedAt: startMs,
        trashedAt: null,
      });
      const second = await makeTab(log, { parentId: tab.id });
      expect(await log.tabs()).toEqual([entry, second]);
      const change = {
        title: "New",
        cwd: "/y",
        model: "m",
        effort: "low",
        permissions: "allow",
        seen: 3,
        updatedAt: 9,
        trashedAt: 8,
      };
      expect(await log.changeTab(tab.id, change)).toEqual({ ...entry, ...change });
      expect(await log.changeTab(tab.id, { trashedAt: null })).toEqual({ ...entry, ...change, trashedAt: null });
      expect(await log.tab(tab.id)).toEqual({ ...entry, ...change, trashedAt: null });
      const claim = await claimOf(log, tab.id);
      await sealed(log, claim, { rows: [said(["t1", 0], "a")], tab: { title: "From a commit", seen: 1 } });
      expect(await log.tab(tab.id)).toMatchObject({ title: "From a commit", seen: 1, cwd: "/y", tail: 1 });
    });

    test("[LOG-27] ids that are taken, and parents that are not there, are refused and leave nothing", async () => {
      await using opened = await open();
      const { log } = opened;
      const tab = await makeTab(log);
      expect(await log.createTab(newTab({ id: tab.id }))).toMatchObject({ code: "id-taken" });
      expect(await log.createTab(newTab({ logId: tab.logId }))).toMatchObject({ code: "id-taken" });
      expect(await log.createTab(newTab({ parentId: ids.tab() }))).toMatchObject({ code: "unknown-tab" });
      expect(await log.changeTab(ids.tab(), { title: "x" })).toMatchObject({ code: "unknown-tab" });
      expect(await log.tab(ids.tab())).toBeNull();
      expect((await log.tabs()).length).toBe(1);
    });

    test("[LOG-23] a tab is unfinished when its newest turn has no turn-end", async () => {
      await using opened = await open();
      const { log } = opened;
      const cases = [
        [[], false],
        [[said(["", 0], "outside")], false],
        [[userText(["t1", 0], "a")], true],
        [[userText(["t1", 0], "a"), turnEnd(["t1", 0])], false],
        [[userText(["t1", 0], "a"), turnEnd(["t1", 0]), said(["", 0], "outside")], false],
        [[userText(["t1", 0], "a"), turnEnd(["t1", 0]), userText(["t2", 0], "b")], true],
        [[userText(["t1", 0], "a"), call(["t1", 0], "c"), turnEnd(["t1", 0]), result(["t1", 0], "c")], false],
      ] as const;
      const unfinished: string[] = [];
      for (const [rows, isUnfinished] of cases) {
        const claim = await claimed(log);
        await sealed(log, claim, { rows: rows.map((row) => ({ ...row, id: ids.chunk() })) });
        if (isUnfinished) unfinished.push(claim.tabId);
      }
      expect(await log.unfinished()).toEqual(unfinished);
    });

    test("[LOG-23] a fork in the middle of a turn is unfinished, and its parent is not", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      await sealed(log, claim, { rows: [userText(["t1", 0], "a"), said(["t1", 0], "b"), turnEnd(["t1", 0])] });
      for (const [parentSeq, expected] of [
        [0, false],
        [2, true],
        [3, false],
      ] as const) {
        const target = { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq } as const;
        const fork = await makeTab(log, { logId: target.logId }, target);
        expect((await log.unfinished()).includes(fork.id)).toBe(expected);
      }
      expect(await log.unfinished()).not.toContain(claim.tabId);
    });
  });
}
