/** One step: fold, check, stream, seal. What the stream brings is sealed while it comes; what it was worth is told at its end. */
import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import type { NewRow } from "@varve/protocol";
import { isFault, unreachable } from "@varve/protocol";
import type { Assembled, AssembleOp, AssembleState } from "./assemble.ts";
import { assemble, cutStep, hasSealed, startStep, voidStep } from "./assemble.ts";
import { begunUsage, cutUsageData, outputChars } from "./begun-usage.ts";
import { bookUsage } from "./ledger/book.ts";
import type { ModelFailure, ResolvedModel } from "./model/model.ts";
import type { Ready } from "./ready.ts";
import { failBeforeRequest } from "./ready.ts";
import type { ModelRequest } from "./request.ts";
import { makeRequest } from "./request.ts";
import { planRetry } from "./retry.ts";
import { cleanParts } from "./secrets/clean-parts.ts";
import { resultTexts } from "./texts.ts";
import type { Turn } from "./turn.ts";
import { endFailed, endStopped } from "./turn.ts";
import { rowsOfTurn } from "./turn-rows.ts";
import type { UsageData } from "./usage.ts";
import { pause } from "./wait.ts";

/** `over`: the turn has ended. `on`: ask the rows what comes next. */
export type StepEnd = "over" | "on";

type StreamEnd =
  | { readonly kind: "finished" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly failure: ModelFailure };

/** One request on its way, with what its bill needs. */
interface Sent {
  readonly model: ResolvedModel;
  readonly request: ModelRequest;
  readonly startedAt: number;
}
interface Streamed extends Sent {
  readonly state: AssembleState;
  readonly end: StreamEnd;
  /** What the stream told of its input when it began, and the characters of output that came. */
  readonly begun: LanguageModelV3Usage | null;
  readonly chars: number;
}

export async function runStep(turn: Turn, step: number, ready: Ready): Promise<StepEnd> {
  const { owner, ports } = turn;
  const { model } = ready;
  const request = await makeRequest(turn, { step, model, effort: ready.effort });
  if (isFault(request)) return (await failBeforeRequest(turn, step, request)).kind;
  if (owner.cancel.aborted) return "on";
  const startedAt = ports.clock.now();
  await owner.seal([...request.before, turn.rows.system({ turnId: turn.turnId, step }, request.row)]);
  owner.progress(step);
  const start = startStep({
    turnId: turn.turnId,
    step,
    model: request.row.model,
    modelScope: model.target.modelScope,
    usedCallIds: knownCallIds(turn),
  });
  const streamed = await stream(turn, start, { model, request, startedAt });
  for (const callId of streamed.state.ownCallIds) knownCallIds(turn).add(callId);
  switch (streamed.end.kind) {
    case "finished":
      return settle(turn, streamed);
    case "cancelled":
      return stop(turn, streamed);
    case "failed":
      return fail(turn, streamed, streamed.end.failure);
    default:
      return unreachable(streamed.end);
  }
}

async function stream(turn: Turn, start: AssembleState, sent: Sent): Promise<Streamed> {
  const abortSignal = AbortSignal.any([turn.owner.cancel, turn.gone.signal]);
  let state = start;
  let begun: LanguageModelV3Usage | null = null;
  let chars = 0;
  const ended = (end: StreamEnd): Streamed => ({ ...sent, state, end, begun, chars });
  const parts = sent.model.stream({ ...sent.request.options, abortSignal });
  for await (const part of cleanParts(parts, turn.secrets)) {
    if (part.type === "failure") return ended({ kind: "failed", failure: part.failure });
    if (part.type === "cancelled") return ended({ kind: "cancelled" });
    if (part.type === "raw") begun = begunUsage(part.rawValue) ?? begun;
    chars += outputChars(part);
    const next = assemble(state, part, envOf(turn));
    state = next.state;
    if (next.ops.length > 0) await perform(turn, next.ops);
    if (part.type === "finish") return ended({ kind: "finished" });
  }
  const failure = { code: "provider-cut" as const, message: "The answer broke off.", retry: { afterMs: null } };
  return ended({ kind: "failed", failure });
}

