/** A tab with everything around it, for tests of the loop. Clock, ids and log are handed in, as `sim` makes them. */
import type { Log } from "@varve/log";
import type { Clock, IdMaker, NewRow, StoredRow } from "@varve/protocol";
import { noTurn, parseTabId } from "@varve/protocol";
import { createFolder, makePrefixData } from "@varve/wire";
import type { TurnLimits } from "../limits.ts";
import { turnLimits } from "../limits.ts";
import { rowMaker } from "../new-rows.ts";
import type { Decide } from "../permission/decide-contract.ts";
import type { Spending, Spent, TurnPorts } from "../ports.ts";
import type { ToolBox } from "../tools/tool.ts";
import { isKind } from "../turn-rows.ts";

import type { PlainTabOptions } from "./plain-owner.ts";
import { PlainTab } from "./plain-owner.ts";

export interface World {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly tools: ToolBox;
  readonly models: TurnPorts["models"];
  readonly decide?: Decide;
  readonly limits?: Partial<TurnLimits>;
  readonly spending?: TurnPorts["spending"];
  readonly autoCompact?: TurnPorts["autoCompact"];
}

const nothingSpent: Spent = { price: 0, unpriced: 0, max: null };
export const unlimited = (stepsMax: number = turnLimits.stepsMax): Spending => ({
  tab: nothingSpent,
  day: nothingSpent,
  stepsMax,
});

export const allowAll: Decide = () => ({ decision: "allow" });
export const askForRuns: Decide = (call, context) => {
  const granted = context.granted.some(({ tool, key }) => tool === call.subject.tool && key === call.subject.key);
  return call.effect === "run" && !granted ? { decision: "ask" } : { decision: "allow" };
};

export function optionsOf(world: World): PlainTabOptions {
  const { log, clock, ids, tools, models } = world;
  const tabId = parseTabId("tab-1");
  if (tabId === null) throw new Error("a legal id");
  const ports: TurnPorts = {
    clock,
    ids,
    tools,
    place: { tabId, cwd: "/", home: "/nowhere", hiddenEnv: [] },
    blobs: log.blobs,
    models,
    decide: world.decide ?? allowAll,
    permission: () => ({ mode: "ask", rules: [] }),
    strict: true,
    folder: createFolder(),
    spending: world.spending ?? (() => unlimited(world.limits?.stepsMax)),
    autoCompact: world.autoCompact ?? (() => ({ on: false, share: 0.8 })),
    ...(world.limits === undefined ? {} : { limits: world.limits }),
  };
  return { log, clock, ids, ports, before: async (rows) => opening(rows, world) };
}

export const startTab = (world: World): Promise<PlainTab> => PlainTab.create(optionsOf(world));
export const restartTab = (world: World): Promise<PlainTab> => PlainTab.start(optionsOf(world));

function opening(rows: readonly StoredRow[], { clock, ids, tools }: World): readonly NewRow[] {
  if (rows.some((row) => isKind(row, "prefix"))) return [];
  const make = rowMaker({ clock, ids });
  const outside = { turnId: noTurn, step: 0 };
  return [
    make.system(outside, makePrefixData({ system: ["SYS"], tools: tools.definitions })),
    make.system(outside, { kind: "model-changed", model: "script/m", effort: "default" }),
  ];
}

/** Rows as short words: `user:go`, `text:hi`, `text?:par` (partial), `call:A`, `result:A=b`, `result!:A=why`, `usage` ... */
export function wordsOf(rows: readonly StoredRow[], options: { readonly all?: boolean } = {}): readonly string[] {
  return rows.flatMap((row) => {
    switch (row.type) {
      case "text":
        return [`${row.role === "user" ? "user" : "text"}${row.data.partial === true ? "?" : ""}:${row.data.text}`];
      case "thinking":
        return [`thinking${row.data.partial === true ? "?" : ""}:${row.data.text}`];
      case "tool_call":
        return [`call:${row.data.callId}`];
      case "tool_result":
        return [`result${row.data.isError ? "!" : ""}:${row.data.callId}=${row.data.result}`];
      case "error":
        return [`error:${row.data.code}`];
      case "system":
        return systemWord(row, options.all === true);
      default:
        return [];
    }
  });
}

function systemWord(row: Extract<StoredRow, { type: "system" }>, all: boolean): readonly string[] {
  if (isKind(row, "turn-end")) return [`end:${row.data.reason}`];
  if (isKind(row, "step-void")) return [`void:${row.data.step}`];
  if (isKind(row, "notice")) return [`notice:${row.data.code}`];
  return all ? [row.data.kind] : [];
}
