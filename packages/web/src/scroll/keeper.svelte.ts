/**
 * Keeps what is being read where it is. Either the view follows the end, or the row at its upper edge stays in place
 * whatever grows, seals, folds or is paged in around it. The browser's own scroll anchoring is switched off: it differs
 * between browsers and does nothing at the very top, where older rows come in.
 *
 * Corrections happen in a resize observer, which runs after layout and before paint, and after each change of the rows:
 * a wrong position is never painted.
 */
import type { ReadingPlace } from "../state/open-tab.svelte.ts";
import { distanceToEnd, firstVisible, followsAfterScroll, type ScrollPlace } from "./follow.ts";

/** More than one row is remembered: the first may be evicted or dropped. */
const ANCHORS_MAX = 4;
const ROW = "[data-row]";

export interface KeeperPorts {
  /** Called when the view moved and may want rows. */
  readonly moved: (place: ScrollPlace) => void;
  readonly start: ReadingPlace | null;
}

export class ScrollKeeper {
  follows: boolean;
  readonly #ports: KeeperPorts;
  #scroller: HTMLElement | null = null;
  #content: HTMLElement | null = null;
  #anchors: readonly ReadingPlace[] = [];
  #lastTop = 0;

  constructor(ports: KeeperPorts) {
    this.#ports = ports;
    this.follows = $state(ports.start === null);
    this.#anchors = ports.start === null ? [] : [ports.start];
  }

  /** Where the reader stands; null while the view follows the end. */
  get place(): ReadingPlace | null {
    return this.follows ? null : (this.#anchors[0] ?? null);
  }

  readonly attach = (scroller: HTMLElement): (() => void) => {
    const content = scroller.firstElementChild;
    if (!(content instanceof HTMLElement)) return () => undefined;
    this.#scroller = scroller;
    this.#content = content;
    const observer = new ResizeObserver(() => this.settle());
    observer.observe(content);
    observer.observe(scroller);
    const onScroll = (): void => this.#scrolled();
    scroller.addEventListener("scroll", onScroll, { passive: true });
    this.settle();
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", onScroll);
      this.#scroller = null;
      this.#content = null;
    };
  };

  /** Puts the view where it belongs after a change of the rows. */
  settle(): void {
    const scroller = this.#scroller;
    if (!scroller) return;
    this.#notice(scroller);
    if (this.follows) {
      if (distanceToEnd(placeOf(scroller)) > 0) scroller.scrollTop = scroller.scrollHeight;
    } else this.#restore(scroller);
    this.#lastTop = scroller.scrollTop;
    if (!this.follows) this.#remember(scroller);
    this.#ports.moved(placeOf(scroller));
  }

  toEnd(): void {
    this.follows = true;
    this.settle();
  }

  #scrolled(): void {
    const scroller = this.#scroller;
    if (!scroller) return;
    this.#notice(scroller);
    this.#remember(scroller);
    this.#ports.moved(placeOf(scroller));
  }

  /** The person may have scrolled although the event about it has not come yet: then nothing may be pinned over it. */
  #notice(scroller: HTMLElement): void {
    const place = placeOf(scroller);
    if (place.top === this.#lastTop) return;
    const followed = this.follows;
    this.follows = followsAfterScroll(followed, this.#lastTop, place);
    this.#lastTop = place.top;
    if (followed && !this.follows) this.#remember(scroller);
  }

  #restore(scroller: HTMLElement): void {
    const upper = scroller.getBoundingClientRect().top;
    for (const anchor of this.#anchors) {
      const element = this.#content?.querySelector(`[data-row="${CSS.escape(anchor.rowKey)}"]`);
      if (!element) continue;
      const drift = element.getBoundingClientRect().top - upper - anchor.offsetPx;
      if (Math.abs(drift) >= 0.5) scroller.scrollTop += drift;
      return;
    }
  }

  #remember(scroller: HTMLElement): void {
    const rows = this.#content?.querySelectorAll<HTMLElement>(ROW);
    if (!rows) return;
    const upper = scroller.getBoundingClientRect().top;
    const first = firstVisible(rows.length, (index) => rows[index]?.getBoundingClientRect().bottom ?? 0, upper + 1);
    if (first === -1) return;
    const anchors: ReadingPlace[] = [];
    for (let index = first; index < Math.min(rows.length, first + ANCHORS_MAX); index++) {
      const row = rows[index];
      const rowKey = row?.dataset.row;
      if (row && rowKey) anchors.push({ rowKey, offsetPx: row.getBoundingClientRect().top - upper });
    }
    this.#anchors = anchors;
  }
}

const placeOf = (scroller: HTMLElement): ScrollPlace => ({
  top: scroller.scrollTop,
  height: scroller.scrollHeight,
  viewport: scroller.clientHeight,
});
