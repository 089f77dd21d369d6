/**
 * When the view follows the end. Only the person decides: by scrolling up it stops, by reaching the end it goes on.
 * Growth, shrinking and re-layout never change the decision.
 */
export const END_SLACK_PX = 32;
/** Older rows are paged in when less than this many screens are left above, newer ones likewise below. */
const PAGE_AHEAD_SCREENS = 1.5;

export interface ScrollPlace {
  readonly top: number;
  readonly height: number;
  readonly viewport: number;
}

export const distanceToEnd = (place: ScrollPlace): number => Math.max(0, place.height - place.viewport - place.top);

/** `lastTop`: where the view stood before this scroll event. */
export function followsAfterScroll(follows: boolean, lastTop: number, place: ScrollPlace): boolean {
  if (distanceToEnd(place) <= END_SLACK_PX) return true;
  return follows && place.top >= lastTop;
}

export type PagingWish = "older" | "newer" | null;

/** What to page in at this place. `lo` is the seq of the first row held, 0 when none. */
export function pagingWish(
  place: ScrollPlace,
  window: { readonly lo: number; readonly attached: boolean; readonly paging: "older" | "newer" | null },
): PagingWish {
  if (window.paging !== null) return null;
  const ahead = place.viewport * PAGE_AHEAD_SCREENS;
  if (window.lo > 1 && place.top < ahead) return "older";
  if (!window.attached && distanceToEnd(place) < ahead) return "newer";
  return null;
}

/** The index of the first row that reaches below the upper edge; rows stand in ascending order. -1 when there is none. */
export function firstVisible(count: number, bottomOf: (index: number) => number, edge: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bottomOf(middle) > edge) high = middle;
    else low = middle + 1;
  }
  return low < count ? low : -1;
}

/** What the pill says; null when the view is at the end and attached to it. */
export function pillText(atEnd: boolean, attached: boolean, fresh: number): string | null {
  if (atEnd && attached) return null;
  if (fresh === 0) return "To the end";
  return fresh === 1 ? "1 new" : `${fresh} new`;
}
