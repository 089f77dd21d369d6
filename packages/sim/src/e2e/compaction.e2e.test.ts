/** A tab is summed up, by hand, by itself and because it does not fit any more; what was said can be looked up, and it can be undone. */
import { readFile } from "node:fs/promises";
import type { LogChunk } from "@varve/protocol";
import { expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import type { RecordedCall } from "../provider/recorded-call.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply } from "../provider/script.ts";
import { Follower } from "./follower.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { chainProblems, renderedInput } from "./request-chain.ts";
import { call, freshText, lastResult, say } from "./scripted-agent.ts";

const model = "anthropic/claude-opus-5-5";
const asksForSummary = ({ lastUserText }: FakeRequest): boolean => lastUserText.startsWith("Please write a summary");

const compactions = (rows: readonly LogChunk[]) =>
  rows.flatMap((row) =>
    row.type === "system" && row.data.kind === "compaction" ? [{ ...row.data, seq: row.seq }] : [],
  );
const errors = (rows: readonly LogChunk[]) => rows.flatMap((row) => (row.type === "error" ? [row.data] : []));
const beginsWith = (longer: RecordedCall, shorter: RecordedCall): boolean =>
  chainProblems([shorter, longer]).length === 0;

/** Talks at length, remembers one word, and looks it up when asked for it. */
function talker(request: FakeRequest): Reply {
  const fresh = freshText(request);
  if (asksForSummary(request)) return { blocks: [say("We talked at length. Nothing is open.")] };
  const found = lastResult(request, "recall");
  if (found !== undefined) return { blocks: [say(`It says: ${/PLUM-\d+/.exec(found.text)?.[0] ?? "nothing"}`)] };
  if (fresh.includes("look it up")) return { blocks: [call("recall", { query: "plum" })] };
  return { blocks: [say(`My own secret word is PLUM-7. ${"I have a lot to say about it. ".repeat(120)}`)] };
}

test("summed up by hand: the person's words stay, a lost word is looked up, and undo gives the earlier bytes back", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({ reply: talker });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  using follower = await Follower.on(product.api, tab.id);
  const ask = async (text: string): Promise<RecordedCall> => {
    const { id } = await product.api.send(tab.id, text);
    await follower.untilAnswered(id);
    const last = provider.calls.at(-1);
    if (last === undefined) throw new Error("nothing was sent");
    return last;
  };
  const tooSoon = await product.api.ask("POST", `/tabs/${tab.id}/compact`, {});
  expect(tooSoon.code).toBe("nothing-to-compact");
  for (const text of ["the first wish", "the second wish", "the third wish"]) await ask(text);
  const before = await ask("the fourth wish");

  expect(await product.api.compact(tab.id)).toBe("started");
  await follower.until("it is summed up", () => compactions(follower.rows()).length === 1);
  await follower.until("the tab is at rest", ({ status }) => status.turnId === null);
  const summary = provider.calls.at(-1);
  // The question stands behind the tab's own body, so the summary is read from its cache.
  expect(summary !== undefined && beginsWith(summary, before)).toBe(true);
  expect(summary?.counted()?.read).toBeGreaterThan(0.9 * (before.counted()?.attainable ?? 0));

  const after = await ask("please look it up");
  const body = JSON.stringify(after.body.messages);
  for (const text of ["the first wish", "the second wish", "We talked at length."]) expect(body).toContain(text);
  expect(body.length).toBeLessThan(0.6 * JSON.stringify(before.body.messages).length);
  const told = (await product.api.rows(tab.id)).findLast(({ role, type }) => role === "assistant" && type === "text");
  expect(told?.data).toMatchObject({ text: "It says: PLUM-7" });

  const [made] = compactions(await product.api.rows(tab.id));
  const { compactions: listed } = await product.api.undoCompaction(tab.id, made?.seq ?? 0);
  expect(listed).toMatchObject([{ seq: made?.seq, trigger: "manual", undone: true }]);
  const restored = await ask("the last wish");
  expect(beginsWith(restored, before)).toBe(true);
  expect(renderedInput(restored).join("")).not.toContain("We talked at length.");
  // Every request can still be shown as it was sent.
  for (const step of await product.api.steps(tab.id)) {
    const sent = await product.api.sentRequest(tab.id, step.requestSeq ?? 0);
    expect([step.requestSeq, sent.intact]).toEqual([step.requestSeq, true]);
  }
  expect(refusals(provider)).toEqual([]);
  expect(logProblems(await product.api.rows(tab.id), [])).toEqual([]);
});

