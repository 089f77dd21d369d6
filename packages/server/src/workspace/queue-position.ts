import { byPosition, type ChunkId, type QueuedMessage } from "@varve/protocol";

/**
 * The positions to write so that `id` stands right before the message `before`, or behind all others for null or an unknown
 * one: its own, first. Where the numbers between two neighbours are used up, all that wait are numbered anew.
 */
export function positionsWith(
  queue: readonly QueuedMessage[],
  id: ChunkId,
  before: ChunkId | null,
): ReadonlyMap<ChunkId, number> {
  const others = queue.filter((message) => message.id !== id).toSorted(byPosition);
  const found = before === null ? -1 : others.findIndex((message) => message.id === before);
  const at = found < 0 ? others.length : found;
  const [prior, next] = [others[at - 1]?.position, others[at]?.position];
  const between = middle(prior, next);
  if ((prior === undefined || prior < between) && (next === undefined || between < next)) {
    return new Map([[id, between]]);
  }
  const anew = new Map([[id, at + 1]]);
  for (const [index, message] of others.entries()) anew.set(message.id, index < at ? index + 1 : index + 2);
  return anew;
}

function middle(prior: number | undefined, next: number | undefined): number {
  if (next === undefined) return (prior ?? 0) + 1;
  return prior === undefined ? next - 1 : (prior + next) / 2;
}
