/** How a check ends early. */

/** A limit would be passed: nothing was sent, and nothing more is. */
export class LimitReached extends Error {
  override readonly name = "LimitReached";
}

/** A request that a check needs was refused, broke off, or would be too long to be sent. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
}
