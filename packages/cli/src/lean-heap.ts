/**
 * Keeps what the engine sets aside in proportion to what the server holds. Left alone it takes the garbage of the start for
 * live memory, collects late ever after, and lets the space for young objects grow to many times of what helps: a server that
 * holds 25 MiB comes to stand at 160 and more. Costs nothing that could be measured in a long job.
 */
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Both halves of the space for young objects: doubling this saves little time and costs twice the memory. */
const youngBytesMax = 8 * 1024 * 1024;
/** From here on the garbage that may gather before a collection is half of what is held; below, the engine's own choice. */
const largeBytes = 48 * 1024 * 1024;
const largeGrowthPercent = 50;

/** Once, when the server listens. Does not keep the process alive. */
export function keepHeapLean(): void {
  collect();
  // Both are read by the engine each time it would grow. One is no growth, two is its own default; no percent is its own rule.
  const young = switched((may) => `--semi-space-growth-factor=${may ? 2 : 1}`, true);
  const old = switched((large) => `--heap-growing-percent=${large ? largeGrowthPercent : 0}`, false);
  // The space grows at collections, so it is looked at behind each, and never while nothing happens.
  const look = (): void => {
    young(youngBytes() * 2 <= youngBytesMax);
    old(getHeapStatistics().used_heap_size > largeBytes);
  };
  look();
  new PerformanceObserver(look).observe({ entryTypes: ["gc"] });
}

/** Sets a flag of the engine when its state changes. */
function switched(flag: (state: boolean) => string, before: boolean): (state: boolean) => void {
  let now = before;
  return (state) => {
    if (state === now) return;
    now = state;
    setFlagsFromString(flag(state));
  };
}

/** The first collection is what the engine's later ones go by. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("globalThis.gc");
  setFlagsFromString("--no-expose-gc");
  if (typeof gc === "function") gc();
}

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
