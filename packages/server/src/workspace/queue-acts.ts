/** Acts on messages that wait, inside the tab's mailbox: change, remove, and what became of one that waits no more. */
import type { InboxWrite } from "@varve/log";
import type { Accepted, ChunkId, Fault, QueuedMessage, QueuePatch } from "@varve/protocol";
import { notWaiting, outcomeFault, trashed, withCurrent } from "./act-faults.ts";
import { positionsWith } from "./queue-position.ts";
import { refuse } from "./refuse.ts";
import { queuedOf, type TabCore } from "./tab-core.ts";
import type { QueueFault } from "./workspace-contract.ts";

/** Changes a waiting message, on the version that the patch names. */
export async function patchInside(core: TabCore, id: ChunkId, patch: QueuePatch): Promise<QueuedMessage | QueueFault> {
  const current = core.feed.queued(id);
  if (current === undefined) return notWaiting(id);
  if (patch.state === "queued" && core.tab.trashedAt !== null) return trashed();
  const wrong = patch.text === undefined ? null : refuse({ ...current.data, text: patch.text });
  if (wrong !== null) return wrong;
  const queue = core.feed.queue();
  const positions = patch.before === undefined ? null : positionsWith(queue, id, patch.before);
  const position = positions?.get(id);
  const change: InboxWrite = {
    write: "change",
    id,
    version: patch.version,
    ...(patch.text !== undefined && { data: { ...current.data, text: patch.text } }),
    ...(patch.delivery !== undefined && { delivery: patch.delivery }),
    ...(patch.state !== undefined && { state: patch.state }),
    ...(position !== undefined && { position }),
  };
  const moved = queue.flatMap((other): readonly InboxWrite[] => {
    const place = other.id === id ? undefined : positions?.get(other.id);
    return place === undefined ? [] : [{ write: "change", id: other.id, version: other.version, position: place }];
  });
  const outcome = await core.commit({ rows: [], inbox: [change, ...moved] });
  if (outcome.kind !== "committed") return withCurrent(outcome, current);
  const record = outcome.inbox[0];
  return record === undefined ? notWaiting(id) : queuedOf(record);
}

/** Removes a waiting message. One that was sent or removed meanwhile is answered with what became of it. */
export async function cancelInside(core: TabCore, id: ChunkId): Promise<Accepted | Fault> {
  if (core.feed.queued(id) === undefined) return fateOf(core, id);
  const outcome = await core.commit({ rows: [], inbox: [{ write: "drop", id }] });
  return outcome.kind === "committed" ? { id, state: "dropped" } : outcomeFault(outcome);
}

async function fateOf(core: TabCore, id: ChunkId): Promise<Accepted | Fault> {
  const record = await core.ports.log.message(id);
  if (record === null || record.tabId !== core.tabId) return notWaiting(id);
  return { id, state: record.state };
}
