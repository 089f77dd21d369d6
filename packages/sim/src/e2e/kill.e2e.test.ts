import { readFile } from "node:fs/promises";
import type { ChunkId, LogChunk, TabId } from "@varve/protocol";
import { expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { Follower } from "./follower.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { processesWith } from "./processes.ts";
import { Product } from "./product.ts";
import { bothVendors, call, freshText, say } from "./scripted-agent.ts";
import { within } from "./within.ts";

const model = "anthropic/claude-test";

/** The newest text of a person, in words that show which message was answered. */
const echo = {
  reply: ({ lastUserText }: { readonly lastUserText: string }) => ({ blocks: [say(`ok ${lastUserText}`)] }),
};

/** Characters at the end of what came that may begin a secret that the server knows: they are shown with what follows. */
const openEndMax = 8;

const kindsOf = (rows: readonly LogChunk[]): readonly string[] =>
  rows.map((row) => (row.type === "system" ? `system/${row.data.kind}` : `${row.role}/${row.type}`));

const turnEnds = (rows: readonly LogChunk[]): readonly string[] =>
  rows.flatMap((row) => (row.type === "system" && row.data.kind === "turn-end" ? [row.data.reason] : []));

test.each([
  ["once", 0],
  ["and again during each of two boots", 2],
])(
  "H14: killed while a tool runs, %s: the tab is idle, nothing runs twice, and the next message is answered",
  async (_how, bootKills) => {
    await using project = await makeProject("empty");
    // The number is nobody else's: by it the command's process is found.
    const nap = `sleep 3${process.pid}`;
    const command = `echo run >> marker; echo started; ${nap}`;
    await using provider = await createFakeProvider({
      reply: (request) => ({
        blocks: freshText(request).includes("next") ? [say("Here.")] : [call("bash", { command })],
      }),
    });
    await using product = await Product.start({ provider });
    const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
    const first = await product.api.send(tab.id, "run it");
    {
      using follower = await Follower.on(product.api, tab.id);
      await follower.until("the command runs", () => follower.openText().includes("started"));
      await product.kill();
    }
    for (let kills = 0; kills < bootKills; kills++) {
      const child = product.beginRestart();
      // The line is out before recovery has gone through: this is the middle of a boot.
      await within("the boot comes to listening", child.says(/listening on/));
      await product.kill();
    }

    await product.restart();
    using follower = await Follower.on(product.api, tab.id);
    await follower.untilAnswered(first.id);

    expect((await product.api.tab(tab.id)).state).toBe("idle");
    const rows = await product.api.rows(tab.id);
    const result = rows.find((row) => row.type === "tool_result");
    expect(result?.data).toMatchObject({ isError: true, result: "server restarted; the command may have run" });
    expect(kindsOf(rows).slice(-3)).toEqual(["tool/tool_result", "system/notice", "system/turn-end"]);
    expect(await readFile(project.path("marker"), "utf8")).toBe("run\n");
    expect((await processesWith(nap)) ?? []).toEqual([]);

    const calls = provider.calls.length;
    const next = await product.api.send(tab.id, "next");
    await follower.untilAnswered(next.id);
    expect(provider.calls).toHaveLength(calls + 1);
    expect(refusals(provider)).toEqual([]);
    expect(await readFile(project.path("marker"), "utf8")).toBe("run\n");
    expect(logProblems(await product.api.rows(tab.id), [first.id, next.id])).toEqual([]);
  },
);

test("H14: a permission question that was open at the kill can be answered after the restart, and its call runs once", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({
    reply: (request) => ({
      blocks: request.lastResults.length > 0 ? [say("Done.")] : [call("bash", { command: "echo run >> marker" })],
    }),
  });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "ask" });
  const { id } = await product.api.send(tab.id, "run it");
  {
    using follower = await Follower.on(product.api, tab.id);
    await follower.until("the question is asked", ({ status }) => status.waits.length === 1);
    await product.kill();
  }

  await product.restart();
  using follower = await Follower.on(product.api, tab.id);
  await follower.until("the question is there again", ({ status }) => status.waits.length === 1);
  const [wait] = follower.state.status.waits;
  if (wait === undefined) throw new Error("the question is gone");
  await product.api.answer(tab.id, { askId: wait.askId, verdict: "once" });
  await follower.untilAnswered(id);

  expect(await readFile(project.path("marker"), "utf8")).toBe("run\n");
  const rows = await product.api.rows(tab.id);
  expect(turnEnds(rows)).toEqual(["done"]);
  expect(logProblems(rows, [id])).toEqual([]);
  expect(refusals(provider)).toEqual([]);
});

