/**
 * What a restart owes to a log. Nothing "running" is read from disk: a turn without its `turn-end` row is unfinished, and
 * that is the only test. Pure, and safe to be killed in: all of it is one transaction, and a second run of it on the rows
 * that it made finds nothing to do.
 */
import type { JournaledBlock } from "@varve/log";
import type { IdMaker, Json, JsonObject, NewRow, StoredRow, SystemData, TurnId } from "@varve/protocol";
import { noTurn, parseTurnId } from "@varve/protocol";
import { rowMaker } from "./new-rows.ts";
import { hasInk, wellFormedText } from "./text.ts";
import { resultTexts } from "./texts.ts";
import {
  isKind,
  isStepFinish,
  openLimit,
  openQuestion,
  rowsOfTurn,
  unansweredCalls,
  voidedSteps,
} from "./turn-rows.ts";

export interface RecoverInput {
  /** All sealed rows of the tab's log, ascending. */
  readonly rows: readonly StoredRow[];
  /** Blocks that the journal holds for this tab and this log. */
  readonly blocks: readonly JournaledBlock[];
  readonly now: number;
  readonly ids: IdMaker;
}

export interface Recovery {
  /** Appended in one transaction, in this order; a `turn-end` stands last unless the turn goes on waiting. */
  readonly rows: readonly NewRow[];
  /** `waiting`: the turn stays open for a person's answer; the owner runs it again with `runTurn(ports, owner, turnId)`. */
  readonly resume: "none" | "waiting";
  /** The unfinished turn, or null when every turn had ended. */
  readonly turnId: TurnId | null;
}

const noticeCode = "restarted";

export function recover(input: RecoverInput): Recovery {
  const turnId = unfinishedTurn(input.rows);
  if (turnId === null) return { rows: [], resume: "none", turnId: null };
  const turn = rowsOfTurn(input.rows, turnId);
  const step = Math.max(0, ...turn.map((row) => row.step));
  const make = rowMaker({ clock: { now: () => input.now }, ids: input.ids });
  const owed = unansweredCalls(turn);
  const waiting = owed.filter(({ call }) => openQuestion(turn, call.callId) !== undefined);
  const lost = owed.filter((entry) => !waiting.includes(entry));
  const results = lost.map(({ step: at, call }) =>
    make.result(
      { turnId, step: at },
      { callId: call.callId, name: call.name, result: ranText(turn, at), isError: true },
    ),
  );
  // A turn that waits for an answer had finished its step: nothing of it was open but output of calls that are lost now.
  // One that waits at a limit had answered every call and begun nothing.
  if (waiting.length > 0 || openLimit(turn) !== undefined) return { rows: results, resume: "waiting", turnId };
  const partial = input.blocks.flatMap((block) => partialRow(block, { turn, turnId, step, now: input.now }));
  const notice = make.system(
    { turnId, step },
    {
      kind: "notice",
      level: "warning",
      code: noticeCode,
      text: noticeText({ calls: lost.length, partial: partial.length, jobs: ranJobs(input.rows) }),
    },
  );
  const end = make.system({ turnId, step }, { kind: "turn-end", reason: "restart" });
  return { rows: [...partial, ...results, notice, end], resume: "none", turnId };
}

/** Calls run only once their step is finished, which its `usage` row says. */
function ranText(turn: readonly StoredRow[], step: number): string {
  const finished = turn.some((row) => row.step === step && isStepFinish(row));
  return finished ? resultTexts.restarted : resultTexts.neverRun;
}

/** The turn of the newest row that belongs to one, unless it has ended. */
function unfinishedTurn(rows: readonly StoredRow[]): TurnId | null {
  const last = rows.findLast((row) => row.turnId !== noTurn);
  return last === undefined || isKind(last, "turn-end") ? null : last.turnId;
}

/**
 * The text that an open block had, as a row under the block's own id. Only blocks of the model: a cut call has no row, and
 * live output of a tool is replaced by its result. Ids that were sealed already are ignored, and so are voided steps, and steps
 * that these rows have not come to: the journal is newer than the rows when an older database was put back.
 */
function partialRow(
  block: JournaledBlock,
  place: { readonly turn: readonly StoredRow[]; readonly turnId: TurnId; readonly step: number; readonly now: number },
): readonly NewRow[] {
  const meta = readMeta(block.meta);
  if (meta === null || meta.turnId !== place.turnId || !hasInk(block.text)) return [];
  if (meta.step > place.step || place.turn.some((row) => row.id === block.id) || voidedSteps(place.turn).has(meta.step))
    return [];
  const base = { id: block.id, turnId: place.turnId, step: meta.step, createdAt: place.now };
  const text = wellFormedText(block.text);
  return meta.type === "text"
    ? [{ ...base, role: "assistant", type: "text", data: { text, partial: true } }]
    : [{ ...base, role: "assistant", type: "thinking", data: { text, partial: true, modelScope: meta.modelScope } }];
}

interface BlockMeta {
  readonly turnId: TurnId;
  readonly step: number;
  readonly type: "text" | "thinking";
  readonly modelScope: string;
}

/** What the owner journaled beside the block: the rest of its `chunk-open` op. Anything else than text of the model: null. */
function readMeta(meta: JsonObject): BlockMeta | null {
  const { turnId, step, type, role, modelScope } = meta;
  if (typeof turnId !== "string" || typeof step !== "number" || role !== "assistant") return null;
  if (type !== "text" && type !== "thinking") return null;
  const turn = parseTurnId(turnId);
  return turn === null
    ? null
    : { turnId: turn, step, type, modelScope: typeof modelScope === "string" ? modelScope : "" };
}

/** Whether a background job ran when it was last told of. Jobs end with their server: what an earlier one had is told already. */
function ranJobs(rows: readonly StoredRow[]): boolean {
  const last = new Map<Json, string>();
  const before = rows.findLastIndex((row) => row.type === "system" && isRestart(row.data));
  for (const row of rows.slice(before + 1)) {
    if (row.type !== "tool_result" || row.data.details?.job === undefined) continue;
    last.set(row.data.details.job, String(row.data.details.summary));
  }
  return [...last.values()].some((summary) => summary.endsWith(": running") || summary.startsWith("continues as job"));
}

const isRestart = (data: SystemData): boolean => data.kind === "notice" && data.code === noticeCode;

interface Found {
  readonly calls: number;
  readonly partial: number;
  readonly jobs: boolean;
}

function noticeText({ calls, partial, jobs }: Found): string {
  const kept = partial > 0 ? " The text that was being written is kept as far as it had come." : "";
  const unknown =
    calls > 0 ? " A command that was running may have run to its end or in part; it was not started again." : "";
  const ran = `${unknown}${jobs ? " Background jobs of this tab were ended." : ""}`;
  return `The server was restarted while this turn ran, so the turn was ended here.${kept}${ran} Send a message to go on.`;
}
