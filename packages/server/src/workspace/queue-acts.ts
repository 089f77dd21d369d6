/** Acts on messages that wait, inside the tab's mailbox: change, remove, and what became of one that waits no more. */
import type { InboxWrite } from "@varve/log";
import {
  type Accepted,
  type ChunkId,
  type Delivery,
  type Fault,
  isFault,
  type MessageFate,
  type QueuedMessage,
  type QueuePatch,
} from "@varve/protocol";
import { notWaiting, outcomeFault, trashed, withCurrent } from "./act-faults.ts";
import { positionsWith } from "./queue-position.ts";
import { refuse } from "./refuse.ts";
import { queuedOf, type TabCore } from "./tab-core.ts";
import type { TurnRun } from "./turn-run.ts";
import type { QueueFault } from "./workspace-contract.ts";

export interface Patched {
  readonly record: QueuedMessage;
  /** The patch made it a message that brings a stop: the open turn is to be stopped. */
  readonly stops: boolean;
}

/** Changes a waiting message, on the version that the patch names. `turn` is the one that is open. */
export async function patchInside(
  { core, turn }: { readonly core: TabCore; readonly turn: Pick<TurnRun, "turnId" | "stopping"> | null },
  id: ChunkId,
  patch: QueuePatch,
): Promise<Patched | QueueFault> {
  const current = core.feed.queued(id);
  if (current === undefined) return notWaiting(id);
  if (patch.state === "queued" && core.tab.trashedAt !== null) return trashed();
  const wrong = patch.text === undefined ? null : refuse({ ...current.data, text: patch.text });
  if (wrong !== null) return wrong;
  const stops = turn !== null && bringsStop(current, patch, turn);
  const delivery = deliveryOf(current, patch, { turn, stops });
  const { change, moved } = writesOf(core.feed.queue(), current, patch);
  const outcome = await core.commit({ rows: [], inbox: [{ ...change, ...(delivery && { delivery }) }, ...moved] });
  if (outcome.kind !== "committed") return withCurrent(outcome, current);
  const record = outcome.inbox[0];
  return record === undefined ? notWaiting(id) : { record: queuedOf(record), stops };
}

const willBe = (current: QueuedMessage, patch: QueuePatch): QueuedMessage["state"] => patch.state ?? current.state;

/**
 * Whether the patch means to stop this very turn. It does when it changes the delivery to `stop`, unless it names another
 * turn. That a message was meant as a stop of an earlier turn says nothing about this one.
 */
function bringsStop(current: QueuedMessage, patch: QueuePatch, turn: Pick<TurnRun, "turnId">): boolean {
  if (patch.delivery !== "stop" || willBe(current, patch) !== "queued") return false;
  return patch.turnId === undefined ? current.delivery !== "stop" : patch.turnId === turn.turnId;
}

/** A message whose stop meant another turn joins the open one instead, unless that one is being stopped already. */
function deliveryOf(
  current: QueuedMessage,
  patch: QueuePatch,
  { turn, stops }: { readonly turn: Pick<TurnRun, "stopping"> | null; readonly stops: boolean },
): Delivery | undefined {
  const wanted = patch.delivery ?? current.delivery;
  const joins = turn !== null && !turn.stopping && !stops && wanted === "stop" && willBe(current, patch) === "queued";
  return joins ? "steer" : patch.delivery;
}

/** The change itself, and the new places of those that had to make room for it. */
function writesOf(
  queue: readonly QueuedMessage[],
  current: QueuedMessage,
  patch: QueuePatch,
): { readonly change: InboxWrite; readonly moved: readonly InboxWrite[] } {
  const { id } = current;
  const positions = patch.before === undefined ? null : positionsWith(queue, id, patch.before);
  const position = positions?.get(id);
  const change: InboxWrite = {
    write: "change",
    id,
    version: patch.version,
    ...(patch.text !== undefined && { data: { ...current.data, text: patch.text } }),
    ...(patch.state !== undefined && { state: patch.state }),
    ...(position !== undefined && { position }),
  };
  const moved = queue.flatMap((other): readonly InboxWrite[] => {
    const place = other.id === id ? undefined : positions?.get(other.id);
    return place === undefined ? [] : [{ write: "change", id: other.id, version: other.version, position: place }];
  });
  return { change, moved };
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

/** What became of a message, and where it stands when it is a row of the tab's log. */
export async function fateInside(core: TabCore, id: ChunkId): Promise<MessageFate | Fault> {
  const fate = await fateOf(core, id);
  if (isFault(fate)) return fate;
  const { logId, term } = core.fence;
  const row = fate.state === "sealed" ? await core.ports.log.rowById(logId, id) : null;
  return { ...fate, term, ...(row !== null && { seq: row.seq }) };
}
