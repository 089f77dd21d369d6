/** Reads rows of one tab by pages. What a page means for the window is decided in `tab-view.ts`. */
import { limits, type Page } from "@varve/protocol";
import { decodePage } from "./decode.ts";
import type { Paging } from "./snapshot.ts";
import type { TabStage } from "./tab-stage.ts";
import { fitsPage, readAtEnd, takePage, viewStep, windowHi, windowLo } from "./tab-view.ts";

/** A page that does not fit (another term, or the window moved meanwhile) is read again after the next head, so often. */
const pageTriesMax = 3;

export async function readPage(stage: TabStage, query: string): Promise<Page | null> {
  const answer = await stage.rest({ method: "GET", path: `/tabs/${stage.tabId}/chunks?${query}` });
  return answer.ok ? decodePage(answer.body) : null;
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
