/** The rows that an owner seals in front of a turn's user row: what the model must know before it reads the message. */
import type { Clock, IdMaker, NewRow, StoredRow } from "@varve/protocol";
import { noTurn } from "@varve/protocol";
import { makePrefixData } from "@varve/wire";
import type { RowMaker } from "../new-rows.ts";
import { rowMaker } from "../new-rows.ts";
import type { ToolBox } from "../tools/tool.ts";
import { isKind } from "../turn-rows.ts";
import type { EnvironmentFacts } from "./environment-note.ts";
import { environmentKey, environmentText, environmentTopic, lastEnvironment, listedMax } from "./environment-note.ts";
import { readInstructions } from "./instructions.ts";
import type { ContextOperations } from "./operations.ts";
import { systemPrompt } from "./system-prompt.ts";

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
}

const outside = { turnId: noTurn, step: 0 } as const;

/**
 * Rows that must be sealed before the next turn's user row, in the same transaction: for a log without a prefix `prefix`,
 * `model-changed` and the environment note; else what has changed since.
 */
export async function rowsBeforeTurn(context: TabContext, rows: readonly StoredRow[]): Promise<readonly NewRow[]> {
  if (!rows.some((row) => isKind(row, "prefix"))) return openingRows(context);
  return [...modelIfChanged(context, rows), ...(await noteIfChanged(context, rows))];
}

/** The first rows of a fresh log: prefix, model, note. Nothing of them is ever read from the live configuration again. */
export async function openingRows(context: TabContext): Promise<readonly NewRow[]> {
  const make = rowMaker(context);
  const facts = await factsOf(context);
  const instructions = await readInstructions(context.operations, {
    home: context.home,
    cwd: context.cwd,
    repository: facts.repository,
  });
  const prefix = makePrefixData({
    system: [systemPrompt, ...instructions.blocks],
    tools: context.tools.definitions,
    instructions: instructions.files,
  });
  return [make.system(outside, prefix), modelRow(context, make), noteRow(make, environmentText(facts))];
}

/** A `note` row when the day, the branch or the directory is another one than the log's last note says. */
export async function noteIfChanged(context: TabContext, rows: readonly StoredRow[]): Promise<readonly NewRow[]> {
  const facts = await factsOf(context);
  const last = lastEnvironment(rows);
  const text = environmentText(facts);
  if (last !== null && environmentKey(last) === environmentKey(text)) return [];
  return [noteRow(rowMaker(context), text)];
}

/** A `model-changed` row when the tab's model or effort is another one than the log's last row says. */
export function modelIfChanged(context: TabContext, rows: readonly StoredRow[]): readonly NewRow[] {
  const row = rows.findLast((candidate) => isKind(candidate, "model-changed"));
  const same =
    row !== undefined &&
    isKind(row, "model-changed") &&
    row.data.model === context.model &&
    row.data.effort === context.effort;
  return same ? [] : [modelRow(context, rowMaker(context))];
}

const modelRow = ({ model, effort }: TabContext, make: RowMaker): NewRow =>
  make.system(outside, { kind: "model-changed", model, effort });
const noteRow = (make: RowMaker, text: string): NewRow =>
  make.system(outside, { kind: "note", topic: environmentTopic, text });

async function factsOf({ operations, cwd, clock }: TabContext): Promise<EnvironmentFacts> {
  const [repository, listing] = await Promise.all([operations.repository(cwd), operations.list(cwd, listedMax)]);
  return { cwd, system: operations.system, shell: operations.shell, now: clock.now(), repository, listing };
}
