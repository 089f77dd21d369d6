import type { TabRecord } from "@varve/protocol";
import { createContext } from "svelte";
import type { OpenTab } from "../state/open-tab.svelte.ts";

/** What everything inside one tab may need: its rows and handle, and its record in the tab list. */
export interface TabContext {
  readonly tab: OpenTab;
  readonly record: () => TabRecord;
}

export const [getTabContext, setTabContext] = createContext<TabContext>();
