/** Entries of one cache: a key, and until when it lives. */
export interface Entries {
  isAlive(key: number, nowMs: number): boolean;
  /** Makes an entry, or lets one that is there live longer; never shorter. */
  keep(key: number, nowMs: number, lifeMs: number): void;
  /** Starts the life of an entry anew, as long as it was made for. Nothing where there is none. */
  touch(key: number, nowMs: number): void;
}

export function createEntries(): Entries {
  const entries = new Map<number, { lifeMs: number; expiresMs: number }>();
  const isAlive: Entries["isAlive"] = (key, nowMs) => (entries.get(key)?.expiresMs ?? Number.NEGATIVE_INFINITY) > nowMs;
  return {
    isAlive,
    keep(key, nowMs, lifeMs) {
      const there = isAlive(key, nowMs) ? entries.get(key) : undefined;
      const longest = Math.max(lifeMs, there?.lifeMs ?? 0);
      entries.set(key, { lifeMs: longest, expiresMs: Math.max(nowMs + lifeMs, there?.expiresMs ?? 0) });
    },
    touch(key, nowMs) {
      const entry = entries.get(key);
      if (entry !== undefined && entry.expiresMs > nowMs)
        entry.expiresMs = Math.max(entry.expiresMs, nowMs + entry.lifeMs);
    },
  };
}
