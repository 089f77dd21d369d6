import type { Fault, TabId } from "@varve/protocol";
import { assert, isFault } from "@varve/protocol";
import type { Claim, Fence, LogEntry, LogTarget, NewTab, TabChange, TabEntry } from "../log.ts";
import { fencedOut, tabIdTaken, unknownTab } from "../refusals.ts";
import { changedEntry, newEntry, nextTerm, targetOf } from "../tab-rule.ts";
import { jsonText } from "../well-formed.ts";
import { logIdIn, logIn, messageIn, tabIn } from "./decode.ts";
import { makeLog, placeOf } from "./logs.ts";
import type { Store } from "./store.ts";
import { kept, undone } from "./transaction.ts";

export const listTabs = (store: Store): readonly TabEntry[] => store.sql.tabs.all().map(tabIn);

export function readTab(store: Store, id: TabId): TabEntry | null {
  const row = store.sql.tab.get(id);
  return row === undefined ? null : tabIn(row);
}

export function createTab(store: Store, tab: NewTab, target: LogTarget = targetOf(tab)): TabEntry | Fault {
  assert(target.logId === tab.logId, "a tab and its target name different logs");
  assert(target.kind !== "earlier", "a tab that is made has no earlier log");
  return store.transactions.write<TabEntry | Fault>(() => {
    if (readTab(store, tab.id) !== null) return undone(tabIdTaken(tab.id));
    if (tab.parentId !== null && readTab(store, tab.parentId) === null) return undone(unknownTab(tab.parentId));
    const place = makeLog(store, target, tab.createdAt);
    if (isFault(place)) return undone(place);
    const entry = newEntry(tab, place);
    insertTab(store, entry);
    store.sql.insertTabLog.run(entry.id, entry.logId);
    return kept(entry);
  });
}

export function changeTab(store: Store, id: TabId, change: TabChange): TabEntry | Fault {
  return store.transactions.write<TabEntry | Fault>(() => {
    const tab = readTab(store, id);
    return tab === null ? undone(unknownTab(id)) : kept(saveTabChange(store, tab, change));
  });
}

/** Inside a transaction of the caller. */
export function saveTabChange(store: Store, tab: TabEntry, change: TabChange): TabEntry {
  const entry = changedEntry(tab, change);
  const { title, cwd, model, effort, permissions, seen, updatedAt, trashedAt, id } = entry;
  const rest = [seen, updatedAt, trashedAt, jsonText(entry.options)] as const;
  store.sql.changeTab.run(title, cwd, model, effort, permissions, ...rest, id);
  return entry;
}

export function claimTab(store: Store, id: TabId, nowMs: number): Claim | Fault | null {
  return store.transactions.write<Claim | null>(() => {
    store.sql.claim.run(Math.trunc(nowMs), id);
    const tab = readTab(store, id);
    if (tab === null) return undone(null);
    const { logId, term, tail } = tab;
    const waiting = store.sql.waiting.all(id).map(messageIn);
    return kept({ tabId: id, logId, term, tail, tab, waiting });
  });
}

/** The term rises too: pointing back to an earlier log must not give a forgotten fence on it new life. */
export function pointTab(store: Store, fence: Fence, to: { target: LogTarget; nowMs: number }): TabEntry | Fault {
  return store.transactions.write<TabEntry | Fault>(() => {
    const tab = readTab(store, fence.tabId);
    if (tab === null || tab.logId !== fence.logId || tab.term !== fence.term) return undone(fencedOut());
    const { target, nowMs } = to;
    const place = target.kind === "earlier" ? placeOf(store, tab.id, target.logId) : makeLog(store, target, nowMs);
    if (isFault(place)) return undone(place);
    if (target.kind !== "earlier") store.sql.insertTabLog.run(tab.id, target.logId);
    const term = nextTerm(Math.max(tab.term, place.term), nowMs);
    const seen = Math.min(tab.seen, place.tail);
    store.sql.pointTab.run(target.logId, term, seen, tab.id);
    return kept({ ...tab, logId: target.logId, tail: place.tail, term, seen });
  });
}

export function logsOfTab(store: Store, id: TabId): readonly LogEntry[] {
  return store.sql.logsOfTab.all(id).map((row) => {
    const segments = store.segmentsOf(logIdIn(row, "id")) ?? [];
    return logIn(row, store.tailOf(segments));
  });
}

function insertTab(store: Store, tab: TabEntry): void {
  const { id, title, cwd, model, effort, permissions, parentId, logId, term, seen } = tab;
  const rest = [tab.createdAt, tab.updatedAt, tab.trashedAt, jsonText(tab.options)] as const;
  store.sql.insertTab.run(id, title, cwd, model, effort, permissions, parentId, logId, term, seen, ...rest);
}
