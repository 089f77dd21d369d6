/** Turns of the real server under what people and providers do to them. */
import { access } from "node:fs/promises";
import type { LogChunk } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { viewRequest } from "../provider/request-view.ts";
import type { Failure, Reply } from "../provider/script.ts";
import { Follower } from "./follower.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { processesWith } from "./processes.ts";
import { Product } from "./product.ts";
import { call, freshText, say } from "./scripted-agent.ts";

const model = "anthropic/claude-test";
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const answers = (rows: readonly LogChunk[]): readonly string[] =>
  rows.flatMap((row) => (row.role === "assistant" && row.type === "text" ? [row.data.text] : []));

test("H15: fifty times two messages at the same time: one begins a turn, both are answered, never two requests at once", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({ reply: () => ({ blocks: [say("ok")] }) });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  using follower = await Follower.on(product.api, tab.id);
  const sent = [];
  for (let round = 0; round < 50; round++) {
    const ids = [product.api.newId(), product.api.newId()] as const;
    const texts = ids.map((_id, index) => `message ${round}.${index}`);
    const accepted = await Promise.all(ids.map((id, index) => product.api.send(tab.id, texts[index] ?? "", { id })));
    expect(accepted.filter(({ state }) => state === "sealed").length).toBeGreaterThanOrEqual(1);
    for (const id of ids) await follower.untilAnswered(id);
    // What was accepted once is not taken again, whatever has become of it.
    expect(await product.api.send(tab.id, texts[0] ?? "", { id: ids[0] })).toEqual({ id: ids[0], state: "sealed" });
    sent.push(...ids);
  }

  const rows = await product.api.rows(tab.id);
  expect(logProblems(rows, sent)).toEqual([]);
  expect(rows.filter(({ role }) => role === "user")).toHaveLength(100);
  expect(provider.calls.filter(({ openAtStart }) => openAtStart > 0)).toEqual([]);
  expect(refusals(provider)).toEqual([]);
});

test("H15: a stop and a message at the same time: the message is behind the stopped turn or in one of its own, and answered", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({
    reply: (request) => ({
      blocks: [freshText(request).includes("slow") ? call("bash", { command: "echo on; sleep 60" }) : say("ok")],
    }),
  });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  using follower = await Follower.on(product.api, tab.id);
  const sent = [];
  for (let round = 0; round < 10; round++) {
    const slow = await product.api.send(tab.id, `slow ${round}`);
    await follower.until("the command runs", ({ open }) =>
      [...open.values()].some(({ block }) => block.role === "tool"),
    );
    const id = product.api.newId();
    const post = () => product.api.send(tab.id, `next ${round}`, { id });
    const stop = () => product.api.stop(tab.id);
    await Promise.all(round % 2 === 0 ? [stop(), post()] : [post(), stop()]);
    await follower.untilAnswered(slow.id);
    // What came before the stop is held by it, in sight; a click sends it.
    const waiting = (await product.api.head(tab.id)).queue.find((message) => message.id === id);
    if (waiting !== undefined) {
      const { version } = waiting;
      await product.api.ask("PATCH", `/tabs/${tab.id}/queue/${id}`, { version, state: "queued" });
    }
    await follower.untilAnswered(id);
    sent.push(slow.id, id);
  }

  expect(logProblems(await product.api.rows(tab.id), sent)).toEqual([]);
  expect(refusals(provider)).toEqual([]);
});

