import { byPosition, type ChunkId, type QueuedMessage } from "@varve/protocol";

/** The position that puts `id` right before the message `before`, or behind all others for null or an unknown one. */
export function positionBefore(queue: readonly QueuedMessage[], id: ChunkId, before: ChunkId | null): number {
  const others = queue.filter((message) => message.id !== id).toSorted(byPosition);
  const at = before === null ? -1 : others.findIndex((message) => message.id === before);
  const next = others[at];
  if (at < 0 || next === undefined) return (others.at(-1)?.position ?? 0) + 1;
  const prior = others[at - 1];
  return prior === undefined ? next.position - 1 : (prior.position + next.position) / 2;
}
