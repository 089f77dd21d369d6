/** A message that comes while a turn is open waits; and what is said of one that was accepted before. */
import type { CommitOutcome, InboxWrite } from "@varve/log";
import type { Accepted, ChunkId, Fault, MessageBody, QueuedMessage, TextData } from "@varve/protocol";
import { outcomeFault } from "./act-faults.ts";
import type { TabCore } from "./tab-core.ts";
import type { TurnRun } from "./turn-run.ts";

export type Sent = Accepted & { readonly seq?: number; readonly version?: number };

/**
 * Inside the mailbox, with a turn open. A message that comes after a stop is meant for the next turn, as one that brings the
 * stop itself: both wait with delivery `stop`, which begins a turn whatever the end of this one is.
 */
export async function sendLater(
  { core, turn }: { readonly core: TabCore; readonly turn: TurnRun },
  message: MessageBody,
  { data, by }: { readonly data: TextData; readonly by: string },
): Promise<Sent | Fault> {
  const stops = message.delivery === "stop" && (message.turnId === undefined || message.turnId === turn.turnId);
  const wanted = message.delivery === "stop" && !stops ? "steer" : (message.delivery ?? "steer");
  const delivery = turn.stopping && wanted === "steer" ? "stop" : wanted;
  const at = core.ports.clock.now();
  const accept: InboxWrite = { write: "accept", id: message.id, state: "queued", delivery, data, by, at };
  const outcome = await core.commit({ rows: [], inbox: [accept] });
  if (outcome.kind !== "committed") return acceptedBefore(core, outcome, message.id);
  if (stops) turn.stop("stopped");
  return { id: message.id, state: "queued", version: outcome.inbox[0]?.version ?? 1 };
}

/**
 * Inside the mailbox: a message that waits is sent again. Its stop is brought now if it could not be brought before, because
 * the answer of the commit was lost; on a turn that is being stopped it does nothing.
 */
export function sentAgain(turn: TurnRun | null, waiting: QueuedMessage, message: MessageBody): Sent {
  const { id, state, version, delivery } = waiting;
  const stops = state === "queued" && delivery === "stop" && message.delivery === "stop";
  if (stops && turn !== null && message.turnId === turn.turnId) turn.stop("stopped");
  return { id, state, version };
}

/** A message that was accepted before is answered with its state, whoever asks again. */
export function acceptedBefore(
  core: TabCore,
  outcome: Exclude<CommitOutcome, { kind: "committed" }>,
  id: ChunkId,
): Sent | Fault {
  if (outcome.kind === "refused" && outcome.current?.tabId === core.tabId) {
    const { state, version, sealed } = outcome.current;
    return { id, state, version, ...(sealed !== null && { seq: sealed.seq }) };
  }
  return outcomeFault(outcome);
}
