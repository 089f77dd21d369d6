import { createFakeProvider, makeProject } from "@varve/sim";
import { Follower, Product } from "@varve/sim/e2e";
import { processorUs } from "./lib/process-figures.ts";
import { anthropicModel } from "./lib/provider-package.ts";
import { numberFlag, report } from "./lib/report.ts";
import { median, rounded } from "./lib/statistics.ts";

// A provider that says all of a long answer as fast as it is read, one event a delta: deltas a second from the request to
// the sealed end, nothing lost, with a client that follows; and the processor time of the server a delta. The adapter's
// share of it is what its package takes for the same stream in this process, from the same provider, by itself.
// Budget: over 12,000 a second, and under 20 us of our own a delta.

const DELTAS = numberFlag("--deltas", 20_000);
const ROUNDS = numberFlag("--rounds", 5);
const DELTA = "flood ";

async function main(): Promise<void> {
  const block = {
    type: "text",
    text: DELTA.repeat(DELTAS),
    deltas: Array.from({ length: DELTAS }, () => DELTA),
  } as const;
  await using provider = await createFakeProvider({ reply: () => ({ blocks: [block] }) });
  await using project = await makeProject("tasks");
  await using product = await Product.start({ provider });
  const { id } = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
  using follower = await Follower.on(product.api, id);
  const rates: number[] = [];
  const costs: number[] = [];
  const adapter: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = processorUs(product.pid);
    const start = performance.now();
    await follower.untilAnswered((await product.api.send(id, `flood ${round}`)).id, 120_000);
    rates.push((DELTAS * 1000) / (performance.now() - start));
    costs.push((processorUs(product.pid) - before) / DELTAS);
    adapter.push(await adapterAlone(provider.url));
  }
  const texts = follower.rows().filter((row) => row.role === "assistant" && row.type === "text");
  const whole = texts.filter((row) => row.type === "text" && row.data.text === block.text).length;
  report({
    name: "flood",
    counts: { deltas: DELTAS, rounds: ROUNDS, wholeAnswers: whole },
    figures: {
      "deltas/s": rounded(median(rates)),
      "server us a delta": rounded(median(costs)),
      "adapter alone us a delta": rounded(median(adapter)),
      "own us a delta": rounded(median(costs) - median(adapter)),
    },
  });
  if (whole !== ROUNDS) process.exitCode = 1;
}

/** Processor time of the provider package for the same answer a delta, less what saying and reading its bytes takes. */
async function adapterAlone(url: string): Promise<number> {
  const said = await spent(() => drained(fetchAnswer(url)));
  const model = anthropicModel(`${url}/v1`, "claude-test");
  const prompt = [{ role: "user", content: [{ type: "text", text: "flood" }] }];
  const read = await spent(async () => {
    const { stream } = await model.doStream({ prompt, includeRawChunks: true });
    for await (const _ of stream);
  });
  return (read - said) / DELTAS;
}

async function spent(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const fetchAnswer = (url: string): Promise<Response> =>
  fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({
      model: "claude-test",
      max_tokens: 1_000,
      stream: true,
      messages: [{ role: "user", content: "flood" }],
    }),
  });

async function drained(answer: Promise<Response>): Promise<void> {
  const { body } = await answer;
  if (body === null) throw new Error("an answer has a body");
  for await (const _ of body);
}

await main();
