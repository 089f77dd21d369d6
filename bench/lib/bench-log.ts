import { type Claim, type Log, openSqliteLog } from "@varve/log";
import { idMaker, isFault, uuidV7Maker } from "@varve/protocol";

export const ids = idMaker(
  uuidV7Maker(
    () => Date.now(),
    (into) => crypto.getRandomValues(into),
  ),
);

/** Real time; nothing in a log waits. */
export const clock = {
  now: () => Date.now(),
  setTimer: () => ({ cancel: () => undefined }),
};

export const openLog = async (home: string): Promise<Log> => sound(await openSqliteLog({ home, clock }));

/** A new tab with its log, and the right to write to it. */
export async function newTab(log: Log): Promise<Claim> {
  const base = { title: "bench", cwd: "/", model: "demo/demo", effort: "medium", permissions: "ask", parentId: null };
  const place = { id: ids.tab(), logId: ids.log(), createdAt: Date.now(), options: {} };
  const tab = sound(await log.createTab({ ...base, ...place }));
  return sound(await log.claim(tab.id, Date.now()));
}

export function sound<T>(value: T): Exclude<T, { readonly kind: "fault" } | null> {
  if (value === null || isFault(value)) throw new Error(JSON.stringify(value));
  // The two that were ruled out are exactly what the type leaves out.
  return value as Exclude<T, { readonly kind: "fault" } | null>;
}
