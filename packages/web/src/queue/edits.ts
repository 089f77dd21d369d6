/**
 * Edits of waiting messages that are under way, as they outlive a reload, a change of the tab and the message itself: what
 * was typed is the person's, whatever happens to the message meanwhile.
 */
import type { ChunkId, TabId } from "@varve/protocol";
import { parseChunkId } from "@varve/protocol";

export interface QueueEdit {
  /** As typed so far. */
  readonly text: string;
  /** The text that the person began from, or has agreed to replace: another one in its place is shown beside theirs. */
  readonly base: string;
  /** Held before the edit began: then it stays so. */
  readonly wasHeld: boolean;
}
export type QueueEdits = ReadonlyMap<ChunkId, QueueEdit>;

/** Edits kept for one tab; the oldest makes room. A tab's queue holds no more. */
export const EDITS_MAX = 100;

export const editsPlace = (tabId: TabId): string => `edits.${tabId}`;

export function withEdit(edits: QueueEdits, id: ChunkId, edit: QueueEdit | null): QueueEdits {
  const next = new Map(edits);
  if (edit === null) next.delete(id);
  else next.set(id, edit);
  for (const oldest of next.keys()) {
    if (next.size <= EDITS_MAX) break;
    next.delete(oldest);
  }
  return next;
}

/** "" when there are none, so that nothing is left behind in the store. */
export const editsText = (edits: QueueEdits): string => (edits.size === 0 ? "" : JSON.stringify([...edits]));

/** Damaged text reads as no edits. */
export function parseEdits(text: string): QueueEdits {
  const edits = new Map<ChunkId, QueueEdit>();
  for (const entry of listIn(text)) {
    if (!Array.isArray(entry) || typeof entry[0] !== "string") continue;
    const [id, edit] = [parseChunkId(entry[0]), editIn(entry[1])];
    if (id !== null && edit !== null) edits.set(id, edit);
  }
  return edits;
}

function listIn(text: string): readonly unknown[] {
  if (text === "") return [];
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) ? read : [];
  } catch {
    return []; // Damaged: there is nothing to show.
  }
}

function editIn(value: unknown): QueueEdit | null {
  if (typeof value !== "object" || value === null) return null;
  if (!("text" in value && "base" in value && "wasHeld" in value)) return null;
  const { text, base, wasHeld } = value;
  return typeof text === "string" && typeof base === "string" && typeof wasHeld === "boolean"
    ? { text, base, wasHeld }
    : null;
}
