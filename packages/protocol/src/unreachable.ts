/** Ends a `switch` over a closed union: the compiler refuses it when a variant was forgotten. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/** An assertion that stays on in production. A failure is a mistake of ours: it stops one tab, with its evidence. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionFault(message);
}

export class AssertionFault extends Error {
  override readonly name = "AssertionFault";
}
