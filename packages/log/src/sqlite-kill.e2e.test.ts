import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseChunkId, parseTabId, type TabId } from "@varve/protocol";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { allRows, said, sealed, sound, startMs } from "./contract/fixtures.ts";
import { openedLog, temporaryFolder } from "./testing/temporary.ts";
import { verifyRows } from "./verify-rows.ts";

const enginePackage = "@photostructure/sqlite";

/** The writer as one file that plain Node runs. */
async function bundleWriter(folder: string): Promise<string> {
  const entry = fileURLToPath(new URL("testing/append-until-killed.ts", import.meta.url));
  const common = { bundle: true, format: "esm", platform: "node", target: "node20", write: false } as const;
  const built = await build({ ...common, entryPoints: [entry], external: [enginePackage] });
  const engine = pathToFileURL(createRequire(import.meta.url).resolve(enginePackage)).href;
  const target = join(folder, "writer.mjs");
  await writeFile(target, (built.outputFiles[0]?.text ?? "").replaceAll(`"${enginePackage}"`, JSON.stringify(engine)));
  return target;
}

interface Run {
  readonly tab: string;
  /** The highest tail that was acknowledged. */
  readonly acknowledged: number;
}

/** Lets the writer run until it has acknowledged so many batches, then kills it as nothing else can be caught. */
async function runAndKill(child: ChildProcess, batches: number): Promise<Run> {
  let tab = "";
  let acknowledged = 0;
  let seen = 0;
  if (child.stdout === null) throw new Error("the writer has no output");
  const ended = once(child, "close");
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("tab ")) tab = line.slice(4);
    else {
      acknowledged = Number(line);
      seen += 1;
    }
    if (seen === batches) child.kill("SIGKILL");
  }
  await ended;
  return { tab, acknowledged };
}

describe("kill -9", () => {
  test("[LOG-34] loses nothing that was acknowledged, tears no batch, and the open block's text is kept", async () => {
    await using folder = await temporaryFolder();
    const writer = await bundleWriter(folder.path);
    const home = join(folder.path, "home");
    let tab: TabId | null = null;
    let before = 0;
    for (const [round, batches] of [1, 7, 40, 3, 23].entries()) {
      const arguments_ = [writer, home, tab ?? "-", String(startMs + round)];
      const child = spawn(process.execPath, arguments_, { stdio: ["ignore", "pipe", "inherit"] });
      const run = await runAndKill(child, batches);
      tab = parseTabId(run.tab);
      expect(run.acknowledged).toBeGreaterThanOrEqual(before + batches * 2);
      await using log = await openedLog(home);
      const entry = sound(await log.tab(sound(tab)));
      const rows = await allRows(log, entry.logId);
      expect(verifyRows(rows)).toEqual([]);
      expect(rows.length).toBe(entry.tail);
      expect(rows.length).toBeGreaterThanOrEqual(run.acknowledged);
      expect(rows.length % 2).toBe(0);
      for (const block of log.journal.blocksOf(entry.id)) {
        expect("piece".repeat(3).startsWith(block.text)).toBe(true);
        const isSealed = rows.some((row) => row.id === block.id);
        if (isSealed) expect(block.text).toBe("piece".repeat(3));
      }
      expect(log.journal.blocksOf(entry.id).length).toBeLessThanOrEqual(1);
      log.journal.clear(entry.id);
      expect(log.journal.faults()).toBe(0);
      expect(await log.check()).toBeNull();
      const claim = sound(await log.claim(entry.id, startMs + round));
      before = (
        await sealed(log, claim, {
          rows: [said(["t1", 0], "a"), said(["t1", 0], "b")].map((row, at) => ({
            ...row,
            id: sound(parseChunkId(`own-${round}-${at}`)),
          })),
        })
      ).tail;
    }
  });
});
