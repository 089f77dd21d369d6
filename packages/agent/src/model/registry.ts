import type { Clock } from "@varve/protocol";
import type { ModelRegistry } from "./model.ts";

export interface RegistryOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  /** Silence of a stream after which it counts as cut. Default 120 s. */
  readonly idleMs?: number;
  /** Pause between two deltas of the demo model. Default 12 ms; 0 in tests. */
  readonly demoDelayMs?: number;
}

export function createModelRegistry(_options: RegistryOptions): ModelRegistry {
  throw new Error("createModelRegistry is being written");
}
