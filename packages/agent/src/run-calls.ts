/**
 * Runs the calls of a finished step and seals each result when it completes. Calls that share a lock run one after
 * another in call order; all others run side by side. However a call ends, it has exactly one result afterwards.
 */
import type { BlobHash, ToolCallData, ToolResultData } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import type { LiveOutput } from "./live-output.ts";
import { liveOutput } from "./live-output.ts";
import { askPerson, permit } from "./permit.ts";
import { hadSecrets } from "./secrets/clean-row.ts";
import { clipText, hasInk, wellFormedText } from "./text.ts";
import { resultTexts, stoppedResult } from "./texts.ts";
import { areInvalid } from "./tool-call.ts";
import { unknownToolText } from "./tools/retired.ts";
import type { PreparedCall, ToolImage, ToolOutcome } from "./tools/tool.ts";
import type { Turn } from "./turn.ts";
import { rowsBetween, rowsOfTurn } from "./turn-rows.ts";
import { pause, unlessAborted } from "./wait.ts";

interface RunningCall {
  readonly call: ToolCallData;
  readonly step: number;
  readonly index: number;
  readonly signal: AbortSignal;
  readonly live: LiveOutput;
  readonly resultId: ReturnType<Turn["ports"]["ids"]["chunk"]>;
}

type Prepared = PreparedCall | { readonly error: string };

const failed = (text: string): ToolOutcome => ({ text, isError: true });

export async function runCalls(turn: Turn, step: number, calls: readonly ToolCallData[]): Promise<void> {
  const prepared = await Promise.all(calls.map((call) => prepare(turn, call)));
  const lastOfLock = new Map<string, Promise<unknown>>();
  const firstIndex = rowsOfTurn(turn.owner.rows(), turn.turnId).filter((row) => row.step === step).length;
  const runs = calls.map((call, order) => {
    const first = prepared[order] ?? { error: "not prepared" };
    const locks = locksOf(first, lastOfLock);
    const before = locks.flatMap((lock) => lastOfLock.get(lock) ?? []);
    const run = runInTurn(turn, { call, step, index: firstIndex + order }, { first, before });
    for (const lock of locks) lastOfLock.set(lock, run);
    return run;
  });
  await Promise.all(runs);
}

/**
 * What a call must wait for. One that cannot be prepared yet may depend on what an earlier call of the step writes (an edit
 * of a file that is written first): it waits for all of them and is prepared anew.
 */
function locksOf(first: Prepared, held: ReadonlyMap<string, unknown>): readonly string[] {
  if ("error" in first) return [...held.keys()];
  if (first.lock === null) return [];
  return typeof first.lock === "string" ? [first.lock] : first.lock;
}

async function runInTurn(
  turn: Turn,
  place: { readonly call: ToolCallData; readonly step: number; readonly index: number },
  order: { readonly first: Prepared; readonly before: readonly Promise<unknown>[] },
): Promise<void> {
  const { callId } = place.call;
  const resultId = turn.ports.ids.chunk();
  const signal = AbortSignal.any([turn.owner.cancel, turn.owner.cancelOf(callId), turn.gone.signal]);
  const live = liveOutput(turn, { id: resultId, callId, step: place.step, index: place.index });
  const running: RunningCall = { ...place, resultId, signal, live };
  // What a call prepared may be out of date once the one before it has written the same file.
  const again = order.before.length > 0;
  await Promise.all(order.before);
  const prepared = again && !signal.aborted ? await prepare(turn, place.call) : order.first;
  const outcome = await outcomeOf(turn, running, prepared);
  live.close();
  if (turn.gone.signal.aborted) return;
  await sealResult(turn, running, outcome);
}

async function prepare(turn: Turn, call: ToolCallData): Promise<Prepared> {
  if (hadSecrets(call)) return { error: resultTexts.secretArguments };
  if (areInvalid(call.arguments)) return { error: resultTexts.invalidArguments };
  const tool = turn.ports.tools.get(call.name);
  if (tool === undefined) {
    const names = turn.ports.tools.definitions.map((definition) => definition.name);
    return { error: unknownToolText(call.name, names) };
  }
  try {
    return await tool.prepare(call.arguments, turn.ports.place);
  } catch (error) {
    return { error: `The tool ${call.name} could not start: ${messageOf(error)}` };
  }
}

