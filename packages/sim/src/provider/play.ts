import { assert, unreachable } from "@varve/protocol";
import type { EmittedDelta, GateControl } from "./gate.ts";
import type { CallOutcome } from "./recorded-call.ts";
import type { OpenBlock, Piece } from "./reply-plan.ts";
import type { ReplyStream } from "./reply-stream.ts";
import type { Failure, FailurePoint } from "./script.ts";

/** Where an answer goes: the rim of the server. After `gone` every call does nothing. */
export interface Sink {
  /** Sends the 200 header of an event stream. */
  openStream(): void;
  /** Resolves when the caller has taken enough to go on. */
  write(text: string): Promise<void>;
  end(): void;
  /** Cuts the connection once everything that was written has left. */
  destroy(): Promise<void>;
  readonly gone: Promise<void>;
  isGone(): boolean;
}

export interface Performance {
  readonly stream: ReplyStream;
  readonly pieces: readonly Piece[];
  readonly stopReason: string;
  readonly failure: Exclude<Failure, { kind: "status" }> | null;
  /** Deltas after which the call is held; 0 holds it before the first byte. Null: never held. */
  readonly holdAfter: number | null;
  readonly control: GateControl;
  readonly sink: Sink;
}

/** The part of a call that speaks: `play` performs the script, `emit` says what the test adds. */
export interface Player {
  play(): Promise<CallOutcome>;
  emit(delta: EmittedDelta): void;
}

/** Performs a streamed reply: scripted pieces, holds of the gate, and a failure at its point. */
export function createPlayer(show: Performance): Player {
  const { stream, sink, control } = show;
  let begun = false;
  let sent = 0;
  /** The script's open block, and whether the test has since opened one of its own over it. */
  let scripted: OpenBlock | null = null;
  let strayed = false;

  const begin = (withStart: boolean): string => {
    if (begun) return "";
    begun = true;
    sink.openStream();
    return withStart ? stream.start() : "";
  };
  const strike = (failure: Failure): Promise<CallOutcome> =>
    failAt(
      failure,
      sink,
      (errorType, message) => begin(failurePoint(failure) !== "request") + stream.error(errorType, message),
    );
  /** The outcome if the call ends here, null if it may go on. */
  const hold = async (what: "first" | "delta" | "last"): Promise<CallOutcome | null> => {
    if (sink.isGone()) return "caller-gone";
    if (show.holdAfter === null || sent < show.holdAfter) return null;
    const passage = await control.pass(what);
    if (passage.kind === "fail") return strike(passage.failure);
    return passage.kind === "gone" ? "caller-gone" : null;
  };
  const due = (point: FailurePoint): Failure | null =>
    show.failure !== null && failurePoint(show.failure) === point ? show.failure : null;

  const perform = async (piece: Piece): Promise<CallOutcome | null> => {
    if (piece.kind !== "delta") {
      scripted = piece.kind === "open" ? piece.block : null;
      strayed = false;
      await sink.write(piece.kind === "open" ? stream.open(piece.block) : stream.close());
      return null;
    }
    const over = await hold("delta");
    if (over !== null) return over;
    const reopened = strayed && scripted !== null ? stream.open(scripted) : "";
    strayed = false;
    await sink.write(reopened + stream.delta(piece.text));
    sent += 1;
    const failure = due(sent);
    return failure === null ? null : strike(failure);
  };

  return {
    async play() {
      const early = (await hold("first")) ?? (await strikeIf(due("request")));
      if (early !== null) return early;
      await sink.write(begin(true));
      const atStart = await strikeIf(due("start") ?? due(0));
      if (atStart !== null) return atStart;
      for (const piece of show.pieces) {
        const over = await perform(piece);
        if (over !== null) return over;
      }
      const late = (await hold("last")) ?? (await strikeIf(show.failure));
      if (late !== null) return late;
      await sink.write(stream.finish(show.stopReason));
      sink.end();
      return sink.isGone() ? "caller-gone" : "answered";
    },
    emit(delta) {
      const started = begin(true);
      const opens = stream.openType() !== delta.type;
      assert(!opens || scripted?.type !== "tool_use", "emit cannot open a block inside a tool call");
      strayed ||= opens;
      void sink.write(started + (opens ? stream.open(blockFor(delta)) : "") + stream.delta(delta.text));
    },
  };

  async function strikeIf(failure: Failure | null): Promise<CallOutcome | null> {
    return failure === null ? null : strike(failure);
  }
}

function failurePoint(failure: Failure): FailurePoint {
  return failure.kind === "status" ? "request" : (failure.at ?? "start");
}

function blockFor(delta: EmittedDelta): OpenBlock {
  switch (delta.type) {
    case "text":
      return { type: "text" };
    case "thinking":
      return { type: "thinking", signature: undefined };
    case "tool_use":
      throw new Error("emit can only go on with a tool call that the script has opened");
    default:
      return unreachable(delta.type);
  }
}

/** Ends a call in the way of the failure. `errorEvent` makes the text of an error event, with the header if it is due. */
async function failAt(
  failure: Failure,
  sink: Sink,
  errorEvent: (errorType: string, message: string) => string,
): Promise<CallOutcome> {
  switch (failure.kind) {
    case "error-event":
      await sink.write(errorEvent(failure.errorType ?? "overloaded_error", failure.message ?? "Overloaded"));
      sink.end();
      return "failed";
    case "cut":
      await sink.destroy();
      return "failed";
    case "clean-end":
      sink.openStream();
      sink.end();
      return "failed";
    case "silence":
      await sink.gone;
      return "caller-gone";
    case "status":
      throw new Error("a status can only be scripted, before anything is sent");
    default:
      return unreachable(failure);
  }
}
