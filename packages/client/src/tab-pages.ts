/**
 * Reads rows of one tab by pages: for the window, and to look up what may have been lost in a restore. What a page means
 * for the window is decided in `tab-view.ts`.
 */
import { limits, type Page } from "@varve/protocol";
import type { StoredOutboxEntry } from "./client.ts";
import { decodePage } from "./decode.ts";
import type { Paging } from "./snapshot.ts";
import type { TabStage } from "./tab-stage.ts";
import { fitsPage, readAtEnd, takePage, viewStep, windowHi, windowLo } from "./tab-view.ts";

/** A page that does not fit (another term, or the window moved meanwhile) is read again after the next head, so often. */
const pageTriesMax = 3;

/**
 * Pages in which a message is looked for after a restore. One that stands further up counts as lost: sending it again is
 * answered with its fate.
 */
const searchPagesMax = 10;

export async function readPage(stage: TabStage, query: string): Promise<Page | null> {
  const answer = await stage.rest({ method: "GET", path: `/tabs/${stage.tabId}/chunks?${query}` });
  return answer.ok ? decodePage(answer.body) : null;
}

export interface MessagePlace {
  readonly seq: number;
  /** Of the owner that said so. */
  readonly term: number;
}

export class TabPages {
  readonly #stage: TabStage;
  readonly #changed: () => void;
  #paging: Paging = null;

  /** `changed` is called when paging begins and ends. */
  constructor(stage: TabStage, changed: () => void) {
    this.#stage = stage;
    this.#changed = changed;
  }

  get paging(): Paging {
    return this.#paging;
  }

  async page(side: "older" | "newer"): Promise<void> {
    const stage = this.#stage;
    const first = stage.view();
    const more = side === "older" ? windowLo(first) > 1 : windowHi(first) < first.state.tail;
    if (this.#paging !== null || stage.closed() || !more) return;
    this.#setPaging(side);
    for (let tries = 0; tries < pageTriesMax && !stage.closed(); tries++) {
      const cursor = side === "older" ? `before=${windowLo(stage.view())}` : `after=${windowHi(stage.view())}`;
      const page = await readPage(stage, `${cursor}&limit=${limits.pageRowsDefault}`);
      if (page === null || this.#take(page, side)) break;
      const { logId, version } = stage.view().state;
      if (page.logId !== logId || page.term !== version[0]) await stage.headComes();
    }
    this.#setPaging(null);
  }

  async toEnd(): Promise<void> {
    const stage = this.#stage;
    if (stage.view().attached) return stage.take(viewStep(readAtEnd(stage.view())));
    if (this.#paging !== null) return;
    this.#setPaging("newer");
    for (let tries = 0; tries < pageTriesMax && !stage.closed(); tries++) {
      const page = await readPage(stage, `limit=${limits.pageRowsDefault}`);
      if (page === null || this.#take(page, "end")) break;
      await stage.headComes();
    }
    this.#setPaging(null);
  }

  /**
   * Where a message stands that may have been lost in a restore: where it stood, or outside the window. False when it is not
   * in the log, null when nobody can say now.
   */
  placeOf(entry: StoredOutboxEntry): Promise<MessagePlace | false | null> {
    const { state } = this.#stage.view();
    const shown = state.logId === entry.logId ? state.sealed.get(entry.id) : undefined;
    // A page brought it while others were looked up.
    if (shown !== undefined) return Promise.resolve({ seq: shown.row.seq, term: state.version[0] });
    return entry.seq === undefined ? this.#findOutside(entry) : this.#standsAt(entry, entry.seq);
  }

  async #standsAt(entry: StoredOutboxEntry, seq: number): Promise<MessagePlace | false | null> {
    const page = await readPage(this.#stage, `after=${seq - 1}&limit=1`);
    if (page === null || page.logId !== entry.logId) return null;
    return page.chunks[0]?.id === entry.id ? { seq, term: page.term } : false;
  }

  async #findOutside(entry: StoredOutboxEntry): Promise<MessagePlace | false | null> {
    const { attached, state } = this.#stage.view();
    // A window that reaches the end holds whatever stands above its first row; one that does not is no place to begin at.
    let before = attached ? windowLo(this.#stage.view()) : state.tail + 1;
    for (let pages = 0; pages < searchPagesMax && before > 1; pages++) {
      const page = await readPage(this.#stage, `before=${before}&limit=${limits.pageRowsMax}`);
      if (page === null || page.logId !== entry.logId) return null;
      const row = page.chunks.find((chunk) => chunk.id === entry.id);
      if (row !== undefined) return { seq: row.seq, term: page.term };
      before = page.chunks[0]?.seq ?? 0;
    }
    return false;
  }

  /** True when nothing is left to do with this page. */
  #take(page: Page, side: "older" | "newer" | "end"): boolean {
    const stage = this.#stage;
    if (stage.closed() || !fitsPage(stage.view(), page, side)) return stage.closed();
    stage.take(takePage(stage.view(), page, side));
    return true;
  }

  #setPaging(paging: Paging): void {
    this.#paging = paging;
    this.#changed();
  }
}