describe("H24: a provider that fails", () => {
  /** Fails in the given ways, one after the other, then answers. */
  const failing = (failures: readonly Failure[], blocks: Reply["blocks"] = []) => [
    ...failures.map((fail): Reply => ({ blocks, fail })),
    { blocks: [say("Answered in the end.")] },
  ];
  const overloaded: Failure = { kind: "error-event", at: "start", errorType: "overloaded_error" };

  test.each<[string, Reply[]]>([
    [
      "refuses twice with Retry-After",
      failing([1, 2].map(() => ({ kind: "status", status: 429, headers: { "retry-after": "1" } }))),
    ],
    ["is overloaded inside a stream, before any content", failing([overloaded])],
    ["is overloaded after some text", failing([{ ...overloaded, at: 2 }], [say("A first attempt that is cut off.")])],
    ["closes the socket in mid-stream", failing([{ kind: "cut", at: 2 }], [say("A first attempt that is cut off.")])],
    ["ends the stream without its last event", failing([{ kind: "clean-end", at: "end" }], [say("A first attempt.")])],
  ])("that %s is tried again in sight, and the log holds one answer", async (_how, script) => {
    await using project = await makeProject("empty");
    await using provider = await createFakeProvider({ script });
    await using product = await Product.start({ provider });
    const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
    using follower = await Follower.on(product.api, tab.id);

    const { id } = await product.api.send(tab.id, "hello");
    await follower.until("a retry is announced", ({ status }) => status.retry !== undefined);
    await follower.untilAnswered(id);

    expect(provider.calls).toHaveLength(script.length);
    // No trace of the failed attempt on the wire, and at most one in the log.
    const messages = provider.calls.map(({ body }) => JSON.stringify(body.messages));
    expect(new Set(messages).size).toBe(1);
    const rows = await product.api.rows(tab.id);
    expect(answers(rows).filter((text) => text === "Answered in the end.")).toHaveLength(1);
    expect(rows.filter((row) => row.type === "text" && row.data.text.startsWith("A first")).length).toBeLessThanOrEqual(
      1,
    );
    expect(logProblems(rows, [id])).toEqual([]);
    expect(follower.rows()).toEqual(rows);
  });

  test.each([400, 401, 403])(
    "with %i is not asked again; the turn ends in an error, and the next message is answered",
    async (status) => {
      await using project = await makeProject("empty");
      await using provider = await createFakeProvider({
        script: [{ fail: { kind: "status", status, message: "not like this" } }, { blocks: [say("Fine now.")] }],
      });
      await using product = await Product.start({ provider });
      const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
      using follower = await Follower.on(product.api, tab.id);

      const first = await product.api.send(tab.id, "hello");
      await follower.untilAnswered(first.id);
      expect(provider.calls).toHaveLength(1);
      expect(follower.state.status.state).toBe("error");
      const second = await product.api.send(tab.id, "again");
      await follower.untilAnswered(second.id);

      const rows = await product.api.rows(tab.id);
      expect(rows.filter(({ type }) => type === "error")).toHaveLength(1);
      expect(answers(rows)).toEqual(["Fine now."]);
      expect(logProblems(rows, [first.id, second.id])).toEqual([]);
    },
  );
});

test("H25: a stop in the middle of three calls ends all of them, keeps the real result, and the next message is answered", async () => {
  await using project = await makeProject("empty");
  const nap = `sleep 9${process.pid}`;
  await using provider = await createFakeProvider({
    reply: (request) => {
      if (freshText(request).includes("next")) return { blocks: [say("Here.")] };
      const commands = ["echo real", `echo x; ${nap}; touch X`, `echo y; ${nap}; touch Y`];
      return { blocks: commands.map((command) => call("bash", { command })) };
    },
  });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  using follower = await Follower.on(product.api, tab.id);

  const first = await product.api.send(tab.id, "run them");
  await follower.until("one has ended and two run", ({ sealed }) => {
    const done = [...sealed.values()].filter(({ row }) => row.type === "tool_result").length;
    return done === 1 && /x[\s\S]*y|y[\s\S]*x/.test(follower.openText());
  });
  expect(await product.api.stop(tab.id)).toEqual({ stopped: true });
  await follower.untilAnswered(first.id);

  expect(follower.state.status.state).toBe("idle");
  expect((await processesWith(nap)) ?? []).toEqual([]);
  expect([await isThere(project.path("X")), await isThere(project.path("Y"))]).toEqual([false, false]);
  // A stop that comes when the turn has ended hits nothing.
  expect(await product.api.stop(tab.id)).toEqual({ stopped: false });
  const second = await product.api.send(tab.id, "next");
  await follower.untilAnswered(second.id);

  const { lastResults, messages } = viewRequest("anthropic", 1, provider.calls[1]?.body ?? {});
  expect(lastResults.map(({ isError }) => isError)).toEqual([false, true, true]);
  expect(lastResults[0]?.text).toContain("real");
  for (const { text } of lastResults.slice(1)) expect(text).toContain("stopped by user");
  expect(messages.findLast(({ role }) => role === "assistant")?.calls.map(({ id }) => id)).toEqual(
    lastResults.map(({ callId }) => callId),
  );
  expect(refusals(provider)).toEqual([]);
  expect(logProblems(await product.api.rows(tab.id), [first.id, second.id])).toEqual([]);
});
