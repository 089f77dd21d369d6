/** What the parts of the loop share while one turn runs. */
import type { BlobHash, ErrorData, NewRow, TurnEndReason, TurnId } from "@varve/protocol";
import type { ResolvedBlob } from "@varve/wire";
import type { TurnLimits } from "./limits.ts";
import { turnLimits } from "./limits.ts";
import type { ModelFailure } from "./model/model.ts";
import type { RowMaker } from "./new-rows.ts";
import { rowMaker } from "./new-rows.ts";
import type { TurnOwner } from "./owner.ts";
import type { TurnPorts } from "./ports.ts";
import { noSecrets, type Secrets } from "./secrets/known-secrets.ts";
import type { Slots } from "./slots.ts";
import { createSlots } from "./slots.ts";
import { closedText, stoppedResult } from "./texts.ts";
import { rowsOfTurn, unansweredCalls } from "./turn-rows.ts";

export interface Turn {
  readonly ports: TurnPorts;
  readonly owner: TurnOwner;
  readonly turnId: TurnId;
  readonly limits: TurnLimits;
  readonly secrets: Secrets;
  readonly rows: RowMaker;
  /** Aborts when the owner is gone: whatever still runs ends, and nothing of it is written. */
  readonly gone: AbortController;
  /** Call ids of the whole log, gathered at the turn's first request and kept up from there. */
  callIds: Set<string> | undefined;
  /** Failed tries of the running step. */
  retries: number;
  /** Bytes that earlier requests of the turn have looked up. */
  readonly blobs: Map<BlobHash, ResolvedBlob>;
  /** Places for tools that run side by side. */
  readonly slots: Slots;
  /** Answers continued after the provider's length limit. */
  continues: number;
  /** The last request did not fit: what the provider said. Null once there is room, or as long as it fitted. */
  overflow: ModelFailure | null;
  /** Compactions since the last finished step that began because a request did not fit. */
  overflows: number;
  /** Below these tokens no compaction begins by itself: the last one that did had nothing to win, or failed. */
  compactFrom: number;
}

export function newTurn(ports: TurnPorts, owner: TurnOwner, turnId: TurnId): Turn {
  const limits = { ...turnLimits, ...ports.limits };
  return {
    ports,
    owner,
    turnId,
    limits,
    secrets: ports.place.secrets ?? noSecrets,
    rows: rowMaker(ports),
    gone: new AbortController(),
    callIds: undefined,
    blobs: new Map(),
    slots: createSlots(limits.parallelCallsMax),
    retries: 0,
    continues: 0,
    overflow: null,
    overflows: 0,
    compactFrom: 0,
  };
}

export const endReason = ({ reason }: AbortSignal): TurnEndReason =>
  reason === "deadline" || reason === "restart" ? reason : "stopped";

/** Error results for the calls that have none: a turn never ends with a call unanswered. */
export function closingResults(turn: Turn, text: string, extra: readonly NewRow[] = []): readonly NewRow[] {
  const owed = unansweredCalls(rowsOfTurn(turn.owner.rows(), turn.turnId)).map(({ step, call }) => ({ step, ...call }));
  const cut = extra.flatMap((row) => (row.type === "tool_call" ? [{ step: row.step, ...row.data }] : []));
  return [...owed, ...cut].map(({ step, callId, name }) =>
    turn.rows.result({ turnId: turn.turnId, step }, { callId, name, result: text, isError: true }),
  );
}

/** Ends a stopped turn; `cut` are rows of the step that the stop has cut. */
export async function endStopped(turn: Turn, cut: readonly NewRow[] = []): Promise<void> {
  const { cancel } = turn.owner;
  const reason = endReason(cancel);
  const results = closingResults(turn, stoppedResult(cancel.reason), cut);
  await turn.owner.endTurn(reason, [...cut, ...results, ...(reason === "restart" ? [closedNotice(turn)] : [])]);
}

function closedNotice(turn: Turn): NewRow {
  const step = Math.max(0, ...rowsOfTurn(turn.owner.rows(), turn.turnId).map((row) => row.step));
  const data = { kind: "notice", level: "warning", code: "restarted", text: closedText } as const;
  return turn.rows.system({ turnId: turn.turnId, step }, data);
}

/** Ends a turn that cannot go on; `before` are rows that belong in front of the error. */
export async function endFailed(
  turn: Turn,
  failure: {
    readonly step: number;
    readonly error: ErrorData;
    readonly result: string;
    readonly before?: readonly NewRow[];
  },
): Promise<void> {
  const before = failure.before ?? [];
  const results = closingResults(turn, failure.result, before);
  const error = turn.rows.error({ turnId: turn.turnId, step: failure.step }, failure.error);
  await turn.owner.endTurn("error", [...before, ...results, error]);
}