test.each(bothVendors)(
  "killed while text streams from %s, at least 95 % of what was streamed is kept as partial",
  async (of) => {
    await using project = await makeProject("empty");
    const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
    await using provider = await createFakeProvider({
      script: [{ blocks: [say(text)], chunkSize: 24 }],
      ...echo,
    });
    await using product = await Product.start({ provider });
    const tab = await product.api.newTab({ cwd: project.dir, model: of, permissions: "allow" });
    const gate = provider.gate();
    const { id } = await product.api.send(tab.id, "tell me");
    let streamed = "";
    {
      using follower = await Follower.on(product.api, tab.id);
      // As fast as they arrive at a client and no faster: what is lost is what the last write to disk did not hold.
      for (let deltas = 1; deltas <= 100; deltas++) {
        await gate.step(1);
        await follower.until("the delta arrives", () => follower.openText().length >= deltas * 24 - openEndMax);
      }
      streamed = follower.openText();
      await product.kill();
    }

    await product.restart();
    using follower = await Follower.on(product.api, tab.id);
    await follower.untilAnswered(id);

    expect(text.startsWith(streamed)).toBe(true);
    const rows = await product.api.rows(tab.id);
    const partial = rows.find((row) => row.type === "text" && row.data.partial === true);
    const kept = partial?.type === "text" ? partial.data.text : "";
    expect(text.startsWith(kept)).toBe(true);
    expect(kept.length).toBeGreaterThanOrEqual(0.95 * streamed.length);
    expect(turnEnds(rows)).toEqual(["restart"]);

    const next = await product.api.send(tab.id, "and now?");
    await follower.untilAnswered(next.id);
    // The model is shown what it had said.
    expect(JSON.stringify(provider.calls.at(-1)?.body.messages)).toContain(kept.slice(0, 200));
    expect(refusals(provider)).toEqual([]);
    expect(logProblems(await product.api.rows(tab.id), [id, next.id])).toEqual([]);
  },
);

/** Posts one message after the other, each under its own id, until the server is gone. Answers with what was acknowledged. */
async function postUntilGone(product: Product, tab: TabId): Promise<readonly ChunkId[]> {
  const acknowledged: ChunkId[] = [];
  for (;;) {
    try {
      const delivery = acknowledged.length % 4 === 0 ? "queue" : "steer";
      const { id } = await product.api.send(tab, `message ${acknowledged.length}`, { delivery });
      acknowledged.push(id);
    } catch {
      return acknowledged; // The server was killed: nothing was promised for this one.
    }
    if (acknowledged.length >= 20) return acknowledged;
  }
}

test("killed five times under posting clients, every acknowledged message is in the log exactly once", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider(echo);
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  const acknowledged: ChunkId[] = [];
  for (let round = 0; round < 5; round++) {
    const calls = provider.calls.length;
    const clients = [postUntilGone(product, tab.id), postUntilGone(product, tab.id), postUntilGone(product, tab.id)];
    // Each round is cut in another place: when so many answers have begun.
    await within("turns run", provider.arrived(calls + 2 + round));
    await product.kill();
    acknowledged.push(...(await Promise.all(clients)).flat());
    await product.restart();
    await releaseAll(product, tab.id);
  }
  using follower = await Follower.on(product.api, tab.id);
  await follower.until(
    "every message has had its turn",
    ({ status, queue }) => status.turnId === null && queue.size === 0,
    90_000,
  );

  // Between two turns there is an instant in which nothing waits and nothing runs: what is read then is not the end.
  const problems = async () => logProblems(await product.api.rows(tab.id), acknowledged);
  await expect.poll(problems, { timeout: 30_000 }).toEqual([]);
  const rows = await product.api.rows(tab.id);
  expect(acknowledged.length).toBeGreaterThan(10);
  expect(refusals(provider)).toEqual([]);
  // Nobody wrote but these clients: what is there beyond what was acknowledged was taken and not answered before a kill.
  const sent = rows.filter(({ role }) => role === "user").length;
  expect(sent - acknowledged.length).toBeLessThanOrEqual(5 * 3);
});

/** What waits after a restart is held, each message visibly; one click sends it. */
async function releaseAll({ api }: Product, tab: TabId): Promise<void> {
  using follower = await Follower.on(api, tab);
  await follower.until("recovery is through", ({ status }) => status.turnId === null);
  for (const message of (await api.head(tab)).queue) {
    expect(message.state).toBe("held");
    const released = await api.ask("PATCH", `/tabs/${tab}/queue/${message.id}`, {
      version: message.version,
      state: "queued",
    });
    expect(released.status).toBe(200);
  }
}
