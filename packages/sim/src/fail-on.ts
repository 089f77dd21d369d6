import { assert } from "@varve/protocol";

/** Which calls fail, counted from 1 over the whole life of the plan. */
export interface FailurePlan {
  /** Counts one call; true if it shall fail. */
  next(): boolean;
  readonly calls: () => number;
  readonly failures: () => number;
}

/** Every k-th call fails. */
export function failOn(every: number): FailurePlan {
  assert(Number.isInteger(every) && every > 0, "failOn counts from 1");
  return failWhen((call) => call % every === 0);
}

/** Exactly the calls with these numbers fail. */
export function failAt(...numbers: readonly number[]): FailurePlan {
  return failWhen((call) => numbers.includes(call));
}

export function failWhen(shallFail: (call: number) => boolean): FailurePlan {
  let calls = 0;
  let failures = 0;
  return {
    next() {
      calls += 1;
      const fails = shallFail(calls);
      if (fails) failures += 1;
      return fails;
    },
    calls: () => calls,
    failures: () => failures,
  };
}

/**
 * The same port, but the named asynchronous methods reject as the plan says, before the real method is called: a disk
 * that refuses a write has not written it.
 */
export function failingPort<Port extends object>(
  port: Port,
  methods: readonly (keyof Port)[],
  options: { readonly plan: FailurePlan; readonly error?: () => Error },
): Port {
  const error = options.error ?? (() => Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const isNamed = methods.some((method) => method === name);
      return (...args: unknown[]): unknown =>
        isNamed && options.plan.next() ? Promise.reject(error()) : Reflect.apply(value, target, args);
    },
  });
}
