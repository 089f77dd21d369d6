/** The rows that an owner seals in front of a turn's user row: what the model must know before it reads the message. */
import type { CacheTtl, Clock, IdMaker, NewRow, PrefixData, StoredRow } from "@varve/protocol";
import { noTurn } from "@varve/protocol";
import { makePrefixData } from "@varve/wire";
import type { RowMaker } from "../new-rows.ts";
import { rowMaker } from "../new-rows.ts";
import type { ToolBox } from "../tools/tool.ts";
import { isKind } from "../turn-rows.ts";
import type { ContextChange } from "./changes.ts";
import { contextChanges, tellText } from "./changes.ts";
import type { EnvironmentFacts } from "./environment-note.ts";
import { environmentKey, environmentText, environmentTopic, lastEnvironment, listedMax } from "./environment-note.ts";
import { readInstructions } from "./instructions.ts";
import type { ContextOperations, RepositoryPlace } from "./operations.ts";
import { systemPrompt } from "./system-prompt.ts";
import { instructionsTopic, toldTexts } from "./told.ts";

export interface TabContext {
  readonly operations: ContextOperations;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly tools: Pick<ToolBox, "definitions">;
  /** `VARVE_HOME`. */
  readonly home: string;
  readonly cwd: string;
  readonly model: string;
  readonly effort: string;
  /** Lifetime of the cache entries that it writes; absent: the default. */
  readonly cacheTtl?: CacheTtl | undefined;
}

/** Names in one row about changes; the rest is counted. */
const namedMax = 20;
const defaultTtl: CacheTtl = "5m";

const outside = { turnId: noTurn, step: 0 } as const;

/**
 * Rows that must be sealed before the next turn's user row, in the same transaction: for a log without a prefix `prefix`,
 * `model-changed` and the environment note; else what has changed since.
 */
export async function rowsBeforeTurn(context: TabContext, rows: readonly StoredRow[]): Promise<readonly NewRow[]> {
  if (!rows.some((row) => isKind(row, "prefix"))) return openingRows(context);
  const facts = await factsOf(context);
  return [
    ...changedRows(context, rows, await prefixNow(context, facts.repository)),
    ...modelIfChanged(context, rows),
    ...noteOnChange(context, rows, facts),
  ];
}

/** The first rows of a fresh log: prefix, model, note. Nothing of them is ever read from the live configuration again. */
export async function openingRows(context: TabContext): Promise<readonly NewRow[]> {
  const make = rowMaker(context);
  const facts = await factsOf(context);
  const prefix = await prefixNow(context, facts.repository);
  return [make.system(outside, prefix), modelRow(context, make), noteRow(make, environmentText(facts))];
}

/** What a log that began now would freeze. Reads the instruction files anew. */
export async function freshPrefix(context: TabContext): Promise<PrefixData> {
  return prefixNow(context, await context.operations.place(context.cwd));
}

async function prefixNow(context: TabContext, repository: RepositoryPlace | null): Promise<PrefixData> {
  const { home, cwd } = context;
  const instructions = await readInstructions(context.operations, { home, cwd, repository });
  return makePrefixData({
    system: [systemPrompt, ...instructions.blocks],
    tools: context.tools.definitions,
    instructions: instructions.files,
    // All tabs of one server share a provider's cache, whatever their directories are.
    workspace: home,
  });
}

/** The row that tells the model every changed text: one note. Empty when there is none that can be told. */
export function tellRows(
  context: Parameters<typeof rowMaker>[0],
  changes: readonly ContextChange[],
): readonly NewRow[] {
  const text = tellText(changes);
  return text === null ? [] : [rowMaker(context).system(outside, { kind: "note", topic: instructionsTopic, text })];
}

/** Notes of earlier changes stay in the log for ever, so the model is told that they are over. */
const renewedText =
  "The instructions at the very beginning were renewed. What stands there holds now; what was told of changes before this does not.";

