/** What a turn needs of the world. Composed once per tab by its owner; tests pass fakes. */
import type { BlobStore } from "@varve/log";
import type { Clock, IdMaker } from "@varve/protocol";
import type { Alarm, Folder } from "@varve/wire";
import type { TurnLimits } from "./limits.ts";
import type { ModelRegistry } from "./model/model.ts";
import type { Decide, PermissionContext } from "./permission/decide-contract.ts";
import type { ToolBox, ToolPlace } from "./tools/tool.ts";

/** What was spent so far and what may be, in US dollars; `unpriced` counts requests whose price is not known. */
export interface Spending {
  /** The tab with all its children. */
  readonly tab: Spent;
  /** Today, all tabs of this server. What was allowed before `from`, its first millisecond, was allowed for another day. */
  readonly day: Spent & { readonly from?: number };
  /** Requests of one turn; the port's `limits.stepsMax` when the tab sets none. */
  readonly stepsMax: number;
}
export interface Spent {
  readonly price: number;
  readonly unpriced: number;
  readonly max: number | null;
}

export interface TurnPorts {
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly tools: ToolBox;
  readonly place: ToolPlace;
  readonly blobs: BlobStore;
  /** The tab's own, kept between turns as long as its rows are held. */
  readonly folder: Folder;
  readonly models: Pick<ModelRegistry, "resolve" | "redact">;
  readonly decide: Decide;
  /** Read when a call is about to run, so that a change of mode holds at once. What was granted is read from the rows. */
  readonly permission: () => Pick<PermissionContext, "mode" | "rules" | "shell">;
  /** Read before each request, so that a raised limit holds at once. */
  readonly spending: () => Spending;
  /** Read before each request: when a tab compacts by itself. */
  readonly autoCompact: () => { readonly on: boolean; readonly share: number };
  readonly limits?: Partial<TurnLimits>;
  /** Uniform in [0, 1); spreads retries. Absent: none. */
  readonly random?: () => number;
  /** A request that breaks its own rules ends the turn (true, in tests) or is sent with a notice (false). */
  readonly strict?: boolean;
  /** What a fold found in the log that should not be there. Told once per request. */
  readonly alarm?: (alarm: Alarm) => void;
}
