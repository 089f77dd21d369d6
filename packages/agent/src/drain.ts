/**
 * Which waiting messages go where. Pure: the owner applies the answer in one transaction.
 *
 * `queued` messages take part; `held` ones never do, whatever their delivery: only a person's release changes that.
 */
import type { ChunkId, NewRow, QueuedMessage, TextData, TurnEndReason, TurnId } from "@varve/protocol";
import { byPosition } from "@varve/protocol";

/** A waiting message as far as draining cares: an inbox record or a queued message of the protocol. */
export type WaitingMessage = Pick<QueuedMessage, "id" | "delivery" | "position"> & { readonly state: string };

/** Steers that join the running turn at this step boundary, in queue order. */
export function steersToDrain<M extends WaitingMessage>(waiting: readonly M[]): readonly M[] {
  return queued(waiting).filter((message) => message.delivery === "steer");
}

export interface AfterTurn<M> {
  /** They begin the next turn together, in queue order. Empty: the tab comes to rest. */
  readonly send: readonly M[];
  /** They become held, in the transaction that ends the turn. */
  readonly hold: readonly M[];
}

/**
 * What happens to the waiting messages when a turn ends. A message with delivery `stop` begins the next turn whatever the
 * end was. After a normal end all steers go together, else the first queued message alone. After any other end the rest
 * is held, unless the tab asks to go on after a restart (`sendAfterRestart`).
 */
export function afterTurn<M extends WaitingMessage>(
  waiting: readonly M[],
  reason: TurnEndReason,
  options: { readonly sendAfterRestart?: boolean } = {},
): AfterTurn<M> {
  const all = queued(waiting);
  const stops = all.filter((message) => message.delivery === "stop");
  const goesOn = reason === "done" || (reason === "restart" && options.sendAfterRestart === true);
  const send = stops.length > 0 ? stops : goesOn ? firstToSend(all) : [];
  const hold = goesOn ? [] : all.filter((message) => !send.includes(message));
  return { send, hold };
}

/**
 * What a tab at rest sends when its queue changed (a release, an edit that released): a released message is sent by
 * itself, in queue order, whatever its delivery was.
 */
export function atRest<M extends WaitingMessage>(waiting: readonly M[]): readonly M[] {
  return firstToSend(queued(waiting));
}

/** A waiting message as the row that it becomes: its id is the row's id. */
export function userRow(
  message: { readonly id: ChunkId; readonly data: TextData; readonly by: string },
  place: { readonly turnId: TurnId; readonly step: number; readonly at: number },
): NewRow {
  return {
    id: message.id,
    turnId: place.turnId,
    step: place.step,
    role: "user",
    type: "text",
    data: message.data,
    createdAt: place.at,
    by: message.by,
  };
}

function firstToSend<M extends WaitingMessage>(all: readonly M[]): readonly M[] {
  const urgent = all.filter((message) => message.delivery !== "queue");
  return urgent.length > 0 ? urgent : all.slice(0, 1);
}

function queued<M extends WaitingMessage>(waiting: readonly M[]): readonly M[] {
  return waiting.filter((message) => message.state === "queued").toSorted(byPosition);
}