/** The rows that put a new prefix in force: the whole context is sent anew behind it. */
export function rebuildRows(
  context: Parameters<typeof rowMaker>[0],
  rows: readonly StoredRow[],
  fresh: PrefixData,
): readonly NewRow[] {
  const make = rowMaker(context);
  const prefix = make.system(outside, fresh);
  if (toldTexts(rows).noteSeqs.length === 0) return [prefix];
  return [prefix, make.system(outside, { kind: "note", topic: instructionsTopic, text: renewedText })];
}

/**
 * A row for people that says what changed outside of this log, once for each set of changes; the model does not read it.
 * Nothing is applied by itself: not one byte of the next request moves.
 */
function changedRows(context: TabContext, rows: readonly StoredRow[], fresh: PrefixData): readonly NewRow[] {
  const changes = contextChanges(rows, fresh);
  if (changes.length === 0) return [];
  const named = changes.slice(0, namedMax).map(({ name, change }) => `${name} ${change}`);
  const more = changes.length > namedMax ? [`and ${changes.length - namedMax} more`] : [];
  const text = [...named, ...more].join("\n");
  const applied = rows.findLast(
    (row) => isKind(row, "prefix") || (isKind(row, "note") && row.data.topic === instructionsTopic),
  );
  const said = rows.findLast((row) => row.type === "system" && row.data.kind === "context-changed");
  const isNewest = said !== undefined && said.seq > (applied?.seq ?? 0);
  const isSame = said?.type === "system" && said.data.kind === "context-changed" && said.data.text === text;
  return isNewest && isSame ? [] : [rowMaker(context).system(outside, { kind: "context-changed", text })];
}

/** A `note` row when the day, the branch or the directory is another one than the log's last note says. */
export async function noteIfChanged(context: TabContext, rows: readonly StoredRow[]): Promise<readonly NewRow[]> {
  return noteOnChange(context, rows, await factsOf(context));
}

function noteOnChange(context: TabContext, rows: readonly StoredRow[], facts: EnvironmentFacts): readonly NewRow[] {
  const last = lastEnvironment(rows);
  const text = environmentText(facts);
  if (last !== null && environmentKey(last) === environmentKey(text)) return [];
  return [noteRow(rowMaker(context), text)];
}

/** A `model-changed` row when the tab's model, effort or cache lifetime is another one than the log's last row says. */
export function modelIfChanged(context: TabContext, rows: readonly StoredRow[]): readonly NewRow[] {
  const row = rows.findLast((candidate) => isKind(candidate, "model-changed"));
  const same =
    row !== undefined &&
    isKind(row, "model-changed") &&
    row.data.model === context.model &&
    row.data.effort === context.effort &&
    (row.data.cacheTtl ?? defaultTtl) === (context.cacheTtl ?? defaultTtl);
  if (same) return [];
  // Back to the default lifetime it is said outright, so that no reader can take the earlier one for still in force.
  const before = row !== undefined && isKind(row, "model-changed") ? row.data.cacheTtl : undefined;
  const cacheTtl = context.cacheTtl ?? (before === undefined ? undefined : defaultTtl);
  return [modelRow({ ...context, cacheTtl }, rowMaker(context))];
}

const modelRow = ({ model, effort, cacheTtl }: TabContext, make: RowMaker): NewRow =>
  make.system(outside, { kind: "model-changed", model, effort, ...(cacheTtl !== undefined && { cacheTtl }) });
const noteRow = (make: RowMaker, text: string): NewRow =>
  make.system(outside, { kind: "note", topic: environmentTopic, text });

async function factsOf({ operations, cwd, clock }: TabContext): Promise<EnvironmentFacts> {
  const [repository, listing] = await Promise.all([operations.repository(cwd), operations.list(cwd, listedMax)]);
  return { cwd, system: operations.system, shell: operations.shell, now: clock.now(), repository, listing };
}
