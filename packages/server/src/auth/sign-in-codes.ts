/** One-time codes: short-lived, used once, held in memory as hashes. Tries are limited, so that guessing is hopeless. */
import { type Clock, type Fault, fault, type RandomBytes } from "@varve/protocol";
import { hashOf, newSecret } from "./secrets.ts";

/** A code lives this long. */
const codeMs = 15 * 60_000;
/** Unused codes held; an older one gives way. */
const codesMax = 20;
/** Wrong codes within the window; then every sign-in waits for its end. */
const failuresMax = 10;
const failureWindowMs = 60_000;

export class SignInCodes {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  /** Hash of a code -> when it ends. */
  readonly #codes = new Map<string, number>();
  #failures: number[] = [];

  constructor(ports: { readonly clock: Clock; readonly random: RandomBytes }) {
    this.#clock = ports.clock;
    this.#random = ports.random;
  }

  make(): string {
    const code = newSecret(this.#random);
    this.#codes.set(hashOf(code), this.#clock.now() + codeMs);
    for (const oldest of this.#codes.keys()) {
      if (this.#codes.size <= codesMax) break;
      this.#codes.delete(oldest);
    }
    return code;
  }

  /** Null when the code was good; it is used up then. Nobody's wrong codes keep the right one out. */
  use(code: string): Fault | null {
    const now = this.#clock.now();
    const hash = hashOf(code);
    const ends = this.#codes.get(hash);
    this.#codes.delete(hash);
    if (ends !== undefined && now < ends) return null;
    this.#failures = this.#failures.filter((at) => now - at < failureWindowMs);
    if (this.#failures.length >= failuresMax) {
      return fault("too-many-attempts", "Too many wrong sign-in codes.", "Wait a minute and use a new link.");
    }
    this.#failures.push(now);
    return fault(
      "bad-link",
      "This sign-in link is used up or too old.",
      "Run `varve link` (or start Varve again) on the server's machine for a new one.",
    );
  }
}
