/**
 * Acts that point a tab to another log: clear, edit-and-resend, going back to an earlier log. Rows never change; what was
 * stays reachable. Refused while a turn runs; what waits becomes held.
 */
import type { InboxWrite, LogTarget } from "@varve/log";
import { type Fault, fault, isFault, type LogId, type NewRow } from "@varve/protocol";
import { closingRows } from "./fork-rows.ts";
import { outcomeFault, type TabActor } from "./tab-actor.ts";

const running = (): Fault =>
  fault("tab-running", "A turn is running in this tab.", "Stop it first; nothing was changed.");

/** Inside the mailbox of the actor. */
export async function pointInside(actor: TabActor, target: LogTarget): Promise<Fault | null> {
  const { core } = actor;
  if (actor.isRunning) return running();
  const queued = core.feed.queue().filter((message) => message.state === "queued");
  if (queued.length > 0) {
    const inbox = queued.map(({ id, version }): InboxWrite => ({ write: "change", id, version, state: "held" }));
    const outcome = await core.commit({ rows: [], inbox });
    if (outcome.kind !== "committed") return outcomeFault(outcome);
  }
  const { log, clock } = core.ports;
  const pointed = await log.point(core.fence, target, clock.now());
  if (isFault(pointed)) return pointed;
  const claim = await log.claim(core.tabId, clock.now());
  if (claim === null) return fault("unknown-tab", "The tab is gone.");
  if (isFault(claim)) return claim;
  core.feed.publish({ op: "log", logId: claim.logId });
  core.reclaimed(claim);
  return null;
}

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
