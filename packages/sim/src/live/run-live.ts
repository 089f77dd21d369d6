/** The whole program but for its process: plan, consent, checks, report. Everything it touches is handed in. */
import { createModelRegistry, type ModelRegistry, type ResolvedModel } from "@varve/agent";
import { assert, type Clock, isFault } from "@varve/protocol";
import { liveProviders, offers } from "./catalogue.ts";
import type { Bench, Check, LiveProvider, Outcome } from "./check.ts";
import { EditedFetch } from "./edited-fetch.ts";
import { LimitReached, StepFailed } from "./failures.ts";
import { type LiveArguments, liveArguments, usage } from "./live-arguments.ts";
import { liveLimits } from "./live-limits.ts";
import { dollars, type LivePlan, livePlan, planLines } from "./live-plan.ts";
import { countingIds, LiveTab } from "./live-tab.ts";
import { Purse } from "./purse.ts";
import type { SendPorts } from "./send.ts";

export interface LivePorts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  /** Never the same twice: what makes a head that no cache has seen. */
  readonly nonce: string;
  wait(ms: number): Promise<void>;
  say(line: string): void;
}

/** Exit codes. */
export const exits = { fine: 0, differs: 1, badLine: 2, stopped: 3 } as const;

interface CheckReport extends Outcome {
  readonly check: string;
  readonly point: number | null;
  readonly tokens: number;
  /** US dollars; null: unknown. */
  readonly money: number | null;
}
interface ProviderReport {
  readonly provider: LiveProvider;
  readonly model: string;
  readonly requests: number;
  readonly checks: readonly CheckReport[];
  readonly stopped: string | null;
}

export async function runLive(argv: readonly string[], ports: LivePorts): Promise<number> {
  const args = liveArguments(argv);
  if (typeof args === "string") {
    ports.say(`${args}\n${usage}`);
    return exits.badLine;
  }
  const wire = new EditedFetch(ports.fetch);
  const models = createModelRegistry({ env: ports.env, clock: ports.clock, fetch: wire.fetch });
  const ready = liveProviders.filter((provider) => models.credentials().some(({ id }) => id === provider));
  const chosen = args.provider === null ? ready : [args.provider];
  const plans = chosen.map((provider) => livePlan(provider, args)).filter(({ checks }) => checks.length > 0);
  for (const plan of plans) for (const line of planLines(plan, args.moneyMax)) ports.say(line);
  const why = reasonNotToSend(args, chosen, ready);
  if (why !== null) {
    ports.say(why);
    ports.say(JSON.stringify({ live: "plan", providers: plans.map(planFigures) }));
    return exits.fine;
  }
  const reports: ProviderReport[] = [];
  let moneyLeft = args.moneyMax;
  for (const plan of plans) {
    const purse = new Purse({ ...liveLimits, moneyMax: moneyLeft });
    reports.push(await runProvider({ plan, args, purse, wire, models, ports }));
    moneyLeft = Math.max(0, moneyLeft - purse.money);
  }
  return conclude(reports, ports);
}

const planFigures = ({ provider, model, requests, most, likely }: LivePlan) => ({
  provider,
  model,
  requests,
  most,
  likely,
});

/** Null: send. */
function reasonNotToSend(
  args: LiveArguments,
  chosen: readonly LiveProvider[],
  ready: readonly LiveProvider[],
): string | null {
  const names = Object.values(offers).map(({ keyName }) => keyName);
  if (chosen.length === 0) return `No key is in the environment, so nothing is sent. Set one of ${names.join(", ")}.`;
  const missing = chosen.find((provider) => !ready.includes(provider));
  if (missing !== undefined) return `Nothing is sent: ${offers[missing].keyName} is not set.`;
  return args.isConfirmed ? null : "Nothing is sent yet. Add --yes to send this and pay for it.";
}

