import type { Fault } from "@varve/protocol";

/**
 * A fault in a read whose answer has no room for one (`tab`, `row`, `setting` ...). The promise is rejected with this;
 * whoever stands at the rim answers with the `fault` inside.
 */
export class FaultError extends Error {
  override readonly name = "FaultError";
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}
