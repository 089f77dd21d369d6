/**
 * What differs between what the model was given (the frozen prefix, and what was told since) and what a new log would begin
 * with, and the notes that would tell it. Pure.
 *
 * Texts can be told. Tool definitions and constants cannot: they stand in the prefix as the provider was sent them, and the
 * code goes on accepting arguments made for them; only another prefix replaces them.
 */
import type { Json, PrefixData, StoredRow, ToolDefinition } from "@varve/protocol";
import { diffOf } from "../tools/file-diff.ts";
import { prefixInForce, systemName, type ToldChange, textHash, textsOf, toldHeader, toldTexts } from "./told.ts";

export interface ContextChange {
  readonly topic: "instructions" | "system" | "tools" | "constants";
  readonly name: string;
  readonly change: "added" | "removed" | "edited";
  readonly detail?: string;
  /** Text of the note that tells it; null where only another prefix helps. */
  readonly note: string | null;
}

/** A text up to this many characters is told whole; a longer one as a diff, where that is much shorter. */
export const wholeCharsMax = 2_000;
const diffShareMax = 0.6;

export function contextChanges(rows: readonly StoredRow[], fresh: PrefixData): readonly ContextChange[] {
  const prefix = prefixInForce(rows)?.data;
  if (prefix === undefined) return [];
  return [...textChanges(rows, prefix, fresh), ...toolChanges(prefix, fresh), ...constantChanges(prefix, fresh)];
}

function textChanges(rows: readonly StoredRow[], prefix: PrefixData, fresh: PrefixData): readonly ContextChange[] {
  const told = toldTexts(rows).texts;
  const frozen = textsOf(prefix.system);
  const now = textsOf(fresh.system);
  return [...new Set([...now.keys(), ...told.keys()])].flatMap((name): readonly ContextChange[] => {
    const before = told.get(name) ?? null;
    const text = now.get(name) ?? null;
    if (before === (text === null ? null : textHash(text))) return [];
    const topic = name === systemName ? "system" : "instructions";
    const at = frozen.get(name) ?? null;
    const change = text === null ? "removed" : before === null ? "added" : "edited";
    const detail = text === null || at === null ? undefined : linesChanged(name, at, text);
    return [{ topic, name, change, ...(detail !== undefined && { detail }), note: noteOf(name, { at, text, change }) }];
  });
}

interface TextChange {
  /** As the prefix has it. */
  readonly at: string | null;
  readonly text: string | null;
  readonly change: "added" | "removed" | "edited";
}

function noteOf(name: string, { at, text, change }: TextChange): string {
  const says = (told: ToldChange, words: string): string => `${toldHeader(told, name, text)}\n${words}`;
  if (text === null) return says("removed", "There is no such text any more: what it said no longer holds.");
  if (text === at) {
    return says(
      "restored",
      "The text of that name at the very beginning holds again; what was told of it since does not.",
    );
  }
  const whole = says(
    change,
    `From now on this holds${at === null ? " too" : ", in place of the text of that name at the very beginning"}:\n${text}`,
  );
  if (at === null || text.length <= wholeCharsMax) return whole;
  const { diff } = diffOf(name, at, text);
  if (diff.length > text.length * diffShareMax) return whole;
  const words =
    "From now on the text of that name at the very beginning holds with these changes, whatever was told of it since:";
  return says(change, `${words}\n${diff}`);
}

/**
 * The note that tells all of these changes that can be told; null: there is none. With several, all their first lines come
 * before everything that the texts say: no text can pass for one of them.
 */
export function tellText(changes: readonly ContextChange[]): string | null {
  const notes = changes.flatMap(({ name, note }) => (note === null ? [] : [{ name, note }]));
  const [only] = notes;
  if (only === undefined || notes.length === 1) return only?.note ?? null;
  const parts = notes.map(({ name, note }) => {
    const end = note.indexOf("\n");
    return { header: note.slice(0, end), words: `About ${name}: ${note.slice(end + 1)}` };
  });
  return [parts.map(({ header }) => header).join("\n"), ...parts.map(({ words }) => words)].join("\n\n");
}

function linesChanged(name: string, before: string, after: string): string | undefined {
  const { added, removed } = diffOf(name, before, after);
  return added === 0 && removed === 0 ? undefined : `+${added} -${removed} lines`;
}

function toolChanges(prefix: PrefixData, fresh: PrefixData): readonly ContextChange[] {
  const frozen = new Map(prefix.tools.map((tool) => [tool.name, tool]));
  const now = new Map(fresh.tools.map((tool) => [tool.name, tool]));
  return [...new Set([...frozen.keys(), ...now.keys()])].sort().flatMap((name): readonly ContextChange[] => {
    const [before, after] = [frozen.get(name), now.get(name)];
    const shared = { topic: "tools", name, note: null } as const;
    if (before === undefined) return [{ ...shared, change: "added" }];
    if (after === undefined) return [{ ...shared, change: "removed" }];
    const detail = toolDetail(before, after);
    return detail === null ? [] : [{ ...shared, change: "edited", detail }];
  });
}

function toolDetail(before: ToolDefinition, after: ToolDefinition): string | null {
  const parts = [
    ...(before.description === after.description ? [] : ["description"]),
    ...(JSON.stringify(before.inputSchema) === JSON.stringify(after.inputSchema) ? [] : ["arguments"]),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}

/** What a prefix has no constants for comes from a table that never changes: that is no difference. */
function constantChanges(prefix: PrefixData, fresh: PrefixData): readonly ContextChange[] {
  return Object.entries(prefix.constants).flatMap(([name, before]): readonly ContextChange[] => {
    const after = fresh.constants[name];
    if (after === undefined || sorted(before) === sorted(after)) return [];
    return [{ topic: "constants", name, change: "edited", note: null }];
  });
}

/** JSON that does not depend on the order of keys. */
const sorted = (value: Json): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
