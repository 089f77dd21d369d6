/** One request to a real model, paid for: asked of the purse before, told to it after, tried again where that may help. */
import type { ModelFailure, ResolvedModel, UsageData } from "@varve/agent";
import { assemble, priceOf, startStep, totalInput, usageData } from "@varve/agent";
import type { ChunkId, Clock, NewRow, TurnId } from "@varve/protocol";
import type { WireRequest } from "@varve/wire";
import type { JsonObject } from "../json.ts";
import type { Edit, EditedFetch } from "./edited-fetch.ts";
import { StepFailed } from "./failures.ts";
import { charsPerTokenAtLeast, liveLimits } from "./live-limits.ts";
import { dearest, type Purse } from "./purse.ts";

export interface SendPorts {
  readonly clock: Clock;
  readonly newId: () => ChunkId;
  readonly purse: Purse;
  readonly wire: EditedFetch;
  wait(ms: number): Promise<void>;
}

interface Asked {
  readonly request: WireRequest;
  readonly model: ResolvedModel;
  /** Whether it may write entries that live for an hour. */
  readonly isLong: boolean;
  readonly edit: Edit | null;
}

export interface Place {
  readonly turnId: TurnId;
  readonly step: number;
  readonly usedCallIds: ReadonlySet<string>;
}

export interface Sent {
  readonly rows: readonly NewRow[];
  readonly usage: UsageData | null;
  readonly refusal: string | null;
  readonly body: JsonObject;
  readonly total: number | null;
}

type Answer =
  | { readonly kind: "answered"; readonly rows: readonly NewRow[]; readonly usage: UsageData }
  | { readonly kind: "failed"; readonly failure: Pick<ModelFailure, "message" | "statusCode" | "retry"> };

export function sendRequest(ports: SendPorts, asked: Asked & { readonly place: Place }): Promise<Sent> {
  return paid(ports, asked, liveLimits.outputTokensMax, () => streamed(ports, asked));
}

/** The same body without output and without streaming. */
export function warmRequest(ports: SendPorts, asked: Asked): Promise<Sent> {
  return paid(ports, asked, 0, async () => {
    const { request, model } = asked;
    const generated = await model.generate({ ...request.options, prompt: request.messages, maxOutputTokens: 0 });
    if (generated.kind === "failed") return { kind: "failed", failure: generated.failure };
    if (generated.kind === "cancelled") return { kind: "failed", failure: { message: "cancelled", retry: null } };
    return { kind: "answered", rows: [], usage: usageData(generated.usage, model.info.id) };
  });
}

async function streamed(
  ports: SendPorts,
  { request, model, place }: Asked & { readonly place: Place },
): Promise<Answer> {
  const env = { now: ports.clock.now(), newId: ports.newId };
  let state = startStep({ ...place, model: model.info.id, modelScope: model.target.modelScope });
  const rows: NewRow[] = [];
  const maxOutputTokens = liveLimits.outputTokensMax;
  for await (const part of model.stream({ ...request.options, prompt: request.messages, maxOutputTokens })) {
    if (part.type === "failure") return { kind: "failed", failure: part.failure };
    const assembled = assemble(state, part, env);
    state = assembled.state;
    for (const op of assembled.ops) if (op.op === "seal") rows.push(op.row);
  }
  if (state.finish === null) return { kind: "failed", failure: { message: "cut", retry: null } };
  return { kind: "answered", rows, usage: state.finish.usage };
}

async function paid(
  ports: SendPorts,
  { request, model, isLong, edit }: Asked,
  outputTokens: number,
  send: () => Promise<Answer>,
): Promise<Sent> {
  const { purse, wire } = ports;
  const { prices } = model.facts;
  const inputTokens = Math.ceil(request.chars / charsPerTokenAtLeast);
  if (inputTokens > liveLimits.inputTokensMax) {
    throw new StepFailed(
      `not sent: about ${inputTokens} tokens are more than the ${liveLimits.inputTokensMax} of a request`,
    );
  }
  const money = dearest(prices, { inputTokens, outputTokens }, isLong);
  for (let tried = 0; ; tried += 1) {
    purse.take({ inputTokens, outputTokens, money });
    wire.next = edit;
    const answer = await send();
    wire.next = null;
    const { lastBody: body } = wire;
    if (answer.kind === "answered") {
      const { rows, usage } = answer;
      const total = totalInput(usage);
      // Where the provider told too little, the dearest is taken for true.
      purse.book((total ?? inputTokens) + (usage.output ?? outputTokens), priceOf(usage, prices) ?? money);
      return { rows, usage, refusal: null, body, total };
    }
    const { failure } = answer;
    const isRefused = failure.statusCode !== undefined && failure.statusCode >= 400 && failure.statusCode < 500;
    // What is refused is not billed; what broke off may be.
    if (isRefused) purse.book(0, prices === null ? null : 0);
    else purse.book(inputTokens + outputTokens, money);
    if (failure.retry === null || tried >= liveLimits.retriesMax) {
      return { rows: [], usage: null, refusal: refusalOf(failure), body, total: null };
    }
    await ports.wait(Math.min(failure.retry.afterMs ?? firstRetryMs * 2 ** tried, liveLimits.retryWaitMsMax));
  }
}

const firstRetryMs = 2_000;

const refusalOf = ({ statusCode, message }: Pick<ModelFailure, "message" | "statusCode">): string =>
  statusCode === undefined ? message : `${statusCode}: ${message}`;
