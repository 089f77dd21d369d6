import type { Clock, TabId } from "@varve/protocol";
import type { ClientPorts } from "./client.ts";
import type { TabView, ViewStep } from "./tab-view.ts";

/** What the parts that drive one tab share: the view as it is now, and the ways to change it and to ask the server. */
export interface TabStage {
  readonly tabId: TabId;
  /** Read anew after every await: anything may have changed meanwhile. */
  readonly view: () => TabView;
  readonly take: (step: ViewStep) => void;
  /** Resolves with the next head, or at once when none can come. */
  readonly headComes: () => Promise<void>;
  readonly live: () => boolean;
  readonly closed: () => boolean;
  readonly rest: ClientPorts["rest"];
  readonly clock: Clock;
}
