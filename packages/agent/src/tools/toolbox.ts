/** All tools over one world, and what they remember of each tab. */
import { assert, type TabId } from "@varve/protocol";
import { askTool } from "./ask.ts";
import { bashTool } from "./bash.ts";
import type { TabMemory, ToolBoxOptions, ToolContext } from "./context.ts";
import { editTool } from "./edit.ts";
import { fetchTool } from "./fetch.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { jobTool } from "./job.ts";
import { JobTable } from "./job-table.ts";
import { KnownFiles } from "./known-files.ts";
import { listTool } from "./list.ts";
import type { ToolOperations } from "./operations.ts";
import { patchTool } from "./patch.ts";
import { endTree } from "./process-tree.ts";
import { readTool } from "./read.ts";
import { recallTool } from "./recall.ts";
import { homeMark } from "./shell-task.ts";
import { todoTool } from "./todo.ts";
import type { Tool, ToolBox } from "./tool.ts";
import { writeTool } from "./write.ts";

export function createToolBox(operations: ToolOperations, options: ToolBoxOptions = {}): ToolBox {
  const tabs = new Map<TabId, TabMemory>();
  const context: ToolContext = {
    operations,
    options,
    memory: (tabId) => {
      const kept = tabs.get(tabId) ?? { known: new KnownFiles(), jobs: new JobTable(operations) };
      tabs.set(tabId, kept);
      return kept;
    },
  };
  const tools: readonly Tool[] = [
    askTool(),
    bashTool(context),
    editTool(context),
    fetchTool(context),
    globTool(context),
    grepTool(context),
    jobTool(context),
    listTool(context),
    patchTool(context),
    readTool(context),
    recallTool(),
    todoTool(),
    writeTool(context),
  ];
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  assert(byName.size === tools.length, "each tool has a name of its own");
  const forget = async (tabId: TabId): Promise<void> => {
    const kept = tabs.get(tabId);
    tabs.delete(tabId);
    await kept?.jobs.close();
  };
  return {
    definitions: tools.map(({ definition }) => definition).sort((a, b) => (a.name < b.name ? -1 : 1)),
    get: (name) => byName.get(name),
    closePlace: async (tabId, outputs = "drop") => {
      await forget(tabId);
      if (outputs === "drop") await operations.files.dropSpills(tabId);
      await operations.sandbox?.dropTemporary(tabId);
    },
    // Spill files stay: results that name them are still in the logs when a server starts again.
    close: async () => {
      await Promise.all([...tabs.keys()].map(forget));
      await operations.sandbox?.close();
    },
  };
}

/**
 * Ends what an earlier server of the same home left running when it was killed. To be called once at start, before any
 * tool runs: only one server has a home, so everything with its mark is left over. Where the system can't tell, nothing is.
 */
export const endOrphans = (operations: ToolOperations, home: string): Promise<void> =>
  endTree(operations, `${homeMark(home)}.`, null);
