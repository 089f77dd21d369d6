/** Checks that every provider with a cache has to pass. */
import {
  type Bench,
  type Check,
  type LiveProvider,
  type Outcome,
  percent,
  ratioText,
  relied,
  settled,
  toldRead,
} from "./check.ts";
import { countOf } from "./edits.ts";
import type { Step } from "./live-tab.ts";
import { alsoThis, askForCalls, askForWord, goOn, opening } from "./live-text.ts";
import { replayed } from "./replayed.ts";

const runSteps = 6;
export const burstCalls = 25;
const secondTabAtLeast = 0.8;
const all: readonly LiveProvider[] = ["anthropic", "openai", "google", "deepseek", "openrouter"];

export const readRatio: Check = {
  name: "read-ratio",
  point: null,
  what: `A run of ${runSteps} steps with tool calls, whose results the script gives.`,
  expected: ratioText,
  providers: all,
  requests: runSteps,
  tabs: 1,
  async run(bench) {
    const steps = await stepsOf(bench, runSteps);
    const whole = overall(steps);
    const worst = lowest(steps);
    const calls = steps.reduce((sum, step) => sum + step.calls, 0);
    const told = `${percent(whole)} over ${steps.length - 1} steps, ${percent(worst)} in the worst, ${calls} calls`;
    // Anthropic's cache is a promise, step by step; the others do their best, and a step may fall through.
    return relied(bench.provider, bench.provider === "anthropic" ? worst : whole, told);
  },
};

function lowest(steps: readonly Step[]): number | null {
  let least = 1;
  for (const { ratio } of steps.slice(1)) {
    if (ratio === null) return null;
    least = Math.min(least, ratio);
  }
  return least;
}

/** Takes its steps with calls and results between them. */
async function stepsOf(bench: Bench, count: number): Promise<readonly Step[]> {
  const tab = bench.tab();
  const steps: Step[] = [];
  tab.say(opening(askForCalls));
  for (let made = 0; made < count; made += 1) {
    if (made > 0) tab.goOn(goOn);
    steps.push(await tab.step());
    await bench.settle();
  }
  return steps;
}

/** Read of what could be read, over all steps that had one before them. Null where something was not told. */
function overall(steps: readonly Step[]): number | null {
  let read = 0;
  let attainable = 0;
  for (const { ratio, before } of steps.slice(1)) {
    if (ratio === null || before === null) return null;
    read += ratio * before;
    attainable += before;
  }
  return attainable === 0 ? null : read / attainable;
}

export const burst: Check = {
  name: "burst",
  point: null,
  what: `One step with ${burstCalls} parallel calls behind an entry that was written before them.`,
  expected: (provider) =>
    provider === "openrouter"
      ? "read ratio 1.000 if a run of calls counts as one position behind OpenRouter, else the system prompt alone"
      : ratioText(provider),
  providers: all,
  requests: 2,
  tabs: 1,
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForWord));
    await tab.step({ discard: true });
    await bench.settle();
    tab.playCalls(burstCalls);
    const step = await tab.step();
    // Its only breakpoint in the messages stands at the very end, so that this is a question there.
    if (bench.provider === "openrouter") return settled(step.ratio, toldRead(step));
    return relied(bench.provider, step.ratio, toldRead(step));
  },
};

export const modelSwitch: Check = {
  name: "model-switch",
  point: null,
  what: "Two steps, one on another model of the provider, and back.",
  expected: (provider) => `${ratioText(provider)}, back on the first model, of that model's last request`,
  providers: all,
  requests: 4,
  tabs: 2,
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForCalls));
    await tab.step();
    tab.goOn(goOn);
    await tab.step();
    tab.goOn(goOn);
    await tab.step({ model: bench.other });
    await bench.settle();
    tab.goOn(goOn);
    const back = await tab.step();
    return relied(bench.provider, back.ratio, `${toldRead(back)} behind a step on ${bench.other.info.id}`);
  },
};

export const secondTab: Check = {
  name: "second-tab",
  point: null,
  what: "The first request of a second tab with the same system prompt and tools.",
  expected: () => `at least ${percent(secondTabAtLeast)} of its input is read: system prompt and tools`,
  providers: ["anthropic", "openai", "openrouter"],
  requests: 2,
  tabs: 1,
  async run(bench) {
    const first = bench.tab("shared");
    first.say(askForWord);
    await first.step();
    await bench.settle();
    const second = bench.tab("shared");
    second.say(alsoThis);
    const step = await second.step();
    return sharedOutcome(bench, step);
  },
};

function sharedOutcome({ provider }: Bench, step: Step): Outcome {
  const read = step.usage?.read ?? null;
  const ratio = read === null || step.total === null ? null : read / step.total;
  const marks = countOf(step.body, "prompt_cache_breakpoint");
  const marked =
    provider === "openai" ? `, ${marks} explicit breakpoint, key ${String(step.body.prompt_cache_key)}` : "";
  const measured = `read ${read ?? "unknown"} of ${step.total ?? "unknown"} (${percent(ratio)})${marked}`;
  return { verdict: ratio !== null && ratio >= secondTabAtLeast ? "ok" : "differs", measured, ratio };
}

const replayNames: Readonly<Record<LiveProvider, string>> = {
  anthropic: "signed thinking",
  openai: "encrypted reasoning, with store: false",
  google: "thought signatures",
  deepseek: "reasoning_content",
  openrouter: "reasoning_details",
};

export const replay: Check = {
  name: "replay",
  point: null,
  what: "Reasoning goes back to the vendor in later steps, in the vendor's own form.",
  expected: (provider) => `${replayNames[provider]} is sent back and taken`,
  providers: all,
  requests: 3,
  tabs: 1,
  async run(bench) {
    const last = (await stepsOf(bench, 3)).at(-1);
    const count = last === undefined ? 0 : replayed(bench.provider, last.body);
    if (count === null) return { verdict: "differs", measured: "the body is not as it must be", ratio: null };
    if (count === 0) return settled(null, "taken, but the model gave no reasoning that could come back");
    return { verdict: "ok", measured: `${count} sent back and taken`, ratio: last?.ratio ?? null };
  },
};
