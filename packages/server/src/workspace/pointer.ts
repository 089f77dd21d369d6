/**
 * Acts that point a tab to another log: clear, edit-and-resend, going back to an earlier log. Rows never change; what was
 * stays reachable. Refused while a turn runs; what waits becomes held.
 */
import type { LogTarget } from "@varve/log";
import { type Accepted, type ChunkId, type Fault, fault, isFault, type LogId, type NewRow } from "@varve/protocol";
import { outcomeFault } from "./act-faults.ts";
import { closingRows } from "./fork-rows.ts";
import type { TabActor } from "./tab-actor.ts";
import { holding } from "./tab-core.ts";

const running = (): Fault =>
  fault("tab-running", "A turn is running in this tab.", "Stop it first; nothing was changed.");

/** Inside the mailbox of the actor. */
export async function pointInside(actor: TabActor, target: LogTarget): Promise<Fault | null> {
  const { core } = actor;
  if (actor.isRunning) return running();
  const inbox = holding(core.feed.queue());
  if (inbox.length > 0) {
    const outcome = await core.commit({ rows: [], inbox });
    if (outcome.kind !== "committed") return outcomeFault(outcome);
  }
  const { log, clock } = core.ports;
  const pointed = await log.point(core.fence, target, clock.now());
  if (isFault(pointed)) return pointed;
  core.pointed(pointed);
  return null;
}

/**
 * Inside the mailbox: cuts in front of a person's message and sends another in its place. Whatever speaks against the new
 * message is found before anything is cut, and one that was sent before is answered with its state: asking twice cuts once.
 */
export async function resendInside(
  actor: TabActor,
  at: { readonly seq: number; readonly id: ChunkId; readonly text: string },
  by: string,
): Promise<Accepted | Fault> {
  const { log, ids } = actor.core.ports;
  const logId = actor.core.fence.logId;
  const before = await log.message(at.id);
  if (before !== null && before.tabId === actor.core.tabId) return { id: at.id, state: before.state };
  if (before !== null || (await log.rowById(logId, at.id)) !== null) return idTaken(at.id);
  const row = await log.row(logId, at.seq);
  if (row === null || row.role !== "user" || row.type !== "text") {
    return fault("unknown-row", `Row ${at.seq} is not a message of a person.`, "Only such a row can be sent anew.");
  }
  const { attachments } = row.data;
  const message = { id: at.id, text: at.text, ...(attachments && { attachments }) };
  const target = targetAt(ids.log(), { id: logId, seq: at.seq - 1 });
  const problem = actor.refusal(message) ?? (await pointInside(actor, target)) ?? (await closeCut(actor));
  return problem ?? actor.sendInside(message, by);
}

const idTaken = (id: ChunkId): Fault =>
  fault("id-taken", `The id ${id} is in use already.`, "Nothing was changed. Send it again under a fresh id.");

/** A child of `logId` cut behind `seq`; a fresh log for 0. */
export const targetAt = (logId: LogId, parent: { readonly id: LogId; readonly seq: number }): LogTarget =>
  parent.seq === 0 ? { kind: "fresh", logId } : { kind: "child", logId, parentId: parent.id, parentSeq: parent.seq };

/** Inside the mailbox: ends the turn that the cut left open. */
export async function closeCut(actor: TabActor): Promise<Fault | null> {
  const { core } = actor;
  const rows = await core.load();
  if (isFault(rows)) return rows;
  const closing: readonly NewRow[] = closingRows(rows, { ids: core.ports.ids, at: core.ports.clock.now() });
  if (closing.length === 0) return null;
  const outcome = await core.commit({ rows: closing });
  return outcome.kind === "committed" ? null : outcomeFault(outcome);
}
