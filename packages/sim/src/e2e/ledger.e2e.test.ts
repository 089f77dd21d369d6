/** The bill of the built product against what the provider counted, token by token, and the prices that it shows before. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { factsOf } from "@varve/agent";
import type { LedgerStep, Preview, TabId } from "@varve/protocol";
import { billBodySchema } from "@varve/protocol/schema";
import { expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider, type FakeProvider } from "../provider/fake-provider.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply, ReplyBlock } from "../provider/script.ts";
import { recordedDataDir, WITHOUT_RECORDINGS } from "../recorded/data-dir.ts";
import type { Api } from "./api.ts";
import { Follower } from "./follower.ts";
import { refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { chainProblems } from "./request-chain.ts";
import { call, freshText, say } from "./scripted-agent.ts";

const opus = "anthropic/claude-opus-5-5";
const sonnet = "anthropic/claude-sonnet-5-5";
const gemini = "google/gemini-3.5-flash";
const output = 57;

function worker(request: FakeRequest): Reply {
  const fresh = freshText(request);
  const usage = { output };
  const thought: ReplyBlock = { type: "thinking", text: `I weigh it, ${request.index}.` };
  if (fresh.includes("run"))
    return { usage, blocks: [thought, call("bash", { command: "echo one" }), call("bash", { command: "echo two" })] };
  if (fresh.includes("long")) return { usage, blocks: [say("word ".repeat(200))] };
  return { usage, blocks: [say(`I read it. ${"A word or two. ".repeat(20)}`)] };
}

/** What the provider counted for each request that it began to answer. */
const counted = (provider: FakeProvider) =>
  provider.calls.flatMap((one) => {
    const figures = one.counted();
    if (figures === null || !one.hasBegun()) return [];
    const { fresh, read, write5m, write1h } = figures;
    return [{ fresh, read, write5m, write1h }];
  });
const told = (steps: readonly LedgerStep[]) =>
  steps.map(({ fresh, read, write5m, write1h }) => ({ fresh, read, write5m, write1h }));
const sumOf = (steps: readonly LedgerStep[], of: (step: LedgerStep) => number | null): number =>
  steps.reduce((sum, step) => sum + (of(step) ?? 0), 0);

/** Sums of the same money in another order may differ in their last bit. */
const rounded = <T>(value: T): unknown =>
  JSON.parse(JSON.stringify(value, (_key, one: unknown) => (typeof one === "number" ? Number(one.toFixed(9)) : one)));

async function ask(api: Api, follower: Follower, tab: TabId, text: string): Promise<void> {
  const { id } = await api.send(tab, text);
  await follower.untilAnswered(id);
}

test("over calls, a stop, retries, a broken stream, another model and a restart, the bill is the provider's, and stays", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({ reply: worker });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model: opus, permissions: "allow", title: "Mixed" });
  {
    using follower = await Follower.on(product.api, tab.id);
    await ask(product.api, follower, tab.id, "run them");
    provider.add({ fail: { kind: "status", status: 429, headers: { "retry-after": "0" } } });
    await ask(product.api, follower, tab.id, "hello");
    provider.add({ blocks: [say("a first attempt that is cut off")], fail: { kind: "cut", at: 2 } });
    await ask(product.api, follower, tab.id, "and again");
    const gate = provider.gate();
    const { id } = await product.api.send(tab.id, "a long one");
    await gate.step(8);
    await follower.until("some text is there", () => follower.openText().includes("word word"));
    await product.api.stop(tab.id);
    await follower.untilAnswered(id);
    await product.api.patch(tab.id, { model: gemini });
    await ask(product.api, follower, tab.id, "run them there");
    await product.api.patch(tab.id, { model: opus });
    await ask(product.api, follower, tab.id, "back again");
  }
  const steps = await product.api.steps(tab.id);
  expect(told(steps)).toEqual(
    counted(provider).map((one, at) => (steps[at]?.model === gemini ? { ...one, write5m: null, write1h: null } : one)),
  );
  // Only of the broken try and of the stopped step did the provider not tell the output.
  expect(steps.filter((step) => step.output !== output)).toMatchObject([{ output: 8 }, { output: 32 }]);
  const before = await product.api.ledger(tab.id);
  expect(before.own).toEqual(before.whole);
  expect(before.own.requests).toBe(steps.length);
  expect(before.own.untold + before.own.unpriced).toBe(0);
  expect(before.own.price).toBeCloseTo(
    sumOf(steps, ({ price }) => price),
    9,
  );
  expect(before.own.read).toBe(sumOf(steps, ({ read }) => read));
  expect(before.models.map(({ model }) => model).toSorted()).toEqual([opus, gemini].toSorted());
  // Back on the first model its requests go on where they were; its cache was not lost to the other one.
  expect(chainProblems(provider.calls.filter(({ vendor }) => vendor === "anthropic"))).toEqual([]);
  // Nothing was read short of what could be, but where the model was another one.
  expect(steps.filter(({ cause }) => cause !== null).map(({ cause }) => cause?.kind)).toEqual(["model"]);

  await product.kill();
  await product.restart();
  expect(rounded(await product.api.ledger(tab.id))).toEqual(rounded(before));
  const { today } = await product.api.usage();
  expect(rounded(today)).toEqual(rounded(before.own));

  // A fork shares the rows and not their price; a purged tab leaves its price behind.
  const fork = await product.api.fork(tab.id, tab.tail + 12);
  expect((await product.api.ledger(fork.id)).own.requests).toBe(0);
  using follower = await Follower.on(product.api, fork.id);
  await ask(product.api, follower, fork.id, "in the fork");
  const forked = (await product.api.ledger(fork.id)).own;
  expect(forked.requests).toBe(1);
  const together = (await product.api.usage()).today;
  expect(together.price).toBeCloseTo(before.own.price + forked.price, 9);
  await product.api.remove(fork.id);
  await product.api.remove(fork.id);
  const after = await product.api.usage();
  expect(rounded(after.today)).toEqual(rounded(together));
  expect(after.tabs.find((one) => one.tab === fork.id)).toMatchObject({ title: null, sum: { requests: 1 } });
  expect(rounded(after.days.at(-1)?.sum)).toEqual(rounded(together));
  expect(refusals(provider)).toEqual([]);
});

