/** Holds the permission engine to what shells do: what is allowed is really run, and what is read is really passed. */
import { type Decide, decide, type PermissionRule, readCommand } from "@varve/agent";
import { createPrng, type Prng } from "../prng.ts";
import { randomCommand, randomRules, staticCommand } from "./command-grammar.ts";
import { runInStubs, type Started } from "./stub-runs.ts";

/** Commands of one start of bubblewrap. */
const batchSize = 100;

export interface RunsAsked {
  readonly seed: number;
  /** Commands that are allowed, and so run. */
  readonly runs: number;
  /** The engine, or something that is worse on purpose. */
  readonly judge?: Decide;
}

export interface RunsReport {
  readonly made: number;
  readonly allowed: number;
  readonly asked: number;
  /** Programs that were started in all. */
  readonly started: number;
  readonly wrong: readonly string[];
}

interface Allowed {
  readonly command: string;
  readonly patterns: readonly string[];
}

/** Nothing that is allowed runs a program that no rule names. */
export function checkAllowed({ seed, runs, judge = decide }: RunsAsked): RunsReport {
  const prng = createPrng(seed);
  const counts = { made: 0, allowed: 0, asked: 0, started: 0 };
  const wrong: string[] = [];
  while (counts.allowed < runs) {
    const batch: Allowed[] = [];
    while (batch.length < Math.min(batchSize, runs - counts.allowed)) {
      const next = oneAllowed(prng, judge, counts);
      batch.push(next);
    }
    counts.allowed += batch.length;
    for (const [at, started] of runInStubs(
      batch.map(({ command }) => command),
      "own",
    ).entries()) {
      counts.started += started.length;
      const { command = "", patterns = [] } = batch[at] ?? {};
      const unnamed = started.find((words) => !isNamed(words, patterns));
      if (unnamed !== undefined) wrong.push(JSON.stringify({ command, patterns, ran: unnamed }));
    }
  }
  return { ...counts, wrong };
}

function oneAllowed(prng: Prng, judge: Decide, counts: { made: number; asked: number }): Allowed {
  for (;;) {
    const command = randomCommand(prng);
    const patterns = randomRules(prng);
    counts.made += 1;
    const rules = patterns.map((pattern): PermissionRule => ({ action: "allow", tool: "bash", pattern }));
    const subject = { tool: "bash", key: command, command };
    const { decision } = judge({ effect: "run", subject }, { mode: "ask", rules, granted: [], cwd: "/tmp" });
    if (decision === "allow") return { command, patterns };
    counts.asked += 1;
  }
}

/** Not by the engine's own matching. An argument that came to nothing leaves the space before it. */
function isNamed(words: readonly string[], patterns: readonly string[]): boolean {
  const text = words.join(" ");
  return patterns.some((pattern) => {
    const sign = pattern
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("*", "[^]*")
      .replaceAll("?", "[^]");
    return new RegExp(`^${sign}$`).test(text) || new RegExp(`^${sign}$`).test(`${text} `);
  });
}

/** The words that are read from a command are the words that its programs get. */
export function checkWords({ seed, runs }: RunsAsked): RunsReport {
  const prng = createPrng(seed);
  const commands = Array.from({ length: runs }, () => staticCommand(prng));
  const wrong: string[] = [];
  let started = 0;
  for (let from = 0; from < commands.length; from += batchSize) {
    const batch = commands.slice(from, from + batchSize);
    for (const [at, ran] of runInStubs(batch, "shared").entries()) {
      const command = batch[at] ?? "";
      started += ran.length;
      const read = readCommand(command).map(({ values }) => values);
      if (!isSame(read, ran)) wrong.push(JSON.stringify({ command, read, ran }));
    }
  }
  return { made: runs, allowed: runs, asked: 0, started, wrong };
}

const isSame = (read: readonly string[], ran: Started): boolean =>
  read.length === ran.length && read.every((words, at) => words === ran[at]?.join(" "));
