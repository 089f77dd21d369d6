/** What every tool is made over: the world, the settings of the box, and what it remembers of each tab. */
import type { TabId } from "@varve/protocol";
import type { JobTable } from "./job-table.ts";
import type { KnownFiles } from "./known-files.ts";
import type { ToolOperations } from "./operations.ts";

export interface ToolBoxOptions {
  /** Private hosts that `fetch` may reach: `host` or `host:port`, as in the URL. None unless said. Read for each request. */
  readonly privateHosts?: readonly string[] | (() => readonly string[]);
}

/** Lives from a tab's first call until its place is closed. */
export interface TabMemory {
  readonly known: KnownFiles;
  readonly jobs: JobTable;
}

export interface ToolContext {
  readonly operations: ToolOperations;
  readonly options: ToolBoxOptions;
  memory(tabId: TabId): TabMemory;
}
