/** When a failed step is tried again, and how long that waits. Pure. */
import type { TurnLimits } from "./limits.ts";
import type { ModelFailure } from "./model/model.ts";

export type RetryPlan =
  | { readonly kind: "retry"; readonly waitMs: number; readonly attempt: number }
  /** `why` is a sentence for the person, null when the failure says all. */
  | { readonly kind: "final"; readonly why: string | null };

/** `retries` counts the retries of this step so far; `random` is uniform in [0, 1) and spreads clients apart. */
export function planRetry(failure: ModelFailure, retries: number, options: RetryOptions): RetryPlan {
  const { limits, random } = options;
  if (failure.retry === null) return { kind: "final", why: null };
  if (retries >= limits.retriesMax) {
    return { kind: "final", why: `Tried ${retries + 1} times.` };
  }
  const asked = failure.retry.afterMs;
  if (asked !== null && asked > limits.retryAfterMaxMs) {
    return { kind: "final", why: `The provider asks to wait ${Math.ceil(asked / 60_000)} minutes.` };
  }
  const backOff = Math.min(limits.retryWaitMaxMs, limits.retryWaitMs * 2 ** retries);
  const spread = Math.round(backOff * 0.25 * random);
  // A wait that was asked for is a lower bound: coming a little later is polite, coming earlier is refused.
  const waitMs = asked === null ? backOff + spread : asked + Math.min(spread, 500);
  return { kind: "retry", waitMs, attempt: retries + 1 };
}

export interface RetryOptions {
  readonly limits: Pick<TurnLimits, "retriesMax" | "retryWaitMs" | "retryWaitMaxMs" | "retryAfterMaxMs">;
  readonly random: number;
}
