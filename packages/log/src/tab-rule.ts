import type { JsonObject } from "@varve/protocol";
import type { LogTarget, NewTab, TabChange, TabEntry } from "./log.ts";
import { jsonText, plainText } from "./well-formed.ts";

/** A tab as it is first kept. Its term starts at that of the rows it shares, so that terms never go back in its log. */
export const newEntry = (tab: NewTab, at: { readonly tail: number; readonly term: number }): TabEntry => ({
  ...tab,
  title: plainText(tab.title),
  cwd: plainText(tab.cwd),
  model: plainText(tab.model),
  effort: plainText(tab.effort),
  permissions: plainText(tab.permissions),
  tail: at.tail,
  term: at.term,
  seen: 0,
  updatedAt: tab.createdAt,
  trashedAt: null,
  options: keptObject(tab.options),
});

export const changedEntry = (tab: TabEntry, change: TabChange): TabEntry => ({
  ...tab,
  title: plainText(change.title ?? tab.title),
  cwd: plainText(change.cwd ?? tab.cwd),
  model: plainText(change.model ?? tab.model),
  effort: plainText(change.effort ?? tab.effort),
  permissions: plainText(change.permissions ?? tab.permissions),
  seen: change.seen ?? tab.seen,
  updatedAt: change.updatedAt ?? tab.updatedAt,
  trashedAt: change.trashedAt === undefined ? tab.trashedAt : change.trashedAt,
  options: change.options === undefined ? tab.options : keptObject(change.options),
});

/** As it is read back: well-formed, without undefined fields, and nobody's own object. */
// The text is that of an object.
const keptObject = (value: JsonObject): JsonObject => JSON.parse(jsonText(value)) as JsonObject;

/** A term is a whole number, later than any that was given, and later than any that a lost copy may have given. */
export const nextTerm = (term: number, nowMs: number): number => Math.max(term + 1, Math.trunc(nowMs));

export const targetOf = (tab: NewTab): LogTarget => ({ kind: "fresh", logId: tab.logId });
