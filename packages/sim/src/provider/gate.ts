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
  const hold = new Hold();
  let emitTo: ((delta: EmittedDelta) => void) | null = null;
  return {
    gate: {
      started: started.promise,
      ended: ended.promise,
      step: (deltas) => hold.allow(deltas),
      emit(delta) {
        assert(emitTo !== null && !hold.isOver(), "emit needs a call that has started and not ended");
        emitTo(typeof delta === "string" ? { type: "text", text: delta } : delta);
      },
      release: () => hold.release(),
      fail: (failure) => hold.fail(failure),
    },
    begin(call, emit) {
      emitTo = emit;
      started.resolve(call);
    },
    refuse(problem) {
      started.reject(new Error(`the gated request was refused: ${problem}`));
    },
    end(outcome) {
      ended.resolve(outcome);
      hold.end();
    },
    pass: (what) => hold.pass(what),
  };
}

/** Where a call waits, and what it may do next. */
class Hold {
  #allowance = 0;
  #isReleased = false;
  #isOver = false;
  #forced: Failure | null = null;
  #wake: (() => void) | null = null;
  #onHeld: (() => void)[] = [];

  isOver(): boolean {
    return this.#isOver;
  }

  allow(deltas: number): Promise<void> {
    this.#allowance += deltas;
    return new Promise((resolve) => {
      this.#onHeld.push(resolve);
      if (this.#isOver) this.#tellHeld();
      else this.#stir();
    });
  }

  release(): void {
    this.#isReleased = true;
    this.#stir();
  }

  fail(failure: Failure): void {
    this.#forced = failure;
    this.#stir();
  }

  end(): void {
    this.#isOver = true;
    this.#stir();
    this.#tellHeld();
  }

  async pass(what: "first" | "delta" | "last"): Promise<Passage> {
    for (;;) {
      const granted = this.#passage(what);
      if (granted !== null) return granted;
      this.#tellHeld();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #passage(what: "first" | "delta" | "last"): Passage | null {
    if (this.#isOver) return { kind: "gone" };
    if (this.#forced !== null) return { kind: "fail", failure: this.#forced };
    if (this.#isReleased || (what === "first" && this.#allowance > 0)) return { kind: "go" };
    if (what !== "delta" || this.#allowance === 0) return null;
    this.#allowance -= 1;
    return { kind: "go" };
  }

  #stir(): void {
    this.#wake?.();
    this.#wake = null;
  }

  #tellHeld(): void {
    for (const tell of this.#onHeld) tell();
    this.#onHeld = [];
  }
}