test("what is shown before a click is within a twentieth of what the provider then bills; an hour's lifetime is asked for in every mark", async () => {
  await using project = await makeProject("empty");
  await project.write("AGENTS.md", "Answer in one word. ".repeat(100));
  // Answers so long that a message of two words is no twentieth of what they add.
  const talker = (): Reply => ({ blocks: [say("A word, and one more. ".repeat(150))] });
  await using provider = await createFakeProvider({ reply: talker });
  await using product = await Product.start({ provider });
  const { api } = product;
  const tab = await api.newTab({ cwd: project.dir, model: opus, permissions: "allow" });
  using follower = await Follower.on(api, tab.id);
  const next = async (): Promise<LedgerStep> => {
    await ask(api, follower, tab.id, "go on");
    const step = (await api.steps(tab.id)).at(-1);
    if (step === undefined) throw new Error("nothing was billed");
    return step;
  };
  const isNear = (what: string, shown: Preview | null, paid: LedgerStep): void => {
    const outputRate = factsOf("anthropic", paid.model.replace("anthropic/", "")).prices?.output ?? Number.NaN;
    const input = (paid.price ?? Number.NaN) - ((paid.output ?? 0) * outputRate) / 1e6;
    const ratio = (shown?.price ?? Number.NaN) / input;
    expect.soft(Math.abs(ratio - 1), `${what}: ${shown?.price} shown, ${input} paid`).toBeLessThan(0.05);
  };
  for (let turn = 0; turn < 6; turn += 1) await next();

  isNear("as it is", await api.preview(tab.id, {}), await next());
  const other = await api.preview(tab.id, { model: sonnet });
  await api.patch(tab.id, { model: sonnet });
  isNear("another model", other, await next());
  const back = await api.preview(tab.id, { model: opus });
  await api.patch(tab.id, { model: opus });
  isNear("and back", back, await next());
  const effort = await api.preview(tab.id, { effort: "high" });
  await api.patch(tab.id, { effort: "high" });
  isNear("another effort", effort, await next());

  await project.write("AGENTS.md", "Answer in two words. ".repeat(100));
  const { tell } = await api.context(tab.id);
  await api.apply(tab.id, "tell");
  isNear("told", tell, await next());
  await project.write("AGENTS.md", "Answer in three words. ".repeat(100));
  const { rebuild } = await api.context(tab.id);
  await api.apply(tab.id, "rebuild");
  isNear("rebuilt", rebuild, await next());

  const hour = await api.preview(tab.id, { cacheTtl: "1h" });
  await api.patch(tab.id, { options: { cacheTtl: "1h" } });
  const paid = await next();
  isNear("an hour", hour, paid);
  expect(paid.write1h).toBeGreaterThan(0);
  const last = provider.calls.at(-1);
  const marks = last?.rawBody.match(/"cache_control":\{[^}]*\}/g) ?? [];
  expect(marks.length).toBeGreaterThanOrEqual(2);
  expect(marks.every((mark) => mark.includes('"ttl":"1h"'))).toBe(true);
  expect(chainProblems(provider.calls.slice(-2))).toEqual([]);

  const { compact } = await api.context(tab.id);
  await api.compact(tab.id);
  await follower.until("it is summed up", () =>
    follower.rows().some((row) => row.type === "system" && row.data.kind === "compaction"),
  );
  await follower.until("the tab is at rest", ({ status }) => status.turnId === null);
  const summary = (await api.steps(tab.id)).findLast(({ purpose }) => purpose === "compaction");
  if (summary === undefined) throw new Error("the summary has no bill");
  isNear("the summary", compact?.summary ?? null, summary);
  expect(refusals(provider)).toEqual([]);
});

const recording = join(recordedDataDir() ?? "", "sessions/pi/large-session.jsonl");
const isThere = await access(recording).then(
  () => true,
  () => false,
);

test.skipIf(!isThere)(`\`varve ledger\` prints what a recording cost and why${WITHOUT_RECORDINGS}`, async () => {
  await using product = await Product.start();
  const json = await product.cli("ledger", recording, "--json");
  expect(json).toMatchObject({ code: 0, err: "" });
  const bill = billBodySchema.parse(JSON.parse(json.out));
  expect(bill.sum.requests).toBe(453);
  expect(bill.sum.price).toBeCloseTo(30.3302, 4);
  const text = await product.cli("ledger", recording);
  expect(text.code).toBe(0);
  for (const part of ["453", "30.33"]) expect(text.out).toContain(part);
});