const envOf = (turn: Turn) => ({ now: turn.ports.clock.now(), newId: () => turn.ports.ids.chunk() });

/** Carries ops out in their order; rows that seal together share a transaction. */
async function perform(turn: Turn, ops: readonly AssembleOp[]): Promise<void> {
  let rows: NewRow[] = [];
  for (const op of ops) {
    if (op.op !== "seal" && rows.length > 0) {
      await turn.owner.seal(rows);
      rows = [];
    }
    switch (op.op) {
      case "open":
        turn.owner.open(op.block);
        break;
      case "grow":
        turn.owner.grow(op.id, op.text);
        break;
      case "drop":
        turn.owner.drop(op.id);
        break;
      case "seal":
        rows.push(op.row);
        break;
      default:
        unreachable(op);
    }
  }
  if (rows.length > 0) await turn.owner.seal(rows);
}

/** A clean finish: the `usage` row says that the step is whole, and only then do its calls run. */
async function settle(turn: Turn, streamed: Streamed): Promise<StepEnd> {
  const { finish, step } = streamed.state;
  if (finish === null) return fail(turn, streamed, { code: "provider-cut", message: "No finish came.", retry: null });
  turn.retries = 0;
  turn.overflows = 0;
  const place = { turnId: turn.turnId, step };
  const usage = usageRow(turn, streamed, finish.usage);
  if (finish.reason === "content-filter") return refuse(turn, streamed.state, usage);
  const spoken = rowsOfTurn(turn.owner.rows(), turn.turnId).filter(
    (row) => row.step === step && row.role === "assistant",
  );
  const called = spoken.some((row) => row.type === "tool_call");
  const after: NewRow[] = [usage, ...thinkingNotice(turn, step, finish.droppedThinking)];
  if (finish.reason === "length" && !called) after.push(afterCut(turn, step, spoken.length > 0));
  else if (!spoken.some((row) => row.type === "tool_call" || row.type === "text")) {
    after.push(
      turn.rows.system(place, {
        kind: "notice",
        level: "warning",
        code: "empty-answer",
        text: "The model ended its answer without a word. Send a message to go on.",
      }),
    );
  }
  await turn.owner.seal(after);
  return "on";
}

/** The answer came, but the model no longer saw some of its own thinking: a person should know why it may wander. */
function thinkingNotice(turn: Turn, step: number, count: number): readonly NewRow[] {
  if (count === 0) return [];
  const blocks = count === 1 ? "1 block" : `${count} blocks`;
  const text = `The provider left out ${blocks} of earlier thinking, because the text before it is not what it was made with.`;
  const data = { kind: "notice", level: "warning", code: "thinking-dropped", text } as const;
  return [turn.rows.system({ turnId: turn.turnId, step }, data)];
}

/** An answer cut by the provider's length limit goes on behind a visible "continue", a limited number of times. */
function afterCut(turn: Turn, step: number, spoken: boolean): NewRow {
  const place = { turnId: turn.turnId, step };
  if (spoken && turn.continues < turn.limits.continuesMax) {
    turn.continues += 1;
    return turn.rows.continue(place);
  }
  const text = spoken
    ? `The answer was cut at the model's length limit ${turn.continues + 1} times. Send "continue" for more.`
    : "The model reached its length limit before it wrote anything.";
  return turn.rows.system(place, { kind: "notice", level: "warning", code: "length-limit", text });
}

/** What a refused answer had begun is discarded, so that it is never sent back. */
async function refuse(turn: Turn, state: AssembleState, usage: NewRow): Promise<StepEnd> {
  const voided = hasSealed(state) ? [voidRow(turn, state.step, "refused by the provider")] : [];
  await endFailed(turn, {
    step: state.step,
    result: resultTexts.neverRun,
    before: [usage, ...voided],
    error: {
      code: "provider-refused",
      message: "The model's provider refused to answer this.",
      hint: "What it had begun is discarded. Reword the last message, or choose another model.",
    },
  });
  return "over";
}

