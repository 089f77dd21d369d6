/** The real server, asked to end while it works. */
import { readFile } from "node:fs/promises";
import type { LogChunk, TabId } from "@varve/protocol";
import { expect, test } from "vitest";
import { Follower } from "../e2e/follower.ts";
import { logProblems, refusals } from "../e2e/log-checks.ts";
import { processesWith } from "../e2e/processes.ts";
import { Product } from "../e2e/product.ts";
import { call, say } from "../e2e/scripted-agent.ts";
import { within } from "../e2e/within.ts";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";

const model = "anthropic/claude-test";
const words = Array.from({ length: 400 }, (_, at) => `word${at}`).join(" ");
const ends = (rows: readonly LogChunk[]): readonly string[] =>
  rows.flatMap((row) => (row.type === "system" && row.data.kind === "turn-end" ? [row.data.reason] : []));
const results = (rows: readonly LogChunk[]): readonly string[] =>
  rows.flatMap((row) => (row.type === "tool_result" ? [row.data.result] : []));

type Ending = {
  /** What the command does once it has said that it runs. */
  readonly work: string;
  readonly signal: NodeJS.Signals;
  readonly times: 1 | 2;
  readonly code: number;
  /** What its result says. */
  readonly result: RegExp;
};

/** Asks it to end, and answers once it takes nothing new. */
async function isEnding({ api, pid }: Product, tab: TabId): Promise<void> {
  process.kill(pid, "SIGTERM");
  const refused = async (): Promise<void> => {
    while ((await api.ask("PATCH", `/tabs/${tab}`, {})).code !== "shutting-down");
  };
  await within("the server takes nothing new", refused());
}

test.each<[string, Ending]>([
  [
    "SIGTERM, and the command ends soon: its result is kept, no further request is made",
    { work: "sleep 0.5; echo done", signal: "SIGTERM", times: 1, code: 0, result: /done/ },
  ],
  [
    "SIGINT, and the command does not end: it is stopped when the grace is over",
    { work: "NAP", signal: "SIGINT", times: 1, code: 0, result: /server was shut down/ },
  ],
  [
    "SIGTERM twice: it is gone at once, and the next start ends the turn",
    { work: "NAP", signal: "SIGTERM", times: 2, code: 1, result: /server restarted/ },
  ],
])("[SIM-68] %s; what waits is held", async (_what, { work, signal, times, code, result }) => {
  await using project = await makeProject("empty");
  const nap = `sleep 7${process.pid}`;
  const command = `echo run >> marker; echo began; ${work.replace("NAP", nap)}`;
  await using provider = await createFakeProvider({
    script: [{ blocks: [call("bash", { command })] }],
    reply: () => ({ blocks: [say("Here.")] }),
  });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  const first = await product.api.send(tab.id, "go");
  const queued = product.api.newId();
  {
    using follower = await Follower.on(product.api, tab.id);
    await follower.until("the command runs", () => follower.openText().includes("began"));
    await product.api.send(tab.id, "later", { id: queued, delivery: "steer" });
    // Two signals that come together may be one for the system: the second waits until the first was heard.
    if (times > 1) await isEnding(product, tab.id);
    expect(await product.stop(signal)).toEqual({ code, signal: null });
  }

  await product.restart();
  using follower = await Follower.on(product.api, tab.id);
  await follower.untilAnswered(first.id);
  const rows = await product.api.rows(tab.id);
  expect([ends(rows), results(rows).length]).toEqual([["restart"], 1]);
  expect(results(rows)[0]).toMatch(result);
  expect(provider.calls).toHaveLength(1);
  expect((await processesWith(nap)) ?? []).toEqual([]);
  expect((await product.api.head(tab.id)).queue).toMatchObject([{ id: queued, state: "held" }]);
  const next = await product.api.send(tab.id, "next");
  await follower.untilAnswered(next.id);
  expect(await readFile(project.path("marker"), "utf8")).toBe("run\n");
  expect(logProblems(await product.api.rows(tab.id), [first.id, next.id])).toEqual([]);
  expect(refusals(provider)).toEqual([]);
});

test("[SIM-68] SIGTERM while text streams keeps every character that had come", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({ script: [{ blocks: [say(words)], chunkSize: 24, holdAfter: 0 }] });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  const gate = provider.gate();
  const { id } = await product.api.send(tab.id, "tell me");
  let streamed = "";
  {
    using follower = await Follower.on(product.api, tab.id);
    await gate.step(40);
    await follower.until("the text has come", () => follower.openText().length >= 40 * 24);
    streamed = follower.openText();
    expect(await product.stop()).toEqual({ code: 0, signal: null });
    await within("its stream ends", follower.untilOver());
    // Those who watch are told how it ended before they are left.
    expect(follower.rows().some((row) => row.type === "text" && row.data.text === streamed)).toBe(true);
  }
  await product.restart();
  using follower = await Follower.on(product.api, tab.id);
  await follower.untilAnswered(id);
  const rows = await product.api.rows(tab.id);
  expect(rows.find((row) => row.type === "text" && row.role === "assistant")?.data).toEqual({
    text: streamed,
    partial: true,
  });
  expect(ends(rows)).toEqual(["restart"]);
});
