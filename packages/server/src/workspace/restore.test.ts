/** An older database file beside a newer journal: what the journal holds of a later time than the rows is not theirs. */
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Log, openSqliteLog } from "@varve/log";
import { isFault } from "@varve/protocol";
import { createFakeClock, type Gate } from "@varve/sim";
import { expect, test } from "vitest";
import { ends, idle, queueOf, send, texts, toolRuns } from "./testing/acts.ts";
import { Follower, makeRig, type Rig } from "./testing/rig.ts";

async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "varve-restore-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function openLog(home: string): Promise<Log & AsyncDisposable> {
  const log = await openSqliteLog({ home, clock: createFakeClock() });
  if (isFault(log)) throw new Error(log.message);
  return Object.assign(log, { [Symbol.asyncDispose]: () => log.close() });
}

/** What a plain copy of a file catches while it is in use, its write-ahead log included. */
async function copyDatabase(from: string, to: string, name: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const part of [name, `${name}-wal`]) await copyFile(join(from, part), join(to, part));
}

async function grows(rig: Rig, follower: Follower, gate: Gate, text: string): Promise<void> {
  await gate.step(1);
  await rig.until(`"${text}" is shown`, () => follower.openText().endsWith(text));
}

type Moment = "before the turn" | "in the step of the block" | "a step before the block" | "behind the turn";

test.each<[Moment, readonly string[], readonly string[]]>([
  ["before the turn", ["user:first", "assistant:one"], ["done"]],
  ["a step before the block", ["user:first", "assistant:one", "user:go"], ["done", "restart"]],
  ["in the step of the block", ["user:first", "assistant:one", "user:go", "assistant:later wo"], ["done", "restart"]],
  ["behind the turn", ["user:first", "assistant:one", "user:go", "assistant:later words"], ["done", "done"]],
])("[TAB-111] a database copied %s, put back beside a newer journal", async (moment, kept, reasons) => {
  await using home = await folder();
  await using restored = await folder();
  await using log = await openLog(home.path);
  await using rig = await makeRig({
    script: [
      { blocks: [{ type: "text", text: "one" }] },
      { blocks: [{ type: "tool_use", id: "c1", name: "work", input: {} }] },
      { blocks: [{ type: "text", text: "later words", deltas: ["later wo", "rds"] }], holdAfter: 0 },
      { blocks: [{ type: "text", text: "and on" }] },
    ],
    log,
  });
  const copyNow = (now: Moment) =>
    now === moment ? copyDatabase(home.path, restored.path, "varve.db") : Promise.resolve();
  const follower = await Follower.on(rig);
  await send(rig, "m1", "first");
  await rig.until("it is answered", async () => (await texts(rig)).length === 2 && idle(rig)());
  await copyNow("before the turn");
  await send(rig, "m2", "go");
  await toolRuns(rig);
  await copyNow("a step before the block");
  rig.works.get("c1")?.end("done");
  const gate = rig.provider.gate();
  await grows(rig, follower, gate, "later wo");
  await copyNow("in the step of the block");
  await copyDatabase(home.path, restored.path, "open-blocks.db");
  gate.release();
  await rig.until("the turn ended", async () => (await ends(rig)).length === 2 && idle(rig)());
  await copyNow("behind the turn");
  const before = await rig.log.tab(rig.tab);

  await using older = await openLog(restored.path);
  await using again = await rig.restarted({ log: older });
  expect(await texts(again)).toEqual(kept);
  expect(await ends(again)).toEqual(reasons);
  expect(older.journal.blocksOf(rig.tab)).toEqual([]);
  expect((await older.tab(rig.tab))?.term).toBeGreaterThan(before?.term ?? Infinity);
  expect(await queueOf(again)).toEqual([]);
  const rows = await again.rows();
  expect(rows.map((row) => row.seq)).toEqual(rows.map((_, at) => at + 1));
  await send(again, "m3", "next");
  await again.until("the next one is answered", async () => (await texts(again)).includes("assistant:and on"));
});
