/** What a person is shown of a tab's context: how full, how long cached, what changed, and what each act would cost. Pure. */
import {
  type ContextChange,
  measure,
  planCompaction,
  rebuildRows,
  summaryAsks,
  type TurnPorts,
  tellRows,
} from "@varve/agent";
import {
  type ContextBody,
  isFault,
  type NewRow,
  noTurn,
  type PrefixData,
  type Preview,
  type StoredRow,
  type SystemData,
} from "@varve/protocol";
import { billOf, type Forecast, forecast, type Ground, previewOf, type Way } from "./forecast.ts";
import { newestBilled, scaleFor } from "./log-reading.ts";

/** Characters that a summary is expected to have. */
export const summaryCharsGuess = 6_000;

export interface BodyInput {
  readonly ground: Ground;
  /** Of the next turn; null: its model is not there. */
  readonly way: Way | null;
  /** Of a compaction now: the model in force. */
  readonly wayInForce: Way | null;
  readonly changes: readonly ContextChange[];
  readonly fresh: PrefixData | null;
  readonly autoCompact: ReturnType<TurnPorts["autoCompact"]>;
  readonly ids: TurnPorts["ids"];
  readonly warm: ContextBody["warm"];
}

export function contextBody(input: BodyInput): ContextBody {
  const { ground, way, changes } = input;
  const next = way === null || !hasMessages(ground) ? null : forecast(ground, way);
  return {
    meter: meterOf(input, next),
    cache: cacheOf(input, next),
    changes: changes.map(({ topic, name, change, detail }) => ({
      topic,
      name,
      change,
      ...(detail !== undefined && { detail }),
    })),
    tell: tellPreview(input, next),
    rebuild: rebuildPreview(input, next),
    compact: compactPreview(input, next),
    compactions: ground.reading.compactions.map(({ seq, at, data, undone }) => ({
      seq,
      at,
      trigger: data.trigger ?? "manual",
      keepFrom: data.keepFrom,
      tokensBefore: data.tokensBefore ?? null,
      tokensAfter: data.tokensAfter ?? null,
      undone,
    })),
    warm: input.warm,
  };
}

const hasMessages = ({ rows }: Ground): boolean => rows.some((row) => row.role === "user");

function meterOf({ ground, way, autoCompact }: BodyInput, next: Forecast | null): ContextBody["meter"] {
  const window = way?.facts.contextTokens ?? null;
  const compactAt = window !== null && autoCompact.on ? Math.floor(window * autoCompact.share) : null;
  const base = newestBilled(ground.reading);
  if (base === null || !hasMessages(ground)) return { tokens: null, estimated: true, window, compactAt };
  const tokens = next?.tokens ?? measure(ground.rows, scaleFor(ground.reading, base.model));
  return { tokens, estimated: !isExact(ground, way), window, compactAt };
}

/** Nothing that the model reads has come since the last bill, and nothing turned what was billed into something else. */
function isExact({ rows, reading }: Ground, way: Way | null): boolean {
  const base = newestBilled(reading);
  if (base?.usageSeq == null || base.model !== way?.model || base.epoch !== reading.epoch) return false;
  const isRead = (row: StoredRow): boolean =>
    row.type === "system" ? row.data.kind === "note" || row.data.kind === "step-void" : row.type !== "error";
  return !rows.slice(base.usageSeq).some(isRead);
}

function cacheOf({ way }: BodyInput, next: Forecast | null): ContextBody["cache"] {
  const ttl = way?.target.profile.breakpoints === "tails" ? way.ttl : null;
  if (way === null || next === null || next.until === null) return { ttl, until: null, tokens: null, lossPrice: null };
  const lost = billOf(way, next.tokens, 0).price;
  const lossPrice = lost === null || next.price === null ? null : lost - next.price;
  return { ttl, until: next.until, tokens: next.read, lossPrice };
}

function tellPreview({ ground, way, changes, ids }: BodyInput, next: Forecast | null): Preview | null {
  const notes = tellRows({ clock: { now: () => ground.now }, ids }, changes);
  if (way === null || notes.length === 0) return null;
  const left = changes.filter(({ note }) => note === null).length;
  const told = forecast(ground, way, sealed(ground, notes));
  return previewOf(told, next, left === 0 ? undefined : "Tools and constants stay as they are: they can't be told.");
}

function rebuildPreview({ ground, way, changes, fresh, ids }: BodyInput, next: Forecast | null): Preview | null {
  if (way === null || fresh === null || changes.length === 0) return null;
  const rows = rebuildRows({ clock: { now: () => ground.now }, ids }, ground.rows, fresh);
  return previewOf(forecast(ground, way, sealed(ground, rows)), next);
}

function compactPreview(input: BodyInput, now: Forecast | null): ContextBody["compact"] {
  const { ground, way, wayInForce, ids } = input;
  if (way === null || wayInForce === null) return null;
  const windowTokens = wayInForce.facts.contextTokens;
  const plan = planCompaction({ rows: ground.rows, windowTokens, trigger: "manual" });
  if (isFault(plan)) return null;
  const at = { id: ids.chunk(), turnId: noTurn, step: 0, createdAt: ground.now };
  const ask: NewRow = { ...at, role: "user", type: "text", data: { text: summaryAsks[0] ?? "" } };
  const data: SystemData = {
    kind: "compaction",
    summary: "x".repeat(summaryCharsGuess),
    keepFrom: plan.keepFrom,
    keptUserSeqs: [...plan.keptUserSeqs],
    keptNoteSeqs: [...plan.keptNoteSeqs],
  };
  const compaction: NewRow = { ...at, role: "system", type: "system", data };
  const words = Math.ceil(summaryCharsGuess * plan.scale);
  const asked = forecast(ground, wayInForce, sealed(ground, [ask]));
  const after = forecast(ground, way, sealed(ground, [compaction]));
  return {
    summary: previewOf(asked, null, `Its input alone; the summary is some ${words} tokens of output.`),
    after: previewOf(after, now, `With a summary of some ${words} tokens.`),
  };
}

/** As if they were sealed now. */
export function sealed({ rows }: Pick<Ground, "rows">, more: readonly NewRow[]): readonly StoredRow[] {
  const last = rows.at(-1);
  return more.map((row, index) => ({ ...row, seq: (last?.seq ?? 0) + 1 + index, term: last?.term ?? 0 }));
}
