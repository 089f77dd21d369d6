/**
 * Messages of this client whose fate it has not heard, and those it may have to offer again.
 *
 * An entry leaves `pending` by evidence alone: an `ack` that says sealed or dropped, or an op or head of the current term
 * that names its id. No page, no time and no lost connection empties it; each new subscription sends it again under the
 * same id, which the server takes once. What was accepted is kept for a day, because a server whose database was
 * restored from a backup may have forgotten it: then it is `lost`, and the person may send it again.
 */
import type { Attachment, ChunkId, Delivery, ErrorBody, HeadFrame, LogId, TabId, TurnId } from "@varve/protocol";
import type { OutboxStore, PendingMessage, StoredOutboxEntry } from "./client.ts";
import { sendPasses } from "./patience.ts";

/** Messages of one tab under way at once; one more is refused at once with `queue-full`, its text kept on screen. */
export const pendingMax = 200;
/** Accepted messages kept for one tab; the oldest is forgotten first. */
export const keptMax = 200;
export const keptMs = 24 * 60 * 60 * 1000;

export interface Outbox {
  readonly pending: readonly PendingMessage[];
  readonly kept: readonly StoredOutboxEntry[];
  readonly lost: readonly PendingMessage[];
}
export const emptyOutbox: Outbox = { pending: [], kept: [], lost: [] };

/** What the store must do so that it says the same as the outbox. */
export type StoreChange =
  | { readonly kind: "put"; readonly entry: StoredOutboxEntry }
  | { readonly kind: "remove"; readonly id: ChunkId };
export interface OutboxStep {
  readonly outbox: Outbox;
  readonly changes: readonly StoreChange[];
}

/** That the server has the message, or has ended it. */
export interface Evidence {
  readonly id: ChunkId;
  readonly fate: "accepted" | "dropped";
  /** Its place, once it is sealed. */
  readonly seq?: number | undefined;
}

export interface NewMessage {
  readonly id: ChunkId;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly delivery: Delivery;
  /** With delivery `stop`: the turn that is meant. */
  readonly turnId?: TurnId;
  readonly at: number;
}

export const isUnderWay = (message: PendingMessage): boolean => message.state !== "refused";

export function addMessage(outbox: Outbox, tabId: TabId, message: NewMessage): OutboxStep {
  const full = outbox.pending.filter(isUnderWay).length >= pendingMax;
  const placed = { ...message, at: placeOf(outbox, message.at) };
  const pending: PendingMessage = full
    ? { ...placed, state: "refused", error: fullError }
    : { ...placed, state: "waiting" };
  const next = { ...outbox, pending: [...outbox.pending, pending] };
  return { outbox: next, changes: [{ kind: "put", entry: storedOf(tabId, pending) }] };
}

/** Later than everything here, whatever the clock says: after a reload the order is read from it. */
function placeOf(outbox: Outbox, now: number): number {
  let last = now - 1;
  for (const { at } of [...outbox.pending, ...outbox.kept, ...outbox.lost]) last = Math.max(last, at);
  return last + 1;
}

const fullError: ErrorBody = {
  code: "queue-full",
  message: `${pendingMax} messages are already on their way.`,
  hint: "The text is kept here: send it again when some have arrived.",
};

/** Takes over what an earlier page or program left in the store. What is known already wins. */
export function loadEntries(outbox: Outbox, entries: readonly StoredOutboxEntry[], now: number): OutboxStep {
  const known = new Set([...outbox.pending, ...outbox.kept, ...outbox.lost].map((entry) => entry.id));
  const fresh = entries.filter((entry) => !known.has(entry.id)).sort((a, b) => a.at - b.at);
  const pending = fresh.filter((entry) => entry.sealedAt === undefined).map(pendingOf);
  const kept = fresh.filter((entry) => entry.sealedAt !== undefined);
  return expire({ ...outbox, pending: [...pending, ...outbox.pending], kept: [...kept, ...outbox.kept] }, now);
}

export function markSent(outbox: Outbox, id: ChunkId): Outbox {
  return mapPending(outbox, (entry) =>
    entry.id === id && entry.state === "waiting" ? { ...entry, state: "sent" } : entry,
  );
}

/** The connection is gone: what was on its way waits again. */
export function markUnsent(outbox: Outbox): Outbox {
  return mapPending(outbox, (entry) => (entry.state === "sent" ? { ...entry, state: "waiting" } : entry));
}

export interface Refusal {
  readonly tabId: TabId;
  readonly id: ChunkId;
  readonly error: ErrorBody;
}

