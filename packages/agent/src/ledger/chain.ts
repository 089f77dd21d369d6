/** The chain of a log's requests, as its rows tell it: a request, the one before it, and what stands between the two. Pure. */
import type { CacheTtl, StoredRow, SystemData, TurnId } from "@varve/protocol";
import type { UsageData } from "./price.ts";

type RequestData = Extract<SystemData, { kind: "request" }>;
export interface Place {
  readonly turnId: TurnId;
  readonly step: number;
}

/** A step that the provider answered, at least in part. */
export interface Link {
  readonly usage: UsageData;
  readonly usageSeq: number;
  /** Milliseconds. */
  readonly startedAt: number;
  /** Null where the log has no `request` row of it. */
  readonly scopeHash: string | null;
  /** Lifetime of the entries that it wrote; null where there is none to choose. */
  readonly ttl: CacheTtl | null;
}
/** A row that makes the wire begin anew, or another model answer. */
export interface Turning {
  /** An undone compaction counts as a compaction. */
  readonly kind: "prefix" | "compaction" | "model-changed";
  readonly seq: number;
}
export interface Chain {
  /** The newest answered step before; null: this is the first one of the log and of what it was forked from. */
  readonly before: Link | null;
  /** Behind `before`, newest first. */
  readonly turnings: readonly Turning[];
  /** When the newest request with the model of `before` began, keep-warm and summaries too: it kept that model's entries alive. */
  readonly touchedAt: number | null;
  /** Of this request itself, when its row is there. */
  readonly own: RequestData | null;
}

/** Reads backwards from the newest row and no farther than the request before: its cost does not grow with the log. */
export function chainAt(rows: readonly StoredRow[], place: Place): Chain {
  const turnings: Turning[] = [];
  const others: UsageData[] = [];
  let own: RequestData | null = null;
  for (const { row, data, index } of systemRows(rows, rows.length - 1)) {
    if (data.kind === "request") {
      if (own === null && isAt(row, place)) own = data;
    } else if (data.kind !== "usage") {
      const kind = turningOf(data.kind);
      if (kind !== null) turnings.push({ kind, seq: row.seq });
    } else if (isStep(data)) {
      const before = linkOf(rows, { row, data, index });
      const touch = others.find((usage) => usage.model === data.model && usage.startedAt !== undefined);
      return { before, turnings, touchedAt: touch?.startedAt ?? before.startedAt, own };
    } else others.push(data);
  }
  return { before: null, turnings, touchedAt: null, own };
}

type UsageAt = { readonly row: StoredRow; readonly data: UsageData; readonly index: number };

function linkOf(rows: readonly StoredRow[], { row, data, index }: UsageAt): Link {
  const request = requestOf(rows, row, index);
  return {
    usage: data,
    usageSeq: row.seq,
    startedAt: data.startedAt ?? request?.createdAt ?? row.createdAt,
    scopeHash: request?.data.scopeHash ?? null,
    ttl: request?.data.ttl ?? null,
  };
}

/** The `request` row of a step's usage row: between them stand its own blocks, and what was done beside it. */
function requestOf(rows: readonly StoredRow[], usage: StoredRow, index: number) {
  for (const { row, data } of systemRows(rows, index - 1)) {
    if (data.kind === "usage" && isStep(data)) return null;
    if (data.kind === "request" && isStep(data) && isAt(row, usage)) return { data, createdAt: row.createdAt };
  }
  return null;
}

/**
 * The log as a request finds it whose body ends with this row, the last of a step: of what came later only what was done
 * beside the steps counts. Such are a refresh of an earlier body, and a summary of a beginning.
 */
export const logUpTo = (rows: readonly StoredRow[], seq: number): readonly StoredRow[] => [
  ...rows.slice(0, seq),
  ...rows
    .slice(seq)
    .filter(
      ({ type, data }) => type === "system" && (data.kind === "request" || data.kind === "usage") && !isStep(data),
    ),
];

const isStep = ({ purpose }: Pick<RequestData, "purpose">): boolean => (purpose ?? "step") === "step";

function* systemRows(rows: readonly StoredRow[], from: number) {
  for (let index = from; index >= 0; index--) {
    const row = rows[index];
    if (row?.type === "system") yield { row, data: row.data, index };
  }
}

const isAt = (row: Place, place: Place): boolean => row.turnId === place.turnId && row.step === place.step;

function turningOf(kind: SystemData["kind"]): Turning["kind"] | null {
  if (kind === "compaction-undo") return "compaction";
  return kind === "prefix" || kind === "compaction" || kind === "model-changed" ? kind : null;
}
