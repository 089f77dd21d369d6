/** The list of tabs as the workspace feed tells it: a register per tab, the last record wins. */
import type { TabId, TabRecord, WorkspaceFrame } from "@varve/protocol";

export interface Workspace {
  readonly boot: string;
  readonly n: number;
  /** In the order in which the server first named them. */
  readonly tabs: readonly TabRecord[];
}

/** A partial frame that is late, or of another boot than the list, changes nothing: a full one comes with each start. */
export function takeWorkspace(held: Workspace | undefined, frame: WorkspaceFrame): Workspace | undefined {
  if (frame.full) return { boot: frame.boot, n: frame.n, tabs: frame.tabs };
  if (held === undefined || frame.boot !== held.boot || frame.n <= held.n) return held;
  const purged = new Set<TabId>(frame.purged);
  const news = new Map(frame.tabs.map((tab) => [tab.id, tab]));
  const known = new Set(held.tabs.map((tab) => tab.id));
  const kept = held.tabs.filter((tab) => !purged.has(tab.id)).map((tab) => news.get(tab.id) ?? tab);
  const added = frame.tabs.filter((tab) => !known.has(tab.id) && !purged.has(tab.id));
  return { boot: frame.boot, n: frame.n, tabs: [...kept, ...added] };
}
