/** One-time codes: short-lived, used once, held in memory as hashes. Tries are limited, so that guessing is hopeless. */
import { isIP } from "node:net";
import { type Clock, type Fault, fault, type RandomBytes } from "@varve/protocol";
import { hashOf, newSecret } from "./secrets.ts";

/** A code lives this long. */
const codeMs = 15 * 60_000;
/** Unused codes held; an older one gives way. */
const codesMax = 20;
/** Wrong codes of one caller within the window; then each further one of it is refused until the window is over. */
const failuresMax = 10;
/** The same for all callers together: whoever has many addresses gains nothing, and no more of them are remembered. */
const failuresOfAllMax = 100;
const failureWindowMs = 60_000;

export class SignInCodes {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  /** Hash of a code -> when it ends. */
  readonly #codes = new Map<string, number>();
  #failures: readonly { readonly at: number; readonly caller: string }[] = [];

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

  /** When a code that is made now ends. */
  endsAt(): number {
    return this.#clock.now() + codeMs;
  }

  /** Null when the code was good; it is used up then. Nobody's wrong codes keep the right one out. `client`: its address. */
  use(code: string, client: string): Fault | null {
    const now = this.#clock.now();
    const hash = hashOf(code);
    const ends = this.#codes.get(hash);
    this.#codes.delete(hash);
    if (ends !== undefined && now < ends) return null;
    const caller = networkOf(client);
    this.#failures = this.#failures.filter(({ at }) => now - at < failureWindowMs);
    const own = this.#failures.filter((failure) => failure.caller === caller);
    if (own.length >= failuresMax || this.#failures.length >= failuresOfAllMax) {
      return fault("too-many-attempts", "Too many wrong sign-in codes.", "Wait a minute and use a new link.");
    }
    this.#failures = [...this.#failures, { at: now, caller }];
    return fault(
      "bad-link",
      "This sign-in link is used up or too old.",
      "Run `varve link` (or start Varve again) on the server's machine for a new one.",
    );
  }
}

/** One household has a whole IPv6 network of 64 bits: it counts as one caller. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [left = "", right] = address.split("::");
  const groups = [left, right ?? ""].map((side) => side.split(":").filter((group) => group !== ""));
  const [head = [], tail = []] = groups;
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length;
  const all = [...head, ...Array<string>(Math.max(0, zeros)).fill("0"), ...tail];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
