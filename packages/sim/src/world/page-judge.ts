/** What must hold of every page after every event: nothing twice, nothing invented, nothing of one's own out of sight. */
import type { TabSnapshot } from "@varve/client";
import { limits, type TabId } from "@varve/protocol";
import type { Page, Shown } from "./page.ts";
import type { Truth } from "./truth.ts";
import { must } from "./violation.ts";
import type { World } from "./world.ts";

export class PageJudge {
  readonly #world: World;
  /** Rows that were compared: a page keeps the object that came. */
  readonly #seen = new WeakSet<object>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Looks at what has changed since the last time. */
  look(): void {
    for (const device of this.#world.devices) {
      const { page } = device;
      if (page === null) continue;
      for (const [tab, shown] of page.shown) {
        if (!shown.changed) continue;
        shown.changed = false;
        this.#one(page, tab, shown);
      }
    }
  }

  /** Everything, also what has not changed: own messages whose fate has. */
  lookAtAll(): void {
    for (const { page } of this.#world.devices) {
      for (const [tab, shown] of page?.shown ?? []) if (page !== null) this.#own(page, tab, shown.snapshot);
    }
  }

  #one(page: Page, tab: TabId, shown: Shown): void {
    const before = shown.snapshot;
    const snapshot = shown.handle.snapshot();
    shown.snapshot = snapshot;
    const who = `${page.device.name} on ${tab}`;
    placesTwice(snapshot, who);
    if (snapshot.rows !== before.rows) this.#rows(snapshot, who);
    const { sync } = snapshot;
    must(sync.mismatches === 0, "digest", () => `${who}: rows ${sync.lo} to ${sync.hi} differ from the server's`);
    for (const open of snapshot.open) {
      const known = this.#world.judge.texts.get(open.id) ?? "";
      must(known.startsWith(open.text), "texts", () => `${who}: ${open.id} shows "${open.text}", it is "${known}"`);
    }
    this.#own(page, tab, snapshot);
  }

  #rows({ rows, logId, window }: TabSnapshot, who: string): void {
    must(rows.length <= limits.windowRowsMax, "window", () => `${who}: ${rows.length} rows are held`);
    let last = 0;
    for (const row of rows) {
      must(last === 0 || row.seq === last + 1, "dense", () => `${who}: row ${row.seq} follows ${last}`);
      last = row.seq;
      if (logId === null || this.#seen.has(row)) continue;
      this.#world.judge.row(logId, row, who);
      this.#seen.add(row);
    }
    must(
      window.hi <= window.tail,
      "window",
      () => `${who}: the window ends at ${window.hi}, the log at ${window.tail}`,
    );
  }

  /** What was written here is in sight, or the server has ended it. */
  #own(page: Page, tab: TabId, snapshot: TabSnapshot): void {
    if (!page.loaded || !snapshot.ready) return;
    let shown: Set<string> | null = null;
    for (const own of page.device.own.values()) {
      if (own.tab !== tab || this.#isOver(own.id)) continue;
      shown ??= new Set(
        [...snapshot.rows, ...snapshot.queue, ...snapshot.pending, ...snapshot.lost].map(({ id }) => id),
      );
      must(shown.has(own.id), "own", () => `${page.device.name} on ${tab}: its message ${own.id} is out of sight`);
    }
  }

  #isOver(id: Parameters<Truth["inbox"]["get"]>[0]): boolean {
    if (this.#world.forgiven.has(id)) return true;
    const state = this.#world.disk.truth.inbox.get(id)?.state;
    return state === "sealed" || state === "dropped";
  }
}

function placesTwice({ rows, open, queue, pending }: TabSnapshot, who: string): void {
  const seen = new Set<string>();
  for (const { id } of [...rows, ...open, ...queue, ...pending]) {
    must(!seen.has(id), "once", () => `${who}: ${id} is shown twice`);
    seen.add(id);
  }
}
