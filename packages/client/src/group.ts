/**
 * Rows and open blocks as a page shows them: one group for what stands together in one step by one author. Derived, never
 * stored; half-read turns and calls without their result (or the other way round) are shown as far as they are known.
 */
import type { LogChunk } from "@varve/protocol";
import type { GroupItem, LiveOutput, OpenView, RowGroup, TabSnapshot } from "./client.ts";

type Shown = Pick<TabSnapshot, "rows" | "open" | "outputs">;
type ToolItem = Extract<GroupItem, { readonly item: "tool" }>;
type Place = Pick<RowGroup, "kind" | "turnId" | "step">;

/**
 * `former`: what the last call returned. Groups and items that say the same keep their identity, so that only what changed
 * is rendered again. A group's key is the id of its first row, so it stays when the group grows or its blocks seal.
 */
export function groupRows(shown: Shown, former: readonly RowGroup[] = []): readonly RowGroup[] {
  const grouping = new Grouping(shown);
  for (const row of shown.rows) grouping.addRow(row);
  for (const open of shown.open) grouping.addOpen(open);
  return keepIdentity(grouping.groups(), former);
}

interface GrowingGroup extends Place {
  readonly key: string;
  readonly items: (GroupItem | ToolParts)[];
}
/** A tool item while its parts are being found. */
interface ToolParts {
  readonly item: "parts";
  readonly callId: string;
  call: LogChunk | null;
  result: LogChunk | null;
  live: OpenView | null;
  readonly questions: LogChunk[];
}

class Grouping {
  readonly #outputs: ReadonlyMap<string, LiveOutput>;
  readonly #groups: GrowingGroup[] = [];
  readonly #tools = new Map<string, ToolParts>();

  constructor(shown: Shown) {
    this.#outputs = shown.outputs;
  }

  addRow(row: LogChunk): void {
    if (row.type === "tool_call") {
      this.#tool(row, row.data.callId).call = row;
    } else if (row.type === "tool_result") {
      const parts = this.#tool(row, row.data.callId);
      parts.result ??= row;
    } else if (row.type === "system" && (row.data.kind === "permission" || row.data.kind === "ask")) {
      this.#tool(row, row.data.callId).questions.push(row);
    } else if (row.type === "text" || row.type === "thinking") {
      this.#put(row, row.role === "user" ? "user" : "assistant", { item: "row", row });
    } else if (isEvent(row)) {
      this.#put(row, "event", { item: "row", row });
    }
  }

  addOpen(open: OpenView): void {
    if (open.role === "tool" && open.callId !== undefined) this.#tool(open, open.callId).live = open;
    else this.#put(open, open.role === "user" ? "user" : "assistant", { item: "open", open });
  }

  groups(): readonly RowGroup[] {
    return this.#groups.map((group) => ({ ...group, items: group.items.map((item) => this.#finished(item)) }));
  }

  /** The item of a call, wherever its first known part stands. */
  #tool(at: LogChunk | OpenView, callId: string): ToolParts {
    const held = this.#tools.get(callId);
    if (held !== undefined) return held;
    const parts: ToolParts = { item: "parts", callId, call: null, result: null, live: null, questions: [] };
    this.#tools.set(callId, parts);
    this.#put(at, "assistant", parts);
    return parts;
  }

  #put(at: LogChunk | OpenView, kind: RowGroup["kind"], item: GroupItem | ToolParts): void {
    const last = this.#groups.at(-1);
    if (last !== undefined && last.kind === kind && last.turnId === at.turnId && last.step === at.step) {
      last.items.push(item);
    } else {
      this.#groups.push({ key: at.id, kind, turnId: at.turnId, step: at.step, items: [item] });
    }
  }

  #finished(item: GroupItem | ToolParts): GroupItem {
    if (item.item !== "parts") return item;
    const { callId, call, result, live, questions } = item;
    return { item: "tool", callId, call, result, live, output: this.#outputs.get(callId) ?? null, questions };
  }
}

/** System rows that a person wants to see; the others are for the log, the meters and the inspector. */
const shownKinds: ReadonlySet<string> = new Set([
  "notice",
  "step-void",
  "compaction",
  "compaction-undo",
  "context-changed",
  "config-reload",
  "limit",
]);
/** A log begins with its prefix, its model and its surroundings: what everybody expects is no event. */
const openingRows = 3;
/** The topic of notes that tell the agent of changed instructions. Other notes are about its surroundings. */
const toldTopic = "instructions";

function isEvent(row: LogChunk): boolean {
  if (row.type === "error") return true;
  if (row.type !== "system") return false;
  if (row.data.kind === "turn-end") return row.data.reason !== "done";
  if (row.data.kind === "prefix" || row.data.kind === "model-changed") return row.seq > openingRows;
  if (row.data.kind === "note") return row.data.topic === toldTopic;
  return shownKinds.has(row.data.kind);
}

function keepIdentity(groups: readonly RowGroup[], former: readonly RowGroup[]): readonly RowGroup[] {
  const byKey = new Map(former.map((group) => [`${group.kind} ${group.key}`, group]));
  const next = groups.map((group) => {
    const before = byKey.get(`${group.kind} ${group.key}`);
    return before === undefined ? group : keepGroup(group, before);
  });
  return next.length === former.length && next.every((group, i) => group === former[i]) ? former : next;
}

function keepGroup(group: RowGroup, before: RowGroup): RowGroup {
  const items = group.items.map((item, i) => {
    const old = before.items[i];
    return old !== undefined && sameItem(item, old) ? old : item;
  });
  const same = items.length === before.items.length && items.every((item, i) => item === before.items[i]);
  return same && group.step === before.step && group.turnId === before.turnId ? before : { ...group, items };
}

function sameItem(a: GroupItem, b: GroupItem): boolean {
  if (a.item === "row") return b.item === "row" && a.row === b.row;
  if (a.item === "open") return b.item === "open" && a.open === b.open;
  return b.item === "tool" && sameTool(a, b);
}

const sameTool = (a: ToolItem, b: ToolItem): boolean =>
  a.callId === b.callId &&
  a.call === b.call &&
  a.result === b.result &&
  a.live === b.live &&
  a.output === b.output &&
  a.questions.length === b.questions.length &&
  a.questions.every((question, i) => question === b.questions[i]);
