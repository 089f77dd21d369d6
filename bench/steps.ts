import { cpus } from "node:os";
import { createFakeProvider, makeProject } from "@varve/sim";
import { Follower, Product } from "@varve/sim/e2e";
import { MemoryProbe } from "./lib/memory-probe.ts";
import { processorSeconds, residentMiB } from "./lib/process-figures.ts";
import { numberFlag, report } from "./lib/report.ts";
import { median, rounded } from "./lib/statistics.ts";

// What a long job costs the server: a real one in its own process, a fake provider in ours, turns of short steps that each
// read a file. Memory when ready and afterwards (resident, and held after a collection), processor seconds, and how the time of a step grows with the history.

const STEPS = numberFlag("--steps", 300);
const STEPS_A_TURN = STEPS / 2;
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
  await using probe = await MemoryProbe.make();
  await using product = await Product.start({ provider, env: probe.env() });
  const ready = residentMiB(product.pid);
  const cpuBefore = processorSeconds(product.pid);
  const { id } = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
  using follower = await Follower.on(product.api, id);
  for (let turn = 0; turn < STEPS / STEPS_A_TURN; turn++) {
    await follower.untilAnswered((await product.api.send(id, `part ${turn}`)).id, 300_000);
  }
  const steps = arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? at));
  const spent = processorSeconds(product.pid) - cpuBefore;
  const held = await probe.held(product.pid);
  const figures = {
    readyMiB: rounded(ready),
    afterMiB: rounded(held.residentMiB),
    heldMiB: rounded(held.heldMiB),
    processorSeconds: rounded(spent),
    firstStepsMs: rounded(median(steps.slice(0, EDGE))),
    lastStepsMs: rounded(median(steps.slice(-EDGE))),
    node: process.version,
    processors: cpus().length,
  };
  report({ name: "steps", counts: { steps: arrivals.length }, figures });
}

await main();
