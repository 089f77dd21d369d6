import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Counted } from "./accounting.ts";
import { createGate, type GateControl } from "./gate.ts";
import { responseSink, sendJson } from "./http-rim.ts";
import { Player, type Sink } from "./play.ts";
import { type CallOutcome, keyOf, type RecordedCall } from "./recorded-call.ts";
import { planReply, stopReasonOf } from "./reply-plan.ts";
import type { ReplyStream } from "./reply-stream.ts";
import type { FakeRequest } from "./request-view.ts";
import type { Failure, Reply, ReplyUsage } from "./script.ts";
import { isWarmUp } from "./vendor.ts";
import { errorBody, errorTypeOf } from "./vendor-error.ts";
import { countedStream, createStream, type Memory } from "./vendor-stream.ts";

/** What one call needs of its server. */
export interface Answering {
  readonly request: FakeRequest;
  readonly memory: Memory;
  readonly ids: { call(): string; message(index: number): string };
  /** Counts the request in the cache. Once for each call that begins to be answered. */
  count(usage: ReplyUsage | undefined): Counted;
  reply(): Promise<Reply | null>;
  /** The gate that the test took before the call came. */
  readonly control: GateControl | null;
  /** A gate for a call that holds itself. */
  ownGate(): GateControl;
}

export interface AnsweringCall extends Answering {
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
}

/** Answers an admitted call as the script says. */
export async function answer(call: RecordedCall, given: AnsweringCall): Promise<CallOutcome> {
  const { request, response } = given;
  // The vendor's way to keep a cache warm: nothing is generated, so no reply of the script is used up.
  const reply = isWarmUp(call.vendor, request.body) ? { stopReason: "max_tokens" } : await given.reply();
  if (reply === null) {
    const message = `fake provider: no scripted reply is left for call ${call.index} (${request.lastUserText.slice(0, 80)})`;
    given.control?.refuse(message);
    sendJson(response, 400, errorBody(call.vendor, "invalid_request_error", message));
    return "failed";
  }
  if (reply.fail?.kind === "status") return sendStatus(call, reply.fail, given);
  const control = given.control ?? (reply.holdAfter === undefined ? null : given.ownGate());
  const stream = begin(call, reply, given);
  const outcome = request.stream
    ? await playStream({ call, reply, given, control, stream })
    : await answerWhole({ call, reply, given, control, stream });
  control?.end(outcome);
  return outcome;
}

interface Performed {
  readonly call: RecordedCall;
  readonly reply: Reply;
  readonly given: AnsweringCall;
  readonly control: GateControl | null;
  readonly stream: ReplyStream;
}

function playStream({ call, reply, given, control, stream }: Performed): Promise<CallOutcome> {
  const sink = responseSink(given.response);
  const held = control ?? createGate();
  endWithCaller(sink, control);
  const player = new Player({
    stream,
    pieces: planReply(reply, given.ids.call),
    stopReason: stopReasonOf(reply),
    failure: streamFailure(reply.fail),
    holdAfter: control === null ? null : (reply.holdAfter ?? 0),
    control: held,
    sink,
  });
  held.begin(call, (delta) => player.emit(delta));
  return player.play();
}

/** The same reply to a request that is not streamed: a hold holds all of it, a failure leaves nothing of it. */
async function answerWhole({ call, reply, given, control, stream }: Performed): Promise<CallOutcome> {
  const { response } = given;
  const sink = responseSink(response);
  endWithCaller(sink, control);
  control?.begin(call, () => undefined);
  const passage = (await control?.pass("last")) ?? { kind: "go" };
  if (passage.kind === "gone") return "caller-gone";
  const failure = passage.kind === "fail" ? passage.failure : reply.fail;
  if (failure !== undefined) return failWhole(call, failure, given, sink);
  stream.start();
  for (const piece of planReply(reply, given.ids.call)) {
    if (piece.kind === "open") stream.open(piece.block);
    else if (piece.kind === "delta") stream.delta(piece.text);
    else stream.close();
  }
  sendJson(response, 200, stream.whole(stopReasonOf(reply)));
  return "answered";
}

async function failWhole(call: RecordedCall, failure: Failure, given: AnsweringCall, sink: Sink): Promise<CallOutcome> {
  if (failure.kind === "status") return sendStatus(call, failure, given);
  if (failure.kind === "error-event") return sendStatus(call, { kind: "status", status: 529 }, given);
  if (failure.kind === "silence") {
    await sink.gone;
    return "caller-gone";
  }
  await sink.destroy();
  return "failed";
}

function sendStatus(
  call: RecordedCall,
  failure: Extract<Failure, { kind: "status" }>,
  given: AnsweringCall,
): CallOutcome {
  const { response, headers } = given;
  for (const [name, value] of Object.entries(failure.headers ?? {})) response.setHeader(name, value);
  const key = failure.echoKey === true ? ` (key: ${keyOf(headers) ?? "none"})` : "";
  const message = `${failure.message ?? `scripted failure ${failure.status}`}${key}`;
  const errorType = failure.errorType ?? errorTypeOf(failure.status);
  given.control?.begin(call, () => undefined);
  sendJson(response, failure.status, failure.body ?? errorBody(call.vendor, errorType, message));
  return "failed";
}

function begin(call: RecordedCall, reply: Reply, given: AnsweringCall): ReplyStream {
  const { request, memory, ids } = given;
  const { input, begun } = given.count(reply.usage);
  const { vendor, mismatchedThinking: mismatched } = call;
  const { body, model } = request;
  const messageId = ids.message(call.index);
  const outputTokens = reply.usage?.output ?? null;
  return countedStream(
    createStream({ vendor, model, body, messageId, input, outputTokens, mismatched, memory }),
    begun,
  );
}

function streamFailure(failure: Failure | undefined): Exclude<Failure, { kind: "status" }> | null {
  return failure === undefined || failure.kind === "status" ? null : failure;
}

/** A held call must notice that its caller went away, or it would be held for ever. */
function endWithCaller(sink: Sink, control: GateControl | null): void {
  void sink.gone.then(() => control?.end("caller-gone"));
}
