/**
 * Behind the last fault: whether everybody shows what the disk holds, with nothing under way. Answers with the first thing that
 * is not so, for that is what a run that never comes to rest has to tell.
 */
import type { TabSnapshot } from "@varve/client";
import type { TabId } from "@varve/protocol";
import { toTravelling } from "@varve/protocol";
import type { Page } from "./page.ts";
import { rowText } from "./truth.ts";
import type { World } from "./world.ts";

export function whatIsLeft(world: World): string | null {
  if (world.server === null || !world.server.listens) return "the server is not up";
  for (const { name, page } of world.devices) {
    if (page === null) return `${name} has no page`;
    const { kind } = page.client.connection();
    if (kind !== "live") return `${name} is ${kind}`;
    for (const [tab, { handle }] of page.shown) {
      const left = differs(world, tab, handle.snapshot()) ?? outOfStep(world, page, tab);
      if (left !== null) return `${name} on ${tab}: ${left}`;
    }
  }
  return null;
}

function differs(world: World, tab: TabId, snapshot: TabSnapshot): string | null {
  const { truth } = world.disk;
  const logId = truth.tabs.get(tab)?.logId;
  if (logId === undefined) return "the tab is gone";
  if (truth.tabs.get(tab)?.trashedAt !== null) return "it is in the trash";
  const { rows, open, queue, pending, status, window } = snapshot;
  const tail = truth.tailOf(logId);
  const turn = truth.openTurn(logId);
  if (turn !== null) return `turn ${turn} has no end`;
  if (!snapshot.ready || snapshot.logId !== logId) return `it stands on log ${snapshot.logId}, the tab on ${logId}`;
  if (status.turnId !== null || (status.state !== "idle" && status.state !== "error")) return `it is ${status.state}`;
  if (status.fault !== undefined) return `it shows the fault ${status.fault.code}`;
  if (open.length > 0) return `${open.length} blocks are open`;
  const under = pending.filter((entry) => entry.state !== "refused");
  if (under.length > 0) return `${under.map(({ id, state }) => `${id} (${state})`)} of its outbox are under way`;
  if (window.tail !== tail || window.hi !== tail) return `its window ends at ${window.hi}/${window.tail} of ${tail}`;
  for (const row of rows) {
    const stored = truth.rowAt(logId, row.seq);
    if (stored === undefined || rowText(toTravelling(stored, tab)) !== rowText(row)) return `row ${row.seq} is another`;
  }
  const waiting = truth.waiting(tab).map(({ id, version, state, data }) => `${id} ${version} ${state} ${data.text}`);
  const shown = queue.map(({ id, version, state, data }) => `${id} ${version} ${state} ${data.text}`);
  if (waiting.join("|") !== shown.join("|")) return `its queue is ${shown.join("|")}, the tab's ${waiting.join("|")}`;
  const loose = truth.waiting(tab).find((record) => record.state === "queued");
  return loose === undefined ? null : `${loose.id} waits although the tab is at rest`;
}

/** The list of tabs tells the same as the tab itself. */
function outOfStep(world: World, page: Page, tab: TabId): string | null {
  const record = page.client.tabs()?.find(({ id }) => id === tab);
  const own = world.disk.truth.tabs.get(tab);
  if (record === undefined || own === undefined) return "it is not in the list of tabs";
  const told = `${record.logId} ${record.tail} ${record.queued} ${record.state === "running"}`;
  const is = `${own.logId} ${own.tail} ${world.disk.truth.waiting(tab).length} false`;
  return told === is ? null : `the list tells ${told}, it is ${is}`;
}

/** What the server counted of windows that did not agree with its rows, since it began. */
export const mismatches = (world: World): number => world.server?.workspace?.counters().digestMismatches ?? 0;

/** The log that the product would find, against the oracle: what was written is there, byte for byte, and nothing else. */
export async function storedProblem(world: World): Promise<string | null> {
  const { truth } = world.disk;
  for (const tab of truth.tabs.values()) {
    const page = await world.ask((workspace) => workspace.page(tab.id, { limit: 500 }));
    if (page === null || "kind" in page) return `the rows of ${tab.id} cannot be read: ${JSON.stringify(page)}`;
    for (const row of page.chunks) {
      const stored = truth.rowAt(tab.logId, row.seq);
      if (stored === undefined || rowText(toTravelling(stored, tab.id)) !== rowText(row))
        return `row ${row.seq} of ${tab.id}`;
    }
    const below = Math.min(truth.tailOf(tab.logId), 500);
    if (page.tail !== truth.tailOf(tab.logId)) return `${tab.id} has ${page.tail} rows, written were ${below}`;
  }
  return null;
}
