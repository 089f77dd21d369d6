/** Faults put into the product's ports, one at a time: each breaks a promise, and a simulation that misses it has no teeth. */
import type { OutboxStore } from "@varve/client";
import type { Log } from "@varve/log";
import { parseChunkId } from "@varve/protocol";
import type { Tampering } from "./world.ts";

function withMethods(log: Log, make: (log: Log) => Partial<Log>): Log {
  const own = make(log);
  return new Proxy(log, {
    get(target, name) {
      const mine: unknown = Reflect.get(own, name);
      if (mine !== undefined) return mine;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Waiting messages stay queued whatever a turn's end says of them. */
const noHold: Tampering = {
  log: (log) =>
    withMethods(log, (inner) => ({
      commit: (fence, batch) => {
        const inbox = batch.inbox?.filter((write) => write.write !== "change" || write.state !== "held");
        const isEnd = batch.rows.some((row) => row.type === "system" && row.data.kind === "turn-end");
        return inner.commit(fence, isEnd && inbox !== undefined ? { ...batch, inbox } : batch);
      },
    })),
};

/** What the disk did not do is told as done. */
const claimsSuccess: Tampering = {
  log: (log) =>
    withMethods(log, (inner) => ({
      commit: async (fence, batch) => {
        const outcome = await inner.commit(fence, batch);
        if (outcome.kind !== "failed" || batch.rows.length > 0) return outcome;
        const inbox = (batch.inbox ?? []).flatMap((write, at) =>
          write.write === "accept"
            ? [{ ...write, tabId: fence.tabId, position: 1_000 + at, version: 1, sealed: null }]
            : [],
        );
        return { kind: "committed", rows: [], tail: (await inner.tab(fence.tabId))?.tail ?? 0, inbox };
      },
    })),
};

/** A message is known under another id on the disk than the one that its client gave it: sent again, it is new. */
function freshIds(): Tampering {
  let made = 0;
  return {
    log: (log) =>
      withMethods(log, (inner) => ({
        commit: (fence, batch) => {
          const accepted = batch.inbox?.find((write) => write.write === "accept" && write.state === "sealed");
          if (accepted === undefined) return inner.commit(fence, batch);
          made += 1;
          const id = parseChunkId(`${accepted.id}-${made}`);
          if (id === null) return inner.commit(fence, batch);
          const rows = batch.rows.map((row) => (row.id === accepted.id ? { ...row, id } : row));
          return inner.commit(fence, { ...batch, rows, inbox: [{ ...accepted, id }] });
        },
      })),
  };
}

/** Terms are not above those that were: the clock of the machine is not asked. */
const oldTerms: Tampering = {
  log: (log) => withMethods(log, (inner) => ({ claim: (id) => inner.claim(id, 0) })),
};

/** An unfinished turn is not found at the start: nobody ends it. */
const noRecovery: Tampering = {
  log: (log) => withMethods(log, () => ({ unfinished: async () => [], journal: emptyJournal })),
};
const emptyJournal: Log["journal"] = {
  write: () => undefined,
  blocksOf: () => [],
  tabsWithBlocks: () => [],
  clear: () => undefined,
  faults: () => 0,
};

/** A page of rows ends one row early: a hole that no stamp tells of. */
const shortPages: Tampering = {
  log: (log) =>
    withMethods(log, (inner) => ({
      page: async (query) => {
        const page = await inner.page(query);
        return "kind" in page || query.limit === 1
          ? page
          : { ...page, rows: page.rows.filter((row) => row.seq % 7 !== 0) };
      },
    })),
};

/** The outbox says that it has kept what it has not. */
const deafStore: Tampering = {
  store: (store): OutboxStore => ({
    ...store,
    put: (entry) => (entry.sealedAt === undefined ? Promise.resolve() : store.put(entry)),
  }),
};

export const tamperings: Readonly<Record<string, () => Tampering>> = {
  "what waits is not held behind a stop": () => noHold,
  "a write that failed is told as done": () => claimsSuccess,
  "a message changes its id": freshIds,
  "a term comes again behind a restore": () => oldTerms,
  "an unfinished turn is left as it is": () => noRecovery,
  "pages have holes": () => shortPages,
  "the outbox of a page forgets": () => deafStore,
};