interface ProviderRun {
  readonly plan: LivePlan;
  readonly args: LiveArguments;
  readonly purse: Purse;
  readonly wire: EditedFetch;
  readonly models: ModelRegistry;
  readonly ports: LivePorts;
}

async function runProvider(run: ProviderRun): Promise<ProviderReport> {
  const { plan, purse, models, ports } = run;
  const resolve = async (model: string): Promise<ResolvedModel> => {
    const resolved = await models.resolve(`${plan.provider}/${model}`);
    assert(!isFault(resolved), "the key of this provider is there");
    return resolved;
  };
  const pair = { model: await resolve(plan.model), other: await resolve(plan.other) };
  const checks: CheckReport[] = [];
  let stopped: string | null = null;
  for (const { check } of plan.checks) {
    const before = { tokens: purse.tokens, money: purse.money };
    const bench = benchOf(check, pair, run);
    const done: Done = stopped === null ? await runCheck(check, bench) : notRun(stopped);
    stopped = done.stopped;
    const money = purse.isPriced ? purse.money - before.money : null;
    const tokens = purse.tokens - before.tokens;
    const report: CheckReport = { check: check.name, point: check.point, ...done.outcome, tokens, money };
    checks.push({ ...report, measured: models.redact(report.measured) });
    for (const line of checkLines(check, plan.provider, checks.at(-1))) ports.say(line);
  }
  return { provider: plan.provider, model: plan.model, requests: purse.requests, checks, stopped };
}

type Pair = Pick<Bench, "model" | "other">;

function benchOf(check: Check, pair: Pair, { plan, args, purse, wire, ports }: ProviderRun): Bench {
  const { clock } = ports;
  const wait = (ms: number): Promise<void> => ports.wait(ms);
  const sendPorts: SendPorts = { clock, newId: countingIds(), purse, wire, wait };
  return {
    provider: plan.provider,
    ...pair,
    ttl: args.ttl,
    isPatient: args.isPatient,
    tab: (name = "own") =>
      new LiveTab(sendPorts, { model: pair.model, head: `${ports.nonce} ${check.name} ${name}`, ttl: args.ttl }),
    wait,
    settle: async () => {
      const { settleMs } = offers[plan.provider];
      if (settleMs > 0) await wait(settleMs);
    },
  };
}

interface Done {
  readonly outcome: Outcome;
  /** The limit that was reached: nothing more is sent to this provider. */
  readonly stopped: string | null;
}

const notRun = (limit: string): Done => ({
  outcome: { verdict: "not-run", measured: `stopped: ${limit}`, ratio: null },
  stopped: limit,
});

async function runCheck(check: Check, bench: Bench): Promise<Done> {
  try {
    return { outcome: await check.run(bench), stopped: null };
  } catch (error) {
    if (error instanceof StepFailed) {
      return { outcome: { verdict: "failed", measured: error.message, ratio: null }, stopped: null };
    }
    if (error instanceof LimitReached) return notRun(error.message);
    throw error;
  }
}

function checkLines(check: Check, provider: LiveProvider, report: CheckReport | undefined): readonly string[] {
  if (report === undefined) return [];
  const point = check.point === null ? "" : ` (open point ${check.point})`;
  return [
    `${check.name}${point}: ${report.verdict}`,
    `  expected: ${check.expected(provider)}`,
    `  measured: ${report.measured}`,
    `  ${report.tokens} tokens, ${dollars(report.money)}`,
  ];
}

function conclude(reports: readonly ProviderReport[], { say }: LivePorts): number {
  const verdicts = reports.flatMap(({ checks }) => checks.map(({ verdict }) => verdict));
  const ok = !verdicts.some((verdict) => verdict === "differs" || verdict === "failed");
  const isStopped = reports.some(({ stopped }) => stopped !== null);
  say(JSON.stringify({ live: "run", ok: ok && !isStopped, providers: reports }));
  if (!ok) return exits.differs;
  return isStopped ? exits.stopped : exits.fine;
}
