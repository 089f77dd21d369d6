import type { CommitOutcome, Log } from "@varve/log";
import { type Fault, fault } from "@varve/protocol";
import type { FailurePlan } from "./fail-on.ts";

/**
 * What happens to a commit that fails: the disk refuses it and nothing is written, or it is written and the answer is
 * lost, as when the power goes out between the two.
 */
export type CommitFailure = "refused" | "answer-lost";

/**
 * A log on a disk that fails as planned. Faults of the world are values at this port, so a failed commit answers
 * `failed`; it never rejects.
 */
export function faultyLog(
  log: Log,
  plan: FailurePlan,
  options: { readonly fault?: Fault; readonly failure?: CommitFailure } = {},
): Log {
  const failed: CommitOutcome = {
    kind: "failed",
    fault: options.fault ?? fault("disk-full", "The disk is full.", "Nothing was written; make room and try again."),
  };
  const commit: Log["commit"] = async (fence, batch) => {
    if (!plan.next()) return log.commit(fence, batch);
    if (options.failure === "answer-lost") await log.commit(fence, batch);
    return failed;
  };
  return new Proxy(log, {
    get(target, name) {
      if (name === "commit") return commit;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
