/**
 * The life of a message, as one pure step: what is stored under an id, and a write, give the record to store or a
 * refusal. Every implementation takes its decisions here and only keeps what comes out.
 *
 *   (none) --accept--> queued <--change--> held --seal--> sealed      sealed and dropped are final
 *                         \______________________/--drop--> dropped
 */
import type { Fault, LogId, TabId } from "@varve/protocol";
import { assert, limits, unreachable } from "@varve/protocol";
import type { InboxRecord, InboxWrite } from "./log.ts";
import { idTaken, queueFull, staleVersion, unknownMessage } from "./refusals.ts";
import { messageData, messageText } from "./row-text.ts";
import { plainText } from "./well-formed.ts";

export interface InboxView {
  readonly tabId: TabId;
  /** What is stored under the write's id, in whatever tab. */
  readonly current: InboxRecord | null;
  /** Where this batch sealed the row of that id. */
  readonly place: { readonly logId: LogId; readonly seq: number } | null;
  /** Whether the id is a row that stood in the log before this batch. */
  readonly isRow: boolean;
  /** Messages of the tab that wait now. */
  readonly waiting: number;
  /** The highest position ever given in the tab. */
  readonly lastPosition: number;
}
export type InboxStep =
  | { readonly kind: "record"; readonly record: InboxRecord }
  | { readonly kind: "refused"; readonly fault: Fault; readonly current?: InboxRecord };

export const waits = (record: InboxRecord): boolean => record.state === "queued" || record.state === "held";

export function applyInboxWrite(write: InboxWrite, view: InboxView): InboxStep {
  switch (write.write) {
    case "accept":
      return accept(write, view);
    case "change":
      return change(write, view);
    case "seal":
      assert(view.place !== null, `a batch seals the message ${write.id} without its row`);
      return settle(write, view, { state: "sealed", sealed: view.place });
    case "drop":
      return settle(write, view, { state: "dropped", sealed: null });
    default:
      return unreachable(write);
  }
}

const refused = (fault: Fault, current?: InboxRecord): InboxStep =>
  current === undefined ? { kind: "refused", fault } : { kind: "refused", fault, current };

const own = (view: InboxView): InboxRecord | undefined =>
  view.current !== null && view.current.tabId === view.tabId ? view.current : undefined;

function accept(write: Extract<InboxWrite, { write: "accept" }>, view: InboxView): InboxStep {
  const { id, state, delivery, by, at } = write;
  assert((view.place !== null) === (state === "sealed"), `the message ${id} and its row are not accepted together`);
  if (view.current !== null || view.isRow) return refused(idTaken(id), own(view));
  if (state !== "sealed" && view.waiting >= limits.queueMax) return refused(queueFull());
  const data = messageData(messageText(write.data));
  const { tabId, place: sealed, lastPosition } = view;
  const position = Math.floor(lastPosition) + 1;
  const record = { id, tabId, position, version: 1, state, delivery, data, by: plainText(by), at, sealed };
  return { kind: "record", record };
}

function change(write: Extract<InboxWrite, { write: "change" }>, view: InboxView): InboxStep {
  const current = own(view);
  if (current === undefined) return refused(unknownMessage(write.id));
  if (!waits(current) || current.version !== write.version) return refused(staleVersion(write.id), current);
  const record: InboxRecord = {
    ...current,
    version: current.version + 1,
    data: write.data === undefined ? current.data : messageData(messageText(write.data)),
    delivery: write.delivery ?? current.delivery,
    state: write.state ?? current.state,
    position: write.position ?? current.position,
  };
  return { kind: "record", record };
}

function settle(write: InboxWrite, view: InboxView, end: Pick<InboxRecord, "state" | "sealed">): InboxStep {
  const current = own(view);
  if (current === undefined) return refused(unknownMessage(write.id));
  if (!waits(current)) return refused(unknownMessage(write.id), current);
  return { kind: "record", record: { ...current, ...end } };
}
