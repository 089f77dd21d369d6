/**
 * The whole of it: inputs out of one seed against one server, each judged; a turn afterwards, a stop, and a look at the log.
 * What fails is made smaller and told as data.
 */
import { openSqliteLog } from "@varve/log";
import { isFault } from "@varve/protocol";
import { isObject, objectsIn, parseJson, stringOr } from "../json.ts";
import { createPrng, type Prng } from "../prng.ts";
import { type FuzzInput, shown, sizeOf } from "./fuzz-input.ts";
import { Known } from "./known.ts";
import { type Maker, makeInput, published } from "./make-input.ts";
import { smaller } from "./shrink.ts";
import { type Caller, makePlace, type Place, Target } from "./target.ts";
import { throwAt } from "./throw-at.ts";

export interface FuzzOptions {
  readonly seed: number;
  readonly inputs: number;
  /** An answer that takes longer, each time that it is asked for, counts as a hang. */
  readonly slowMs: number;
  /** In milliseconds, from any beginning, never set back. */
  readonly elapsed: () => number;
  /** Called with a failing input before it is made smaller. */
  readonly tell?: (line: string) => void;
  /** Called with what is done when nothing is under way and what the inputs made is gone. */
  readonly atRest?: (done: number) => void;
}

export interface FuzzFigures {
  readonly inputs: number;
  readonly requests: number;
  readonly frames: number;
  readonly connections: number;
  /** Answers by status, and sockets that the server ended. */
  readonly answers: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly failures: readonly string[];
}

/** After so many inputs everything that they made is removed. */
const restEvery = 500;
const failuresMax = 5;

/** A server under fire, wherever it runs. */
export interface Victim {
  readonly caller: Caller;
  /** What its log says of something broken since it was asked last; null: nothing. */
  readonly alarm: () => string | null;
  /** A directory to work in. */
  readonly project: string;
}

/** Throws inputs at a server that runs, and looks whether a turn still does. */
export async function bombard({ caller, alarm, project }: Victim, options: FuzzOptions): Promise<FuzzFigures> {
  const { seed, inputs, elapsed, slowMs } = options;
  const prng = createPrng(seed);
  const tally = new Tally();
  const maker = await makerFor(caller, project);
  let sinceRest = 0;
  while (tally.inputs < inputs && tally.failures.length < failuresMax) {
    const input = makeInput(prng, maker);
    const outcome = await throwAt(caller, input, { elapsed, slowMs });
    tally.add(input, outcome.answers, outcome.ms);
    for (const answer of outcome.told) maker.known.learn(answer);
    const problem = outcome.problem ?? alarm();
    if (problem !== null) {
      options.tell?.(`${problem}: ${shown(input)}`);
      const small = await smaller(input, async (candidate) => {
        const again = await throwAt(caller, candidate, { elapsed, slowMs });
        return (again.problem ?? alarm()) !== null;
      });
      tally.failures.push(`seed ${seed}, after ${tally.inputs} inputs: ${problem}\n  ${shown(small)}`);
    }
    sinceRest += sizeOf(input);
    if (sinceRest < restEvery) continue;
    sinceRest = 0;
    await tidy(caller, maker, project);
    options.atRest?.(tally.inputs);
  }
  await tidy(caller, maker, project);
  const works = (await turnProblem(caller, project)) ?? alarm();
  if (works !== null) tally.failures.push(`seed ${seed}: ${works}`);
  return tally.figures();
}