/**
 * The server said no. Refusals that pass by themselves leave the entry waiting for the next subscription; any other is
 * remembered over a reload as well, for the person decides what becomes of the message.
 */
export function refuse(outbox: Outbox, { tabId, id, error }: Refusal): OutboxStep {
  const entry = outbox.pending.find((item) => item.id === id);
  if (entry === undefined || entry.state === "refused") return { outbox, changes: [] };
  const passes = sendPasses(error);
  const next: PendingMessage = passes ? { ...entry, state: "waiting" } : { ...entry, state: "refused", error };
  return {
    outbox: mapPending(outbox, (item) => (item === entry ? next : item)),
    changes: passes ? [] : [{ kind: "put", entry: storedOf(tabId, next) }],
  };
}

/** Empties what the evidence names, and remembers where accepted messages stand. */
export function takeEvidence(
  outbox: Outbox,
  named: readonly Evidence[],
  where: { readonly tabId: TabId; readonly logId: LogId; readonly term?: number; readonly now: number },
): OutboxStep {
  if (outbox.pending.length + outbox.kept.length + outbox.lost.length === 0) return { outbox, changes: [] };
  const own = new Map<ChunkId, PendingMessage | StoredOutboxEntry>();
  for (const entry of [...outbox.kept, ...outbox.lost, ...outbox.pending]) own.set(entry.id, entry);
  const changes: StoreChange[] = [];
  let kept = outbox.kept;
  const ended = new Set<ChunkId>();
  for (const evidence of named) {
    const entry = own.get(evidence.id);
    if (entry === undefined) continue;
    ended.add(evidence.id);
    const before = kept.find((item) => item.id === evidence.id);
    if (evidence.fate === "dropped") {
      kept = kept.filter((item) => item.id !== evidence.id);
      changes.push({ kind: "remove", id: evidence.id });
    } else if (before === undefined || before.seq !== (evidence.seq ?? before.seq)) {
      const seq = evidence.seq === undefined ? {} : { seq: evidence.seq };
      const next: StoredOutboxEntry = {
        ...storedOf(where.tabId, entry),
        sealedAt: where.now,
        logId: where.logId,
        ...(where.term === undefined ? {} : { term: where.term }),
        ...seq,
      };
      kept = [...kept.filter((item) => item.id !== evidence.id), next];
      changes.push({ kind: "put", entry: next });
    }
  }
  if (ended.size === 0) return { outbox, changes };
  const stays = (entry: { readonly id: ChunkId }): boolean => !ended.has(entry.id);
  const next = { pending: outbox.pending.filter(stays), lost: outbox.lost.filter(stays), kept };
  const expired = expire(next, where.now);
  return { outbox: expired.outbox, changes: [...changes, ...expired.changes] };
}

/** Forgets what was accepted more than a day ago, and the oldest beyond the limit. */
export function expire(outbox: Outbox, now: number): OutboxStep {
  const young = outbox.kept.filter((entry) => now - (entry.sealedAt ?? now) < keptMs);
  const kept = young.slice(Math.max(0, young.length - keptMax));
  if (kept.length === outbox.kept.length) return { outbox, changes: [] };
  const stays = new Set(kept.map((entry) => entry.id));
  const gone = outbox.kept.filter((entry) => !stays.has(entry.id));
  return { outbox: { ...outbox, kept }, changes: gone.map((entry) => ({ kind: "remove", id: entry.id })) };
}

export interface LostVerdict {
  readonly outbox: Outbox;
  /** The head does not say what became of them: the server is asked. */
  readonly unsure: readonly StoredOutboxEntry[];
}

/**
 * After a head that may be of a restored database (another term, or rows that were wiped): which accepted messages does
 * the server no longer have? One that stood where another row stands now is lost. Of one that is not named, nobody here can
 * tell whether it was consumed above the rows that came, removed by somebody else, or forgotten. `first`: this client held
 * nothing before, so that only another term can mean that some are lost.
 */
export function findLost(outbox: Outbox, head: HeadFrame, first: boolean): LostVerdict {
  const named = new Set<ChunkId>([...head.rows, ...head.queue].map((entry) => entry.id));
  const vouchedTo = head.mode === "append" ? head.from : 0;
  const pageFrom = head.rows[0]?.seq ?? head.tail + 1;
  const lost: StoredOutboxEntry[] = [];
  const unsure: StoredOutboxEntry[] = [];
  for (const entry of outbox.kept) {
    if (entry.logId !== head.log || named.has(entry.id)) continue;
    if (first && entry.term === head.term) continue;
    if (entry.seq === undefined) unsure.push(entry);
    else if (entry.seq >= pageFrom || entry.seq > head.tail) lost.push(entry);
    else if (entry.seq > vouchedTo) unsure.push(entry);
  }
  return { outbox: lost.reduce(moveToLost, outbox), unsure };
}

