/** Limits of the built product: a turn that comes to one waits for a person, over kills, and goes on as it is told to. */
import { readFile } from "node:fs/promises";
import type { AnswerBody, TabId } from "@varve/protocol";
import { expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply } from "../provider/script.ts";
import { Follower } from "./follower.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { call, say } from "./scripted-agent.ts";

const priced = "anthropic/claude-opus-5-5";

/** Writes one line a step until a person's newest message has had so many, then says so. */
function worker(request: FakeRequest): Reply {
  const wanted = Number(/write (\d+) lines/.exec(request.lastUserText)?.[1] ?? 0);
  const begun = request.messages.findLastIndex(({ text }) => text === request.lastUserText);
  const done = request.messages.slice(begun).flatMap(({ results }) => results).length;
  if (done >= wanted) return { blocks: [say(`done with ${done}`)] };
  return { blocks: [call("bash", { command: `echo line >> marker` })] };
}

const questionOf = async (follower: Follower) => {
  const asked = () => {
    const row = follower
      .rows()
      .findLast(({ type, data }) => type === "system" && "kind" in data && data.kind === "limit");
    return row?.type === "system" && row.data.kind === "limit" && row.data.state === "asked" ? row.data : null;
  };
  await follower.until(
    "a limit asks",
    ({ status }) => status.waits.some(({ kind }) => kind === "limit") && asked() !== null,
  );
  const [wait] = follower.state.status.waits;
  const question = asked();
  if (wait === undefined || question === null) throw new Error("there is no question");
  const { limit, used, max } = question;
  return { askId: wait.askId, limit, used, max };
};

/** Answers, and waits until the one who only looks has seen that. */
async function answer(product: Product, tab: TabId, body: AnswerBody, onlooker: Follower): Promise<void> {
  await product.api.answer(tab, body);
  await onlooker.until("the other client sees the answer", ({ status }) =>
    status.waits.every(({ askId }) => askId !== body.askId),
  );
}

test("a turn of too many steps waits, also over a kill; it goes on as far again, or farther, or stops, and nothing is lost", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({ reply: worker });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({
    cwd: project.dir,
    model: priced,
    permissions: "allow",
    options: { stepsMax: 3 },
  });
  const first = await product.api.send(tab.id, "write 8 lines");
  let asked = "";
  {
    using follower = await Follower.on(product.api, tab.id);
    const question = await questionOf(follower);
    expect(question).toMatchObject({ limit: "turn-steps", used: 3, max: 3 });
    asked = question.askId;
    await product.kill();
  }
  await product.restart();
  using follower = await Follower.on(product.api, tab.id);
  using onlooker = await Follower.on(product.api, tab.id);
  const again = await questionOf(follower);
  expect(again.askId).toBe(asked);
  expect((await product.api.tab(tab.id)).state).toBe("waiting");
  expect(provider.calls).toHaveLength(3);

  await answer(product, tab.id, { askId: again.askId, choice: "go-on" }, onlooker);
  const next = await questionOf(follower);
  expect(next).toMatchObject({ limit: "turn-steps", used: 6, max: 6 });
  // A second answer to the same question changes nothing.
  const late = { askId: again.askId, choice: "stop" } as const;
  expect(await product.api.ask("POST", `/tabs/${tab.id}/answers`, late)).toMatchObject({ code: "already-answered" });
  await answer(product, tab.id, { askId: next.askId, choice: "raise", raiseTo: 9 }, onlooker);
  await follower.untilAnswered(first.id);
  expect((await product.api.tab(tab.id)).options.stepsMax).toBe(9);
  expect(await readFile(project.path("marker"), "utf8")).toBe("line\n".repeat(8));
  expect(provider.calls).toHaveLength(9);

  await product.api.patch(tab.id, { options: { stepsMax: 1 } });
  const second = await product.api.send(tab.id, "write 2 lines");
  const last = await questionOf(follower);
  const waiting = await product.api.send(tab.id, "and then?", { delivery: "queue" });
  await answer(product, tab.id, { askId: last.askId, choice: "stop" }, onlooker);
  await follower.untilAnswered(second.id);
  const [held] = (await product.api.head(tab.id)).queue;
  expect(held).toMatchObject({ id: waiting.id, state: "held" });
  await product.api.ask("PATCH", `/tabs/${tab.id}/queue/${waiting.id}`, { version: held?.version, state: "queued" });
  await follower.untilAnswered(waiting.id);

  const rows = await product.api.rows(tab.id);
  expect(logProblems(rows, [first.id, second.id, waiting.id])).toEqual([]);
  expect(onlooker.rows()).toEqual(rows);
  expect(refusals(provider)).toEqual([]);
  const ends = rows.flatMap((row) => (row.type === "system" && row.data.kind === "turn-end" ? [row.data.reason] : []));
  expect(ends).toEqual(["done", "stopped", "done"]);
});

test("a tab's money and the day's money each ask before the next request, and what is raised holds; an unknown price says so", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({ reply: worker });
  await using product = await Product.start({ provider });
  const on = { cwd: project.dir, permissions: "allow" } as const;
  const tab = await product.api.newTab({ ...on, model: priced, options: { moneyMax: 0.000_001 } });
  using follower = await Follower.on(product.api, tab.id);
  const { id } = await product.api.send(tab.id, "write 3 lines");
  const question = await questionOf(follower);
  const { cost } = await product.api.tab(tab.id);
  expect(question).toMatchObject({ limit: "tab-money", used: cost.price, max: 0.000_001 });
  expect(cost.price).toBeGreaterThan(0.001);
  // What would not let a single request through is no answer.
  const low = { askId: question.askId, choice: "raise", raiseTo: cost.price / 2 };
  expect((await product.api.ask("POST", `/tabs/${tab.id}/answers`, low)).status).toBe(400);
  await product.api.answer(tab.id, { askId: question.askId, choice: "raise", raiseTo: 100 });
  await follower.untilAnswered(id);
  expect((await product.api.tab(tab.id)).options.moneyMax).toBe(100);

  await product.api.set({ dayMoneyMax: 0.000_001 });
  const other = await product.api.newTab({ ...on, model: priced });
  using second = await Follower.on(product.api, other.id);
  const more = await product.api.send(other.id, "write 1 lines");
  const calls = provider.calls.length;
  const day = await questionOf(second);
  expect(day.limit).toBe("day-money");
  expect(day.used).toBeCloseTo((await product.api.usage()).today.price, 9);
  expect(provider.calls).toHaveLength(calls);
  await product.api.answer(other.id, { askId: day.askId, choice: "raise", raiseTo: 50 });
  await second.untilAnswered(more.id);
  expect((await product.api.usage()).dayMoneyMax).toBe(50);

  const unknown = await product.api.newTab({ ...on, model: "anthropic/claude-test" });
  using third = await Follower.on(product.api, unknown.id);
  const last = await product.api.send(unknown.id, "write 2 lines");
  const price = await questionOf(third);
  expect(price.limit).toBe("price-unknown");
  await product.api.answer(unknown.id, { askId: price.askId, choice: "go-on" });
  await third.untilAnswered(last.id);
  expect((await product.api.tab(unknown.id)).cost).toEqual({ price: 0, unpriced: 3 });
  expect(refusals(provider)).toEqual([]);
});