/** The same against a server in this process, whose log is looked at when it has ended. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzFigures> {
  await using place = await makePlace();
  const figures = await onServer(place, options);
  const damage = await logProblem(place.home);
  return damage === null ? figures : { ...figures, failures: [...figures.failures, `seed ${options.seed}: ${damage}`] };
}

async function onServer(place: Place, options: FuzzOptions): Promise<FuzzFigures> {
  await using target = await started(place, createPrng(options.seed).fork());
  return await bombard({ caller: target.caller, alarm: () => alarmOf(target), project: place.project }, options);
}

async function started(place: Place, prng: Prng): Promise<Target> {
  const target = await Target.start(place, prng);
  if (isFault(target)) throw new Error(target.message);
  await target.server.settled;
  return target;
}

const alarmOf = (target: Target): string | null => {
  const [first] = target.alarms.splice(0);
  return first === undefined ? null : `the server's log says: ${first}`;
};

class Tally {
  inputs = 0;
  slowestMs = 0;
  readonly failures: string[] = [];
  readonly #kinds = { rest: 0, frames: 0, raw: 0 };
  readonly #answers = new Map<string, number>();

  add(input: FuzzInput, answers: readonly string[], ms: number): void {
    const size = sizeOf(input);
    this.inputs += size;
    this.#kinds[input.kind] += size;
    this.slowestMs = Math.max(this.slowestMs, ms);
    for (const answer of answers) this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
  }

  figures(): FuzzFigures {
    const { rest, frames, raw } = this.#kinds;
    return {
      inputs: this.inputs,
      requests: rest,
      frames,
      connections: raw,
      answers: Object.fromEntries([...this.#answers].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      slowestMs: Math.round(this.slowestMs),
      failures: this.failures,
    };
  }
}

/** Words that mean something to the server, by the name of the field that they belong to. */
const wordsFor = (project: string) => ({
  cwd: [project, project, project, `${project}/a.txt`, "relative", "~"],
  path: [project, "a.txt", "/"],
  directories: [project],
  model: ["demo/demo", "demo/demo", "openai/x", "nobody/none"],
  text: ["what files are here?", 'create a file made.txt with "x"', "read a.txt", "where is `two`?", "hello"],
  provider: ["anthropic", "openai", "google", "openai-compatible"],
  baseUrl: ["http://127.0.0.1:9", "http://127.0.0.1:9/v1"],
  key: ["sk-not-a-key-0123456789", "x"],
  delivery: ["steer", "queue", "stop"],
  member: ["defaultModel", "dayMoneyMax", "defaultStepsMax", "priceOverrides", "demo/demo"],
  digest: ["1-1", "1-9"],
  code: ["not-a-code"],
  rules: ["bash(ls)", "edit(a.txt)"],
});

async function makerFor(target: Caller, project: string): Promise<Maker> {
  const known = new Known(wordsFor(project));
  const document = parseJson((await target.call("GET", "/openapi.json")).body);
  const maker: Maker = {
    published: published(document),
    known,
    host: target.host,
    admitted: (prng) => (prng.chance(0.97) ? target.token : prng.chance(0.5) ? {} : { authorization: "Bearer x" }),
  };
  await tidy(target, maker, project);
  return maker;
}

/** Nothing that inputs made stays; two fresh tabs are known. */
async function tidy(target: Caller, maker: Maker, project: string): Promise<void> {
  const listed = async (path: string, name: string): Promise<readonly string[]> => {
    const body = parseJson((await target.call("GET", path)).body);
    return objectsIn(isObject(body) ? body[name] : undefined).map((one) => stringOr(one.id ?? one.keyId, ""));
  };
  const tabs = new Set([...(await listed("/tabs", "tabs")), ...(await listed("/tabs?trashed=true", "tabs"))]);
  for (const tab of tabs) {
    await target.call("POST", `/tabs/${tab}/stop`, {});
    // First into the trash, then for good.
    for (let time = 0; time < 2; time += 1) await target.call("DELETE", `/tabs/${tab}`);
  }
  for (const [path, name] of [
    ["/credentials", "credentials"],
    ["/tokens", "tokens"],
    ["/devices", "devices"],
  ] as const) {
    for (const id of await listed(path, name)) await target.call("DELETE", `${path}/${encodeURIComponent(id)}`);
  }
  maker.known.forget();
  for (let made = 0; made < 2; made += 1) {
    const tab = parseJson((await target.call("POST", "/tabs", { cwd: project, model: "demo/demo" })).body);
    maker.known.learn(tab);
    if (isObject(tab)) maker.known.add("tab", stringOr(tab.id, "none"));
  }
}

/** Whether a normal turn runs to its end. */
export async function turnProblem(target: Caller, project: string): Promise<string | null> {
  const made = parseJson((await target.call("POST", "/tabs", { cwd: project, model: "demo/demo" })).body);
  const tab = isObject(made) ? stringOr(made.id, "") : "";
  const sent = await target.call("POST", `/tabs/${tab}/messages`, { id: `${tab}-m`, text: "hello" });
  if (sent.status !== 202) return `afterwards a message gets ${sent.status}: ${sent.body}`;
  const looksMax = 2_000;
  for (let look = 0; look < looksMax; look += 1) {
    const head = parseJson((await target.call("GET", `/tabs/${tab}/head`)).body);
    const status = isObject(head) && isObject(head.status) ? head.status.state : "gone";
    if (status === "idle") return null;
    if (status !== "running") return `afterwards a turn ends as ${String(status)}`;
  }
  return "afterwards a turn does not end";
}

/** What the log's own check says of a home that nobody holds. */
export async function logProblem(home: string): Promise<string | null> {
  const log = await openSqliteLog({ home, clock: { now: () => 0, setTimer: () => ({ cancel: () => undefined }) } });
  if (!("check" in log)) return "the log does not open again";
  const damage = await log.check();
  await log.close();
  return damage === null ? null : `the log is damaged: ${JSON.stringify(damage)}`;
}
