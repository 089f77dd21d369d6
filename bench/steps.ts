import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { createFakeProvider, makeProject } from "@varve/sim";
import { Follower, Product } from "@varve/sim/e2e";
import { median, rounded } from "./lib/statistics.ts";

// What a long job costs the server: a real one in its own process, a fake provider in ours, turns of short steps that each
// read a file. Memory when ready and afterwards, processor seconds, and how the time of a step grows with the history.

const STEPS = 300;
const STEPS_A_TURN = 150;
const EDGE = 50;

async function main(): Promise<void> {
  const arrivals: number[] = [];
  await using provider = await createFakeProvider({
    reply: () => {
      arrivals.push(performance.now());
      const step = arrivals.length;
      const text = {
        type: "text",
        text: `Step ${step}: I read the file again and think about what it says. `,
      } as const;
      if (step % STEPS_A_TURN === 0) return { blocks: [text] };
      return { blocks: [text, { type: "tool_use", name: "read", input: { path: "README.md" } }] };
    },
  });
  await using project = await makeProject("tasks");
  await using product = await Product.start({ provider });
  const ready = await memory(product.pid);
  const cpuBefore = await processorSeconds(product.pid);
  const { id } = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
  using follower = await Follower.on(product.api, id);
  for (let turn = 0; turn < STEPS / STEPS_A_TURN; turn++) {
    await follower.untilAnswered((await product.api.send(id, `part ${turn}`)).id, 300_000);
  }
  const steps = arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? at));
  const figures = {
    readyMiB: rounded(ready / 1024),
    afterMiB: rounded((await memory(product.pid)) / 1024),
    processorSeconds: rounded((await processorSeconds(product.pid)) - cpuBefore),
    firstStepsMs: rounded(median(steps.slice(0, EDGE))),
    lastStepsMs: rounded(median(steps.slice(-EDGE))),
    node: process.version,
    processors: cpus().length,
  };
  process.stdout.write(`${JSON.stringify({ name: "steps", counts: { steps: arrivals.length }, seed: 0, figures })}\n`);
}

/** Resident KiB. */
async function memory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
}

/** User and system time so far; the kernel counts in hundredths. */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

await main();
