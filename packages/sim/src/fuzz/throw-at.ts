/** Throws one input at a server and judges what comes back. */
import { parseJson } from "../json.ts";
import { answersIn, converse, exchange, messageFrame } from "./connection.ts";
import type { FramesInput, FuzzInput, RawInput, RestInput } from "./fuzz-input.ts";
import { endingProblem, frameProblem, httpProblem } from "./judge.ts";
import type { Caller } from "./target.ts";

export interface Outcome {
  readonly problem: string | null;
  /** By status, or how a socket ended. */
  readonly answers: readonly string[];
  /** Decoded, for what they tell. */
  readonly told: readonly unknown[];
  readonly ms: number;
}
type Judged = Omit<Outcome, "ms">;

export interface Patience {
  readonly elapsed: () => number;
  readonly slowMs: number;
}

/** A machine that is busy makes anything slow once: what is slow is thrown again, and the quickest time counts. */
const triesMax = 3;

export async function throwAt(target: Caller, input: FuzzInput, patience: Patience): Promise<Outcome> {
  let quickest: Outcome | null = null;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const outcome = await throwOnce(target, input, patience);
    if (outcome.problem !== null) return outcome;
    if (quickest === null || outcome.ms < quickest.ms) quickest = outcome;
    if (quickest.ms <= patience.slowMs) return quickest;
  }
  const ms = quickest?.ms ?? 0;
  return { answers: [], told: [], ...quickest, ms, problem: `it took ${Math.round(ms)} ms, ${triesMax} times` };
}

async function throwOnce(target: Caller, input: FuzzInput, { elapsed, slowMs }: Patience): Promise<Outcome> {
  const began = elapsed();
  const judged = await atMost(slowMs, judge(target, input));
  return { ...judged, ms: elapsed() - began };
}

/** What never answers is waited for a while longer than what is slow. */
const neverTimes = 5;
async function atMost(slowMs: number, judging: Promise<Judged>): Promise<Judged> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Judged>((resolve) => {
    const never = { problem: "no answer came", answers: ["none"], told: [] };
    timer = setTimeout(() => resolve(never), slowMs * neverTimes);
  });
  const judged = await Promise.race([judging, late]);
  clearTimeout(timer);
  return judged;
}

function judge(target: Caller, input: FuzzInput): Promise<Judged> {
  switch (input.kind) {
    case "rest":
      return judgeRest(target, input);
    case "frames":
      return judgeFrames(target, input);
    case "raw":
      return input.upgraded ? judgeUpgraded(target, input.bytes) : judgeRaw(target, input);
  }
}

async function judgeRest(target: Caller, input: RestInput): Promise<Judged> {
  try {
    const answer = await target.ask(input);
    const told = answer.status < 300 ? [parseJson(answer.body)] : [];
    return { problem: httpProblem(answer, input.method), answers: [`${answer.status}`], told };
  } catch (error) {
    return { problem: `the connection broke: ${String(error)}`, answers: ["broken"], told: [] };
  }
}

/** Behind all frames one is sent that is always answered: whoever is not sent away is still heard. */
const lastRe = 987_654_321;
const hello = '{"type":"hello","v":[1],"client":"fuzz"}';

async function judgeFrames(target: Caller, { greets, frames }: FramesInput): Promise<Judged> {
  const all = [...(greets ? [hello] : []), ...frames, `{"type":"sub-workspace","re":${lastRe}}`];
  const over = (message: string): boolean => message.includes(`"re":${lastRe}`);
  const bytes = all.map(messageFrame).join("");
  const { messages, code } = await converse(target.port, { headers: target.token, bytes, over });
  return judgedSocket(messages, code === null ? null : endingProblem(code), code);
}

/** Whoever sends what is no frame may be cut off without a word. */
async function judgeUpgraded(target: Caller, bytes: string): Promise<Judged> {
  const talk = { headers: target.token, bytes, over: () => false, ends: true };
  const { messages, code } = await converse(target.port, talk);
  return judgedSocket(messages, code === null || code === 1006 ? null : endingProblem(code), code);
}

function judgedSocket(messages: readonly string[], ending: string | null, code: number | null): Judged {
  const problem = messages.map(frameProblem).find((one) => one !== null) ?? ending;
  return { problem, answers: [code === null ? "socket" : `socket ${code}`], told: messages.map(parseJson) };
}

async function judgeRaw(target: Caller, { bytes }: RawInput): Promise<Judged> {
  const answers = answersIn(await exchange(target.port, bytes));
  if (answers === null) return { problem: "bytes that are no answer", answers: ["bytes"], told: [] };
  const problem = answers.map((answer) => httpProblem(answer, "GET")).find((one) => one !== null) ?? null;
  return {
    problem,
    answers: answers.length === 0 ? ["closed"] : answers.map(({ status }) => `raw ${status}`),
    told: [],
  };
}