async function outcomeOf(turn: Turn, running: RunningCall, prepared: Prepared): Promise<ToolOutcome> {
  const { signal, call, step } = running;
  if (signal.aborted) return failed(stoppedResult(signal.reason));
  if ("error" in prepared) return failed(prepared.error);
  const answer = await permit(turn, { step, call, signal }, prepared);
  if (answer.kind === "denied") return failed(answer.reason);
  if (answer.kind === "stopped" || signal.aborted) return failed(stoppedResult(signal.reason));
  const outcome = await turn.slots.use(() => runBounded(turn, running, prepared));
  return signal.aborted ? markStopped(outcome, signal.reason) : outcome;
}

/** Runs the tool; after a stop it is given `toolStopMs` to end, then its result is written without it. */
async function runBounded(turn: Turn, running: RunningCall, prepared: PreparedCall): Promise<ToolOutcome> {
  const { signal, call, step, live } = running;
  // A tool that asks a person is shown as waiting, not as running.
  const tool = prepared.effect === "ask" ? null : turn.owner.runs({ callId: call.callId, name: call.name });
  const work = Promise.resolve()
    .then(() =>
      prepared.run({
        callId: call.callId,
        signal,
        output: (text) => live.write(text),
        canMove: (move) => tool?.canMove(move),
        ask: (text, options) => askPerson(turn, { step, call, signal }, { text, options }),
        rows: (from, to) => rowsBetween(turn.owner.rows(), from, to),
      }),
    )
    .catch((error: unknown) => failed(`The tool ${call.name} failed: ${messageOf(error)}`));
  const outcome = await boundedBy(turn, signal, work);
  tool?.ended();
  return outcome;
}

async function boundedBy(turn: Turn, signal: AbortSignal, work: Promise<ToolOutcome>): Promise<ToolOutcome> {
  const first = await unlessAborted(work, signal);
  if (first !== "aborted") return first;
  const patience = new AbortController();
  const late = await Promise.race([work, pause(turn.ports.clock, turn.limits.toolStopMs, patience.signal)]);
  patience.abort();
  return late ?? failed(stoppedResult(signal.reason));
}

/** A tool that was stopped says so first; what it had found or written until then stays in its result. */
function markStopped(outcome: ToolOutcome, reason: unknown): ToolOutcome {
  if (!outcome.isError) return outcome;
  const text = stoppedResult(reason);
  if (outcome.text.toLowerCase().includes(text)) return outcome;
  return { ...outcome, text: hasInk(outcome.text) ? `${text}\n${outcome.text}` : text };
}

async function sealResult(turn: Turn, running: RunningCall, outcome: ToolOutcome): Promise<void> {
  const { call, step, resultId, live } = running;
  const data = await resultData(turn, call, outcome);
  const row = { ...turn.rows.result({ turnId: turn.turnId, step }, data), id: resultId };
  const sealed = await turn.owner.seal([row]);
  if (sealed.length === 0 && live.opened) turn.owner.drop(resultId);
}

async function resultData(turn: Turn, call: ToolCallData, outcome: ToolOutcome): Promise<ToolResultData> {
  const kept = await Promise.all((outcome.images ?? []).map((image) => keepBlob(turn, image)));
  const images = kept.flatMap((entry) => ("blob" in entry ? [entry] : []));
  const lost = kept.flatMap((entry) => ("lost" in entry ? [`[a picture could not be kept: ${entry.lost}]`] : []));
  const spill = outcome.spill === undefined ? null : await keepBlob(turn, outcome.spill);
  // Before it is cut: half a secret is none that could be found again.
  const whole = turn.secrets.cutText([outcome.text, ...lost].join("\n"));
  const text = wellFormedText(clipText(whole, turn.limits.resultCharsMax));
  return {
    callId: call.callId,
    name: call.name,
    result: hasInk(text) ? text : resultTexts.empty,
    isError: outcome.isError,
    ...(images.length > 0 ? { images } : {}),
    ...(spill !== null && "blob" in spill ? { spill: spill.blob } : {}),
    ...(outcome.details === undefined ? {} : { details: turn.secrets.data(outcome.details) }),
  };
}

type Kept = { readonly blob: BlobHash; readonly mediaType: string } | { readonly lost: string };

async function keepBlob(turn: Turn, bytes: ToolImage): Promise<Kept> {
  const stored = await turn.ports.blobs.put(bytes.bytes, bytes.mediaType);
  return isFault(stored) ? { lost: stored.message } : { blob: stored.blob, mediaType: stored.mediaType };
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
