/** A promise of the product that did not hold. Ends the run; `rule` names which, `what` says what was seen. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly rule: string;

  constructor(rule: string, what: string) {
    super(`${rule}: ${what}`);
    this.rule = rule;
  }
}

export function must(holds: boolean, rule: string, what: () => string): asserts holds {
  if (!holds) throw new Violation(rule, what());
}
