import { type Log, memoryLog } from "@varve/log";

/** A log whose commits and claims wait while it is held, as a database does that another program has locked. */
export function heldLog(): { readonly log: Log; hold(): () => void } {
  const inner = memoryLog();
  let held: Promise<void> | null = null;
  const commit: Log["commit"] = async (fence, batch) => {
    await held;
    return inner.commit(fence, batch);
  };
  const claim: Log["claim"] = async (tab, now) => {
    await held;
    return inner.claim(tab, now);
  };
  const log = new Proxy(inner, {
    get(target, name) {
      if (name === "commit") return commit;
      if (name === "claim") return claim;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const hold = (): (() => void) => {
    let letGo = (): void => undefined;
    held = new Promise((resolve) => {
      letGo = resolve;
    });
    return () => {
      held = null;
      letGo();
    };
  };
  return { log, hold };
}