/** What the server answers when it is asked for a message: it has it (where, if it is a row), it was removed, or neither. */
export type MessageFate =
  | { readonly kind: "kept"; readonly seq?: number; readonly term: number }
  | { readonly kind: "dropped" }
  | { readonly kind: "unknown" };

/** Takes the answer for one that was asked about. One whose fate was heard meanwhile stays as it is. */
export function takeFate(outbox: Outbox, entry: StoredOutboxEntry, fate: MessageFate): OutboxStep {
  if (!outbox.kept.includes(entry)) return { outbox, changes: [] };
  if (fate.kind === "unknown") return { outbox: moveToLost(outbox, entry), changes: [] };
  if (fate.kind === "dropped") {
    const kept = outbox.kept.filter((item) => item !== entry);
    return { outbox: { ...outbox, kept }, changes: [{ kind: "remove", id: entry.id }] };
  }
  const { seq = entry.seq, term } = fate;
  const next = { ...entry, term, ...(seq !== undefined && { seq }) };
  const kept = outbox.kept.map((item) => (item === entry ? next : item));
  return { outbox: { ...outbox, kept }, changes: [{ kind: "put", entry: next }] };
}

function moveToLost(outbox: Outbox, entry: StoredOutboxEntry): Outbox {
  const kept = outbox.kept.filter((item) => item.id !== entry.id);
  return { ...outbox, kept, lost: [...outbox.lost, pendingOf(entry)] };
}

/** Puts a refused or lost message back on its way under its id. */
export function sendAgain(outbox: Outbox, tabId: TabId, id: ChunkId): OutboxStep {
  const entry = outbox.lost.find((item) => item.id === id) ?? outbox.pending.find((item) => item.id === id);
  if (entry === undefined) return { outbox, changes: [] };
  const { error: _error, ...message } = entry;
  const others = (item: { readonly id: ChunkId }): boolean => item.id !== id;
  const without = { ...outbox, pending: outbox.pending.filter(others), lost: outbox.lost.filter(others) };
  const again: PendingMessage = { ...message, at: placeOf(without, message.at), state: "waiting" };
  const next = { ...without, pending: [...without.pending, again] };
  return { outbox: next, changes: [{ kind: "put", entry: storedOf(tabId, again) }] };
}

export function forgetMessage(outbox: Outbox, id: ChunkId): OutboxStep {
  const other = (entry: { readonly id: ChunkId }): boolean => entry.id !== id;
  const next = { ...outbox, pending: outbox.pending.filter(other), lost: outbox.lost.filter(other) };
  const same = next.pending.length === outbox.pending.length && next.lost.length === outbox.lost.length;
  return same ? { outbox, changes: [] } : { outbox: next, changes: [{ kind: "remove", id }] };
}

function mapPending(outbox: Outbox, change: (entry: PendingMessage) => PendingMessage): Outbox {
  const pending = outbox.pending.map(change);
  return pending.every((entry, i) => entry === outbox.pending[i]) ? outbox : { ...outbox, pending };
}

const pendingOf = (entry: StoredOutboxEntry): PendingMessage =>
  entry.refused === undefined
    ? { ...messageOf(entry), state: "waiting" }
    : { ...messageOf(entry), state: "refused", error: entry.refused };

function storedOf(tabId: TabId, message: NewMessage | PendingMessage): StoredOutboxEntry {
  const refused = "state" in message && message.state === "refused" ? message.error : undefined;
  return { tabId, ...messageOf(message), ...(refused !== undefined && { refused }) };
}

const messageOf = ({ id, text, attachments, delivery, turnId, at }: NewMessage): NewMessage => ({
  id,
  text,
  attachments,
  delivery,
  ...(turnId !== undefined && { turnId }),
  at,
});

/** For programs: nothing outlives them. */
export function memoryOutbox(): OutboxStore {
  const entries = new Map<ChunkId, StoredOutboxEntry>();
  return {
    load: async () => [...entries.values()],
    put: async (entry) => void entries.set(entry.id, entry),
    remove: async (id) => void entries.delete(id),
  };
}