test("a job longer than the window: it sums up by itself, keeps the person's words, and the file is right", async () => {
  await using project = await makeProject("empty");
  const lines = 36;
  const wish = `Write ${lines} lines into job.txt, one a step. The code word is BIRCH-7.`;
  const nextLine = ({ messages }: FakeRequest): number =>
    Math.max(
      0,
      ...messages
        .flatMap(({ text, results }) => [text, ...results.map((result) => result.text)])
        .flatMap((text) => [...text.matchAll(/wrote (\d+)/g)].map(([, count]) => Number(count))),
    ) + 1;
  const worker = (request: FakeRequest): Reply => {
    const next = nextLine(request);
    if (asksForSummary(request)) return { blocks: [say(`So far: wrote ${next - 1}.`)] };
    if (next > lines)
      return { blocks: [say(`Done, ${/code word is (\S+)\./.exec(JSON.stringify(request.body))?.[1]}`)] };
    const command = `echo ${next} >> job.txt; echo wrote ${next}`;
    return { blocks: [say("I go on with the next line. ".repeat(110)), call("bash", { command })] };
  };
  await using provider = await createFakeProvider({ reply: worker });
  await using product = await Product.start({ provider });
  await product.api.set({ priceOverrides: { [model]: { contextTokens: 20_000 } } });
  const tab = await product.api.newTab({
    cwd: project.dir,
    model,
    permissions: "allow",
    options: { autoCompact: { on: true, share: 0.6 } },
  });
  using follower = await Follower.on(product.api, tab.id);
  const { id } = await product.api.send(tab.id, wish);
  await follower.untilAnswered(id, 110_000);

  const numbers = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join("");
  expect(await readFile(project.path("job.txt"), "utf8")).toBe(numbers);
  const rows = await product.api.rows(tab.id);
  expect(rows.findLast(({ role }) => role === "assistant")?.data).toMatchObject({ text: "Done, BIRCH-7" });
  const made = compactions(rows);
  expect(made.length).toBeGreaterThanOrEqual(2);
  expect(new Set(made.map(({ trigger }) => trigger))).toEqual(new Set(["auto"]));
  for (const { rawBody } of provider.calls) expect(rawBody).toContain("The code word is BIRCH-7.");
  const { meter } = await product.api.context(tab.id);
  expect(meter).toMatchObject({ window: 20_000, compactAt: 12_000 });
  expect(refusals(provider)).toEqual([]);
  expect(logProblems(rows, [id])).toEqual([]);
});

test("what the provider says is too long is summed up and sent again; when that does not help, the turn ends in one clear error", async () => {
  await using project = await makeProject("empty");
  let refuse = 0;
  const message = "prompt is too long: 210000 tokens > 200000 maximum";
  await using provider = await createFakeProvider({
    reply: (request) => {
      if (asksForSummary(request) || !freshText(request).includes("again") || refuse === 0) return talker(request);
      refuse -= 1;
      return { fail: { kind: "status", status: 400, errorType: "invalid_request_error", message } };
    },
  });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  using follower = await Follower.on(product.api, tab.id);
  const ask = async (text: string): Promise<void> => {
    const { id } = await product.api.send(tab.id, text);
    await follower.untilAnswered(id);
  };
  for (let turn = 0; turn < 6; turn += 1) await ask(`talk ${turn}`);

  refuse = 1;
  await ask("and again");
  const once = await product.api.rows(tab.id);
  expect(compactions(once).map(({ trigger }) => trigger)).toEqual(["overflow"]);
  expect(errors(once)).toEqual([]);
  expect(once.findLast(({ role }) => role === "assistant")?.data).toMatchObject({
    text: expect.stringContaining("PLUM-7"),
  });

  for (let turn = 0; turn < 6; turn += 1) await ask(`talk more ${turn}`);
  refuse = Number.POSITIVE_INFINITY;
  const calls = provider.calls.length;
  await ask("once again");
  const twice = await product.api.rows(tab.id);
  expect(errors(twice).map(({ code }) => code)).toEqual(["context-overflow"]);
  expect(follower.state.status.state).toBe("error");
  // Two compactions at most, and so three tries at most.
  expect(provider.calls.length - calls).toBeLessThanOrEqual(5);
  refuse = 0;
  await ask("and now again?");
  expect(follower.state.status.state).toBe("idle");
  expect(refusals(provider)).toEqual([]);
  expect(logProblems(await product.api.rows(tab.id), [])).toEqual([]);
});
