/** A whole afternoon with each vendor: parallel calls, thinking, a steer, a stop, a killed server, another model and back. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply, ReplyBlock } from "../provider/script.ts";
import { Follower } from "./follower.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { chainProblems } from "./request-chain.ts";
import { call, freshText, say } from "./scripted-agent.ts";

const commands: Readonly<Record<string, readonly string[]>> = {
  "please look": ["echo one", "echo two"],
  "please slow": ["echo run >> marker; echo working; sleep 120"],
};

/** Thinks before each answer, never twice the same, and decides by what is new in the request. */
function afternoon(request: FakeRequest): Reply {
  const fresh = freshText(request);
  const thought: ReplyBlock = { type: "thinking", text: `I weigh what to do, ${request.index}.` };
  if (fresh.includes("please long")) return { blocks: [thought, say("word ".repeat(200))] };
  const asked = Object.keys(commands).find((name) => fresh.includes(name)) ?? "";
  const calls = commands[asked]?.map((command) => call("bash", { command })) ?? [];
  const results = request.lastResults.map(({ text }) => text.trim()).join(" and ");
  return { blocks: [thought, ...(calls.length > 0 ? calls : [say(`I read: ${fresh.split("\n").at(-1)} ${results}`)])] };
}

test.each([
  ["openai/gpt-5.6-sol", /"encrypted_content":"enc-/g],
  ["google/gemini-3.5-flash", /"thoughtSignature":"enc-/g],
  ["deepseek/deepseek-v4-pro", /"reasoning_content":"I weigh what to do, \d+\."/g],
  ["openrouter/anthropic/claude-opus-5.5", /"text":"I weigh what to do, \d+\."/g],
])("%s: every request is valid and begins with the whole of the one before", async (model, thinking) => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({ reply: afternoon });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  const sent = [];
  {
    using follower = await Follower.on(product.api, tab.id);
    // Two calls at once, and a word that comes while they are asked for: it stands behind their results.
    const gate = provider.gate();
    const look = await product.api.send(tab.id, "please look");
    await gate.step(1);
    const steer = await product.api.send(tab.id, "use tabs");
    gate.release();
    await follower.untilAnswered(look.id);
    const long = await product.api.send(tab.id, "please long");
    // Stopped in the middle of a text.
    const second = provider.gate();
    await second.step(8);
    await follower.until("some text is there", () => follower.openText().includes("word word"));
    await product.api.stop(tab.id);
    await follower.untilAnswered(long.id);
    const slow = await product.api.send(tab.id, "please slow");
    await follower.until("the command runs", () => follower.openText().includes("working"));
    sent.push(look.id, steer.id, long.id, slow.id);
    await product.kill();
  }
  await product.restart();
  using follower = await Follower.on(product.api, tab.id);
  await follower.until("recovery is through", ({ status }) => status.turnId === null);
  for (const text of ["and now?", "please look", "and on"]) {
    const { id } = await product.api.send(tab.id, text);
    await follower.untilAnswered(id);
    sent.push(id);
  }

  expect(refusals(provider)).toEqual([]);
  expect(chainProblems(provider.calls)).toEqual([]);
  expect(provider.calls.map(({ droppedThinking }) => droppedThinking)).toEqual(provider.calls.map(() => 0));
  expect(await readFile(project.path("marker"), "utf8")).toBe("run\n");
  const rows = await product.api.rows(tab.id);
  expect(logProblems(rows, sent)).toEqual([]);
  const said = rows.flatMap((row) => (row.type === "text" && row.role === "assistant" ? [row.data.text] : []));
  expect(said.filter((text) => text.startsWith("I read"))).toEqual([
    "I read: use tabs one and two",
    expect.stringContaining("I read: and now? "),
    "I read:  one and two",
    "I read: and on ",
  ]);
  // The thinking of the six steps that came to an end goes back, in its vendor's own form; of the stopped one it may not.
  expect([...(provider.calls.at(-1)?.rawBody ?? "").matchAll(thinking)].length).toBeGreaterThanOrEqual(6);
});
