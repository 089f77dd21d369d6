/** A tab whose model is a registry's own, for tests over real provider packages. */
import type { Log } from "@varve/log";
import type { Clock, IdMaker, NewRow, StoredRow } from "@varve/protocol";
import { assert, noTurn, parseTabId } from "@varve/protocol";
import { createFolder, makePrefixData } from "@varve/wire";
import type { ModelRegistry } from "../model/model.ts";
import { rowMaker } from "../new-rows.ts";
import type { ToolBox } from "../tools/tool.ts";
import { isKind } from "../turn-rows.ts";

import { PlainTab } from "./plain-owner.ts";
import { allowAll, unlimited } from "./world.ts";

export interface ProviderTab {
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly tools: ToolBox;
  readonly models: ModelRegistry;
  readonly model: string;
  /** Rows in front of each turn; a bare prefix and the model unless given. */
  readonly before?: (rows: readonly StoredRow[]) => Promise<readonly NewRow[]>;
}

export function providerTab(options: ProviderTab): Promise<PlainTab> {
  const { clock, ids, log, tools, models, model } = options;
  const tabId = parseTabId("tab-1");
  assert(tabId !== null, "a legal id");
  const make = rowMaker({ clock, ids });
  const outside = { turnId: noTurn, step: 0 };
  const bare = async (rows: readonly StoredRow[]): Promise<readonly NewRow[]> =>
    rows.some((row) => isKind(row, "prefix"))
      ? []
      : [
          make.system(outside, makePrefixData({ system: ["SYS"], tools: tools.definitions })),
          make.system(outside, { kind: "model-changed", model, effort: "default" }),
        ];
  const ports = {
    clock,
    ids,
    tools,
    place: { tabId, cwd: "/", home: "/nowhere", hiddenEnv: [] },
    blobs: log.blobs,
    models,
    decide: allowAll,
    permission: () => ({ mode: "allow" as const, rules: [] }),
    strict: true,
    folder: createFolder(),
    spending: () => unlimited(),
    autoCompact: () => ({ on: false, share: 0.8 }),
  };
  return PlainTab.create({ log, clock, ids, ports, before: options.before ?? bare });
}
