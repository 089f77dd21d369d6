/**
 * Homes, projects and environments full of garbage: every file and every setting that a start or a turn reads. A start either
 * says in one code why it cannot be, or is followed by a turn that runs.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Log, openSqliteLog } from "@varve/log";
import { errorStatus, isFault } from "@varve/protocol";
import { askForLink, findServer, type StartOptions } from "@varve/server";
import { createPrng, type Prng } from "../prng.ts";
import { shown } from "./fuzz-input.ts";
import { mutated, oddText, torn } from "./garbage.ts";
import { membersOf, raw, type Tree, textOf } from "./json-tree.ts";
import { turnProblem } from "./run-fuzz.ts";
import { makePlace, nonsenseFetch, type Place, Target } from "./target.ts";

export interface HomeFigures {
  /** Files, settings, variables and options that were made. */
  readonly inputs: number;
  readonly starts: number;
  /** Starts that were refused, by code. */
  readonly refused: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** What one start finds. */
interface Garbage {
  /** By path: below the home, or below the project with a leading `project/`. In Latin-1. */
  readonly files: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly options: Partial<StartOptions>;
}

const failuresMax = 5;

export async function runHomes(options: { readonly seed: number; readonly starts: number }): Promise<HomeFigures> {
  const prng = createPrng(options.seed);
  await using place = await makePlace();
  const refused = new Map<string, number>();
  const failures: string[] = [];
  let inputs = 0;
  let starts = 0;
  for (; starts < options.starts && failures.length < failuresMax; starts += 1) {
    const garbage = await garbageFor(place, prng);
    inputs += [garbage.files, garbage.settings, garbage.env, garbage.options].flatMap(Object.keys).length;
    await putFiles(place, garbage.files);
    await putSettings(place.home, garbage.settings);
    const outcome = await startOn(place, garbage, prng);
    if (outcome.code !== null) refused.set(outcome.code, (refused.get(outcome.code) ?? 0) + 1);
    if (outcome.problem === null) continue;
    failures.push(`seed ${options.seed}, start ${starts}: ${outcome.problem}\n  ${shown(garbage)}`);
  }
  return { inputs, starts, refused: Object.fromEntries(refused), failures };
}

interface StartOutcome {
  readonly code: string | null;
  readonly problem: string | null;
}

async function startOn(place: Place, garbage: Garbage, prng: Prng): Promise<StartOutcome> {
  const finding = { env: garbage.env, fetch: nonsenseFetch(prng.fork()), randomBytes: () => undefined };
  try {
    const found = await findServer(place.home, finding);
    if (!isFault(found)) await askForLink(found, finding.fetch);
    const target = await Target.start(place, prng.fork(), { ...garbage.options, env: garbage.env });
    if (isFault(target)) return { code: target.code, problem: refusalProblem(target.code, target.message) };
    await target.server.settled;
    try {
      const health = await target.caller.call("GET", "/health");
      const works =
        health.status === 200 ? await turnProblem(target.caller, place.project) : `health: ${health.status}`;
      return { code: null, problem: works ?? target.alarms[0] ?? null };
    } finally {
      await target[Symbol.asyncDispose]();
    }
  } catch (error) {
    return { code: null, problem: `an exception: ${error instanceof Error ? error.stack : String(error)}` };
  }
}

/** A start may be refused for what the person said, never for what a file holds. */
const refusals: readonly string[] = ["bad-request", "address-unavailable"];

const refusalProblem = (code: string, message: string): string | null =>
  Object.hasOwn(errorStatus, code) && refusals.includes(code) ? null : `the start is refused: ${code}, ${message}`;

const rules = membersOf({
  rules: [
    membersOf({ tool: "bash", verdict: "ask", command: "ls" }),
    membersOf({ tool: "*", verdict: "deny", path: "secret/**" }),
  ],
});
const serverFile = membersOf({
  ...{ url: "http://127.0.0.1:1", host: "127.0.0.1", port: 1, pid: 1, boot: "b", proofKey: "k" },
});

