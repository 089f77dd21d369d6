import { join } from "node:path";
import type { ChunkId, LogId, TabId } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { JournalBlocks } from "../journal-blocks.ts";
import type { JournalEntry } from "../log.ts";
import { temporaryFolder } from "../testing/temporary.ts";
import { type Engine, loadEngine } from "./driver.ts";
import { SqliteJournal } from "./journal.ts";

// Texts of the right shape stand for ids here.
const tabs = ["T1", "T2"] as readonly string[] as readonly TabId[];
const blocks = ["a", "b", "c"] as readonly string[] as readonly ChunkId[];
const logId = "L" as LogId;

async function engineHere(): Promise<Engine> {
  const engine = await loadEngine();
  if (isFault(engine)) throw new Error(engine.message);
  return engine;
}

const entries: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({
    entry: fc.constant("open" as const),
    tabId: fc.constantFrom(...tabs),
    logId: fc.constant(logId),
    id: fc.constantFrom(...blocks),
    meta: fc.record({ step: fc.nat(3) }),
  }),
  fc.record({
    entry: fc.constant("text" as const),
    tabId: fc.constantFrom(...tabs),
    id: fc.constantFrom(...blocks),
    offset: fc.nat(6),
    text: fc.string({ unit: "binary", maxLength: 3 }),
  }),
  fc.record({
    entry: fc.constant("closed" as const),
    tabId: fc.constantFrom(...tabs),
    id: fc.constantFrom(...blocks),
  }),
);
type Act =
  | { readonly act: "write"; readonly entries: readonly JournalEntry[] }
  | { readonly act: "refused"; readonly entries: readonly JournalEntry[] }
  | { readonly act: "clear"; readonly tabId: TabId }
  | { readonly act: "restart" };
const batch = fc.array(entries, { minLength: 1, maxLength: 4 });
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ act: fc.constant("write" as const), entries: batch }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("refused" as const), entries: batch }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("clear" as const), tabId: fc.constantFrom(...tabs) }) },
  { weight: 1, arbitrary: fc.constant({ act: "restart" as const }) },
);

test("[LOG-24] the file says what the blocks are in memory, whatever is written together, refused, cleared or begun anew", async () => {
  const engine = await engineHere();
  await using home = await temporaryFolder();
  let run = 0;
  fc.assert(
    fc.property(fc.array(acts, { maxLength: 25 }), (done) => {
      const path = join(home.path, `journal-${run++}.db`);
      const model = new JournalBlocks();
      let journal = new SqliteJournal(engine, path);
      const other = () => engine.open(path);
      journal.write([]);
      for (const one of done) {
        switch (one.act) {
          case "write":
            journal.write(one.entries);
            for (const entry of one.entries) model.apply(entry);
            break;
          case "refused": {
            // Another program holds the file: nothing is written, and what comes behind it finds its place again.
            journal.blocksOf("T1" as TabId);
            const holder = other();
            holder.exec("BEGIN IMMEDIATE");
            journal.write(one.entries);
            holder.exec("ROLLBACK");
            holder.close();
            break;
          }
          case "clear":
            journal.clear(one.tabId);
            model.clear(one.tabId);
            break;
          case "restart":
            journal.close();
            journal = new SqliteJournal(engine, path);
            break;
        }
        for (const tab of tabs) expect(journal.blocksOf(tab)).toEqual(model.blocksOf(tab));
      }
      journal.close();
    }),
    { numRuns: 60 },
  );
});
