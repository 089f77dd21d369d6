/**
 * Commands whose answer is awaited. Each is answered exactly once: by the server's `ack` or `err`, or as lost when the
 * connection ends first (then nobody knows whether it took effect, and what the tab shows after the next head tells).
 */
import type { AckFrame, ErrFrame, ErrorBody } from "@varve/protocol";
import { errorCode } from "./decode.ts";

/** Answers awaited at once; a further command is answered as lost without being sent. */
export const requestsMax = 1000;

export type Reply =
  | { readonly kind: "ack"; readonly frame: AckFrame }
  | { readonly kind: "err"; readonly error: ErrorBody }
  | { readonly kind: "lost" };

export class Requests {
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #last = 0;

  /** The number to send as `re`, or null at the limit. */
  open(answered: (reply: Reply) => void): number | null {
    if (this.#waiting.size >= requestsMax) return null;
    this.#last += 1;
    this.#waiting.set(this.#last, answered);
    return this.#last;
  }

  /** For commands that are answered by another frame than `ack`. */
  done(re: number): void {
    this.#waiting.delete(re);
  }

  take(frame: AckFrame | ErrFrame): void {
    if (frame.re === undefined) return;
    const answered = this.#waiting.get(frame.re);
    this.#waiting.delete(frame.re);
    answered?.(frame.type === "ack" ? { kind: "ack", frame } : { kind: "err", error: errorOf(frame) });
  }

  loseAll(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const answered of waiting) answered({ kind: "lost" });
  }
}

const errorOf = (frame: ErrFrame): ErrorBody => ({
  code: errorCode(frame.code),
  message: frame.message,
  ...(frame.hint === undefined ? {} : { hint: frame.hint }),
});

export const notConnected: ErrorBody = {
  code: "log-unavailable",
  message: "There is no connection to the server; nothing was changed.",
  hint: "Try again when the connection is back.",
};
export const connectionLost: ErrorBody = {
  code: "log-unavailable",
  message: "The connection was lost before the server answered.",
  hint: "What is shown after reconnecting is what holds; try again if the change is not there.",
};