function usageRow(turn: Turn, streamed: Streamed, usage: UsageData): NewRow {
  const place = { turnId: turn.turnId, step: streamed.state.step };
  const { model, startedAt } = streamed;
  const { guard } = streamed.request;
  const rows = turn.owner.rows();
  return turn.rows.system(place, bookUsage({ usage, rows, place, model, startedAt, guard, purpose: "step" }));
}

/** A try that broke off is billed as far as it told what it cost; the row is no sign of a finish. */
function cutUsage(turn: Turn, streamed: Streamed): readonly NewRow[] {
  const { begun, chars, state } = streamed;
  return begun === null ? [] : [usageRow(turn, streamed, cutUsageData(begun, chars, state.model))];
}

async function stop(turn: Turn, streamed: Streamed): Promise<StepEnd> {
  await endStopped(turn, [...(await cut(turn, streamed.state)), ...cutUsage(turn, streamed)]);
  return "over";
}

/** Rows of what a cut step leaves behind; what it leaves behind without a row is dropped at once. */
async function cut(turn: Turn, state: AssembleState): Promise<readonly NewRow[]> {
  const left: Assembled = cutStep(state, envOf(turn));
  await perform(
    turn,
    left.ops.filter((op) => op.op !== "seal"),
  );
  return left.ops.flatMap((op) => (op.op === "seal" ? [op.row] : []));
}

async function fail(turn: Turn, streamed: Streamed, failure: ModelFailure): Promise<StepEnd> {
  const { owner, ports, limits } = turn;
  const { state } = streamed;
  if (owner.cancel.aborted) return stop(turn, streamed);
  if (failure.code === "context-overflow" && turn.overflows < limits.overflowsMax) {
    turn.overflow = failure;
    await giveUpTry(turn, streamed, failure.message);
    return "on";
  }
  const plan = planRetry(failure, turn.retries, { limits, random: ports.random?.() ?? 0 });
  if (plan.kind === "final") return failForGood(turn, streamed, { failure, why: plan.why });
  await giveUpTry(turn, streamed, failure.message);
  turn.retries += 1;
  owner.progress(state.step, {
    attempt: plan.attempt,
    at: ports.clock.now() + plan.waitMs,
    reason: failure.message,
  });
  await pause(ports.clock, plan.waitMs, AbortSignal.any([owner.cancel, turn.gone.signal]));
  return "on";
}

/** What the try had brought is dropped, and voided where it had sealed, before another one begins. */
async function giveUpTry(turn: Turn, streamed: Streamed, reason: string): Promise<void> {
  const { state } = streamed;
  await perform(turn, voidStep(state));
  const voided = hasSealed(state) ? [voidRow(turn, state.step, reason)] : [];
  const rows = [...cutUsage(turn, streamed), ...voided];
  if (rows.length > 0) await turn.owner.seal(rows);
}

async function failForGood(
  turn: Turn,
  streamed: Streamed,
  end: { readonly failure: ModelFailure; readonly why: string | null },
): Promise<StepEnd> {
  const { message, code, hint, statusCode } = end.failure;
  await endFailed(turn, {
    step: streamed.state.step,
    result: resultTexts.neverRun,
    before: [...(await cut(turn, streamed.state)), ...cutUsage(turn, streamed)],
    error: {
      code,
      message: end.why === null ? message : `${message} ${end.why}`,
      ...(statusCode === undefined ? {} : { statusCode }),
      hint: hint ?? 'Everything so far is kept. Send "continue" to try again.',
    },
  });
  return "over";
}

const voidRow = (turn: Turn, step: number, reason: string): NewRow =>
  turn.rows.system({ turnId: turn.turnId, step }, { kind: "step-void", turnId: turn.turnId, step, reason });

function knownCallIds(turn: Turn): Set<string> {
  if (turn.callIds !== undefined) return turn.callIds;
  turn.callIds = new Set();
  for (const row of turn.owner.rows()) if (row.type === "tool_call") turn.callIds.add(row.data.callId);
  return turn.callIds;
}
