import type { Op } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { emptyView, type TabView, takeHead, takeOps, takePage, windowHi, windowLo } from "./tab-view.ts";
import { Owner, theTab } from "./test-kit/owner.ts";

const now = 1_000;
const span = (view: TabView): readonly number[] => [windowLo(view), windowHi(view)];

/** A view that has jumped to the end with a page that was older than what it had heard: row 7 stands behind a gap. */
function withGap() {
  const owner = new Owner();
  owner.sealMany(5);
  let view = takeHead(emptyView(theTab), owner.head(), { answersSub: true, now }).view;
  const late = owner.page({ limit: 3 });
  const hear = (): void => {
    owner.attach({}, (frame) => {
      if (frame.type === "ops") view = takeOps(view, frame, now).view;
    });
  };
  hear();
  owner.sealMany(1);
  const jumped = takePage({ ...view, attached: false }, late, "end");
  view = jumped.view;
  return { owner, jumped, view: () => view };
}

describe("a window that does not reach the tail", () => {
  test("[VIEW-7] a row behind a gap pushes nothing out: the tail rises, and a head is asked for", () => {
    const { owner, jumped, view } = withGap();
    expect([span(view()), view().state.tail, jumped.resub]).toEqual([[3, 5], 6, "needed"]);
    owner.sealMany(1);
    expect([span(view()), view().state.tail, view().attached]).toEqual([[3, 5], 7, true]);
    const head = owner.head({ have: { log: owner.log, term: owner.term, seq: 5 } });
    const healed = takeHead(view(), head, { answersSub: true, now });
    expect([span(healed.view), healed.resub]).toEqual([[3, 7], "none"]);
  });
  test("[VIEW-7] of one frame the rows that continue the window are taken, those behind a hole are not", () => {
    const owner = new Owner();
    owner.sealMany(2);
    const view = takeHead(emptyView(theTab), owner.head(), { answersSub: true, now }).view;
    owner.sealMany(4);
    const ops = [3, 4, 6].flatMap((seq): readonly Op[] => {
      const row = owner.rows[seq - 1];
      return row === undefined ? [] : [{ op: "chunk-seal", row }];
    });
    const { log, term } = owner;
    const step = takeOps(view, { type: "ops", tab: theTab, log, term, a: 3, b: 5, ops: [...ops] }, now);
    expect([span(step.view), step.view.state.tail, step.resub]).toEqual([[1, 4], 6, "needed"]);
  });
});