/** A good text of each file, to be spoilt. */
const shapes: Readonly<Record<string, Tree>> = {
  "permissions.json": rules,
  "project/.varve/permissions.json": rules,
  "project-permissions.json": membersOf({
    projects: membersOf({ "/tmp": [membersOf({ tool: "bash", verdict: "ask" })] }),
  }),
  "server.json": serverFile,
  "AGENTS.md": "Be brief.",
  "project/AGENTS.md": "Be brief.",
  token: "a-token-of-more-than-sixteen-characters",
  key: "00".repeat(32),
};
const variables = [
  "VARVE_LOG",
  "VARVE_TOKEN",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "OPENAI_COMPATIBLE_BASE_URL",
  "OPENAI_COMPATIBLE_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "SHELL",
  "PATH",
  "LANG",
] as const;
const plainNames = [
  "127.0.0.1",
  "localhost",
  "a.example",
  "*",
  "http://a.example/",
  "10.0.0.0/8",
  "::1",
  "1/99",
] as const;

async function garbageFor(place: Place, prng: Prng): Promise<Garbage> {
  const keys = await settingKeys(place.home);
  const some = <T>(all: readonly T[], share: number): readonly T[] => all.filter(() => prng.chance(share));
  const word = (): string => (prng.chance(0.5) ? prng.pick(plainNames) : oddText(prng).slice(0, 500));
  const options: Partial<StartOptions> = {
    ...(prng.chance(0.15) && { allowHosts: [word(), word()] }),
    ...(prng.chance(0.1) && { trustProxies: [word()] }),
    ...(prng.chance(0.1) && { publicUrl: word() }),
  };
  return {
    files: Object.fromEntries(some(Object.keys(shapes), 0.7).map((name) => [name, fileText(shapes[name] ?? "", prng)])),
    settings: Object.fromEntries(some(keys, 0.4).map((key) => [key, settingText(prng)])),
    env: Object.fromEntries(
      some(variables, prng.chance(0.5) ? 0.3 : 0).map((name) => [name, oddText(prng).replaceAll("\0", "")]),
    ),
    options,
  };
}

function fileText(shape: Tree, prng: Prng): string {
  const plain = typeof shape === "string";
  let tree: Tree = plain ? raw(prng.chance(0.5) ? shape : oddText(prng)) : shape;
  for (let times = plain ? 0 : prng.int(0, 3); times > 0; times -= 1) tree = mutated(tree, prng);
  const text = textOf(tree);
  const bytes = Buffer.from(prng.chance(0.2) ? torn(text, prng) : text, "utf8").toString("latin1");
  return prng.chance(0.1) ? `${bytes}\xff\xfe\x00` : bytes;
}

const settingText = (prng: Prng): string => {
  const tree = mutated(mutated([membersOf({ id: "a", label: "b", hash: "c" })], prng), prng);
  return prng.chance(0.3) ? oddText(prng) : textOf(tree);
};

/** Every setting that a server on this home has ever stored, by the log itself. */
async function settingKeys(home: string): Promise<readonly string[]> {
  const kept = await withLog(home, async (log) => Object.keys(await log.settings()));
  const known = ["server.default-model", "server.day-money-max", "server.default-steps-max", "server.price-overrides"];
  return [...new Set([...(kept ?? []), ...known])].toSorted();
}

async function withLog<T>(home: string, work: (log: Log) => Promise<T>): Promise<T | null> {
  const log = await openSqliteLog({ home, clock: { now: () => 0, setTimer: () => ({ cancel: () => undefined }) } });
  if (!("settings" in log)) return null;
  const result = await work(log);
  await log.close();
  return result;
}

async function putFiles({ home, project }: Place, files: Readonly<Record<string, string>>): Promise<void> {
  for (const name of Object.keys(shapes)) {
    const path = name.startsWith("project/") ? join(project, name.slice("project/".length)) : join(home, name);
    await rm(path, { recursive: true, force: true });
    const text = files[name];
    if (text === undefined) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, "latin1");
  }
}

async function putSettings(home: string, settings: Readonly<Record<string, string>>): Promise<void> {
  await withLog(home, async (log) => {
    for (const [key, value] of Object.entries(settings)) await log.putSetting(key, value.toWellFormed());
  });
}
