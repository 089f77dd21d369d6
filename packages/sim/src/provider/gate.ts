import { assert } from "@varve/protocol";
import { deferred } from "../deferred.ts";
import type { CallOutcome, RecordedCall } from "./recorded-call.ts";
import type { Failure } from "./script.ts";

/** A delta made up by the test; it goes into the open block if that has the type, else into a block of its own. */
export interface EmittedDelta {
  readonly type: "text" | "thinking" | "tool_use";
  readonly text: string;
}

/**
 * The test's hand on one call. A gated call says nothing by itself: the test lets it go on by deltas or to its end, and
 * so never waits for time to pass.
 */
export interface Gate {
  /** The call, once it has arrived and its reply is known. Rejects if the request was refused. */
  readonly started: Promise<RecordedCall>;
  readonly ended: Promise<CallOutcome>;
  /** Lets so many deltas of the scripted reply out; resolves when they are sent and the call is held again, or ended. */
  step(deltas: number): Promise<void>;
  /** Sends text that is not in the script. Only while the call is held. */
  emit(delta: string | EmittedDelta): void;
  /** Lets out all the rest. */
  release(): void;
  /** Ends the call here, in the way of the failure. */
  fail(failure: Failure): void;
}

export type Passage = { readonly kind: "go" } | { readonly kind: "gone" } | { readonly kind: "fail"; failure: Failure };

/** The server's side of a gate. */
export interface GateControl {
  readonly gate: Gate;
  begin(call: RecordedCall, emit: (delta: EmittedDelta) => void): void;
  refuse(problem: string): void;
  end(outcome: CallOutcome): void;
  /** Waits until something may be said: one delta (`delta`, counted), the opening (`first`), or the closing (`last`). */
  pass(what: "first" | "delta" | "last"): Promise<Passage>;
}

export function createGate(): GateControl {
  const started = deferred<RecordedCall>();
  const ended = deferred<CallOutcome>();
  let emitTo: ((delta: EmittedDelta) => void) | null = null;
  let allowance = 0;
  let released = false;
  let forced: Failure | null = null;
  let isOver = false;
  let wake: (() => void) | null = null;
  let onHeld: (() => void)[] = [];

  const passage = (what: "first" | "delta" | "last"): Passage | null => {
    if (isOver) return { kind: "gone" };
    if (forced !== null) return { kind: "fail", failure: forced };
    if (released || (what === "first" && allowance > 0)) return { kind: "go" };
    if (what !== "delta" || allowance === 0) return null;
    allowance -= 1;
    return { kind: "go" };
  };
  const stir = (): void => {
    wake?.();
    wake = null;
  };
  const tellHeld = (): void => {
    for (const tell of onHeld) tell();
    onHeld = [];
  };

  return {
    gate: {
      started: started.promise,
      ended: ended.promise,
      step(deltas) {
        allowance += deltas;
        return new Promise((resolve) => {
          onHeld.push(resolve);
          if (isOver) tellHeld();
          else stir();
        });
      },
      emit(delta) {
        assert(emitTo !== null && !isOver, "emit needs a call that has started and not ended");
        emitTo(typeof delta === "string" ? { type: "text", text: delta } : delta);
      },
      release() {
        released = true;
        stir();
      },
      fail(failure) {
        forced = failure;
        stir();
      },
    },
    begin(call, emit) {
      emitTo = emit;
      started.resolve(call);
    },
    refuse(problem) {
      started.reject(new Error(`the gated request was refused: ${problem}`));
    },
    end(outcome) {
      isOver = true;
      ended.resolve(outcome);
      stir();
      tellHeld();
    },
    async pass(what) {
      for (;;) {
        const granted = passage(what);
        if (granted !== null) return granted;
        tellHeld();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
