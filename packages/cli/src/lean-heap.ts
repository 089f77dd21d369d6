/**
 * Keeps what the engine sets aside in proportion to what the server holds. Left alone it takes the garbage of the start for
 * live memory, collects late ever after, and lets the space for young objects grow to many times of what helps: a server that
 * holds 25 MiB comes to stand at 160 and more. Costs nothing that could be measured in a long job.
 */
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Both halves of the space for young objects: doubling this saves little time and costs twice the memory. */
const youngBytesMax = 8 * 1024 * 1024;

/** Once, when the server listens. Does not keep the process alive. */
export function keepHeapLean(): void {
  collect();
  let grows = true;
  // The space grows at collections, so it is looked at behind each, and never while nothing happens.
  const look = (): void => {
    const mayGrow = youngBytes() * 2 <= youngBytesMax;
    if (mayGrow === grows) return;
    grows = mayGrow;
    // Read by the engine each time it would grow: one is no growth, two is its own default.
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
  };
  look();
  new PerformanceObserver(look).observe({ entryTypes: ["gc"] });
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
