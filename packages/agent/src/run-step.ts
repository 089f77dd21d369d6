/** One step: fold, check, stream, seal. What the stream brings is sealed while it comes; what it was worth is told at its end. */
import type { ErrorData, NewRow } from "@varve/protocol";
import { isFault, unreachable } from "@varve/protocol";
import type { Assembled, AssembleOp, AssembleState } from "./assemble.ts";
import { assemble, cutStep, hasSealed, startStep, voidStep } from "./assemble.ts";
import type { ModelFailure, ResolvedModel } from "./model/model.ts";
import type { ModelRequest } from "./request.ts";
import { makeRequest, modelInForce } from "./request.ts";
import { planRetry } from "./retry.ts";
import { resultTexts } from "./texts.ts";
import type { Turn } from "./turn.ts";
import { endFailed, endStopped } from "./turn.ts";
import { rowsOfTurn } from "./turn-rows.ts";
import { pause } from "./wait.ts";

/** `over`: the turn has ended. `on`: ask the rows what comes next. */
export type StepEnd = "over" | "on";

type StreamEnd =
  | { readonly kind: "finished" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly failure: ModelFailure };

export async function runStep(turn: Turn, step: number): Promise<StepEnd> {
  const { owner, ports } = turn;
  const chosen = modelInForce(owner.rows());
  const model = await ports.models.resolve(chosen.model);
  if (isFault(model)) return failBeforeRequest(turn, step, model);
  const request = await makeRequest(turn, { step, model, effort: chosen.effort });
  if (isFault(request)) return failBeforeRequest(turn, step, request);
  if (owner.cancel.aborted) return "on";
  await owner.seal([...request.before, turn.rows.system({ turnId: turn.turnId, step }, request.row)]);
  owner.progress(step);
  const start = startStep({
    turnId: turn.turnId,
    step,
    model: chosen.model,
    modelScope: model.target.modelScope,
    usedCallIds: knownCallIds(turn),
  });
  const streamed = await stream(turn, start, { model, request });
  for (const callId of streamed.state.ownCallIds) knownCallIds(turn).add(callId);
  switch (streamed.end.kind) {
    case "finished":
      return settle(turn, streamed.state);
    case "cancelled":
      return stop(turn, streamed.state);
    case "failed":
      return fail(turn, streamed.state, streamed.end.failure);
    default:
      return unreachable(streamed.end);
  }
}

async function failBeforeRequest(turn: Turn, step: number, error: ErrorData): Promise<StepEnd> {
  const { message, code, hint } = error;
  const data = { message, ...(code === undefined ? {} : { code }), ...(hint === undefined ? {} : { hint }) };
  await endFailed(turn, { step, error: data, result: resultTexts.neverRun });
  return "over";
}

async function stream(
  turn: Turn,
  start: AssembleState,
  source: { readonly model: ResolvedModel; readonly request: ModelRequest },
): Promise<{ readonly state: AssembleState; readonly end: StreamEnd }> {
  const abortSignal = AbortSignal.any([turn.owner.cancel, turn.gone.signal]);
  let state = start;
  for await (const part of source.model.stream({ ...source.request.options, abortSignal })) {
    if (part.type === "failure") return { state, end: { kind: "failed", failure: part.failure } };
    if (part.type === "cancelled") return { state, end: { kind: "cancelled" } };
    const next = assemble(state, part, envOf(turn));
    state = next.state;
    if (next.ops.length > 0) await perform(turn, next.ops);
    if (part.type === "finish") return { state, end: { kind: "finished" } };
  }
  const failure = { code: "provider-cut" as const, message: "The answer broke off.", retry: { afterMs: null } };
  return { state, end: { kind: "failed", failure } };
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
async function settle(turn: Turn, state: AssembleState): Promise<StepEnd> {
  const { finish, step } = state;
  if (finish === null) return fail(turn, state, { code: "provider-cut", message: "No finish came.", retry: null });
  turn.retries = 0;
  const place = { turnId: turn.turnId, step };
  const usage = turn.rows.system(place, finish.usage);
  if (finish.reason === "content-filter") return refuse(turn, state, usage);
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

async function stop(turn: Turn, state: AssembleState): Promise<StepEnd> {
  await endStopped(turn, await cut(turn, state));
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

async function fail(turn: Turn, state: AssembleState, failure: ModelFailure): Promise<StepEnd> {
  const { owner, ports, limits } = turn;
  const plan = planRetry(failure, turn.retries, { limits, random: ports.random?.() ?? 0 });
  if (owner.cancel.aborted) return stop(turn, state);
  if (plan.kind === "final") {
    const { message, code, hint, statusCode } = failure;
    await endFailed(turn, {
      step: state.step,
      result: resultTexts.neverRun,
      before: await cut(turn, state),
      error: {
        code,
        message: plan.why === null ? message : `${message} ${plan.why}`,
        ...(statusCode === undefined ? {} : { statusCode }),
        hint: hint ?? 'Everything so far is kept. Send "continue" to try again.',
      },
    });
    return "over";
  }
  await perform(turn, voidStep(state));
  if (hasSealed(state)) await owner.seal([voidRow(turn, state.step, failure.message)]);
  turn.retries += 1;
  owner.progress(state.step, {
    attempt: plan.attempt,
    at: ports.clock.now() + plan.waitMs,
    reason: failure.message,
  });
  await pause(ports.clock, plan.waitMs, AbortSignal.any([owner.cancel, turn.gone.signal]));
  return "on";
}

const voidRow = (turn: Turn, step: number, reason: string): NewRow =>
  turn.rows.system({ turnId: turn.turnId, step }, { kind: "step-void", turnId: turn.turnId, step, reason });

function knownCallIds(turn: Turn): Set<string> {
  turn.callIds ??= new Set(turn.owner.rows().flatMap((row) => (row.type === "tool_call" ? [row.data.callId] : [])));
  return turn.callIds;
}
