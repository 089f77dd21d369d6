/** A job far longer than the window, with real tools on a real disk and a model that knows only what it is sent. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { memoryLog, verifyRows } from "@varve/log";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { expect, test } from "vitest";
import { PlainTab } from "./testing/plain-owner.ts";
import { call, say } from "./testing/script-model.ts";
import type { Parts, Seen } from "./testing/window-model.ts";
import { windowModel } from "./testing/window-model.ts";
import { optionsOf, unlimited, wordsOf } from "./testing/world.ts";
import { scratch } from "./tools/testing/scratch.ts";
import { isKind } from "./turn-rows.ts";

const lines = 200;
const task = `Number the lines of job.txt from 1 to ${lines}, one edit each. Code word: BIRCH-7.`;
const wish = "When all is done, put the code word into word.txt, followed by -OK.";
const aloud = "I go on with the next line and keep an eye on what the file says. ".repeat(9);

/** The newest `next: N` that stands anywhere in what it sees: an edit's result, a summary, a file that it read. */
function nextLine(messages: readonly string[]): number | null {
  const found = messages.flatMap((message) => [...message.matchAll(/next: (\d+)/g)].map(([, n]) => Number(n)));
  return found.length === 0 ? null : Math.max(...found);
}

function answer({ messages, asksForSummary, index }: Seen): Parts {
  const next = nextLine(messages);
  if (asksForSummary) return say(`Lines below are numbered. In job.txt stands next: ${next ?? "nothing"}`);
  if (next === null) return [call(`r${index}`, "read", { path: "job.txt" })];
  if (next <= lines) {
    const newText = `line ${next}\nnext: ${next + 1}`;
    return [...say(aloud), call(`e${index}`, "edit", { path: "job.txt", oldText: `next: ${next}`, newText })];
  }
  const seen = messages.join("\n");
  const word = /Code word: ([A-Z]+-\d)/.exec(seen)?.[1];
  const ending = /followed by (-[A-Z]+)/.exec(seen)?.[1];
  if (word === undefined || ending === undefined) return say("I have forgotten what was asked.");
  if (!seen.includes('"toolName":"write"')) {
    return [call(`w${index}`, "write", { path: "word.txt", content: `${word}${ending}` })];
  }
  return say("All done.");
}

test("[AGENT-133] 200 steps in a window of 20,000 tokens: at least five compactions, and the right files", async () => {
  await using at = scratch();
  at.file("job.txt", "next: 1\n");
  const clock = createFakeClock();
  const model = windowModel(clock, { windowTokens: 20_000, answer });
  const options = optionsOf({
    log: memoryLog(),
    clock,
    ids: createFakeIds(),
    tools: at.box,
    models: model.models,
    spending: () => unlimited(1_000),
    autoCompact: () => ({ on: true, share: 0.6 }),
  });
  const tab = await PlainTab.create({ ...options, ports: { ...options.ports, place: at.place } });
  await tab.send(task);
  await tab.until(() => model.requests.length === 50);
  await tab.send(wish, "steer");
  await tab.idle();

  expect(wordsOf(tab.rows).slice(-2)).toEqual(["text:All done.", "end:done"]);
  const numbered = Array.from({ length: lines }, (_, index) => `line ${index + 1}\n`).join("");
  expect(readFileSync(join(at.ws, "job.txt"), "utf8")).toBe(`${numbered}next: ${lines + 1}\n`);
  expect(readFileSync(join(at.ws, "word.txt"), "utf8")).toBe("BIRCH-7-OK");

  const steps = model.seen.filter((seen) => !seen.asksForSummary);
  expect(steps.length).toBeGreaterThanOrEqual(lines);
  expect(tab.rows.filter((row) => isKind(row, "compaction")).length).toBeGreaterThanOrEqual(5);
  expect(Math.max(...model.seen.map(({ tokens }) => tokens))).toBeLessThan(20_000);
  for (const { messages, index } of steps) {
    const body = messages.join("\n");
    expect(body).toContain(JSON.stringify(task).slice(1, -1));
    if (index > 55) expect(body).toContain(JSON.stringify(wish).slice(1, -1));
  }
  expect(verifyRows(tab.rows)).toEqual([]);
}, 60_000);
