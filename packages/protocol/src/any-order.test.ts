/**
 * Whole sequences of frames, as one owner tells them, in every order in which they can reach a client: late, again, never.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyHead, applyOp, applyOps, isStamped } from "./apply.ts";
import type { HeadFrame, OpsFrame } from "./frame.ts";
import type { Op } from "./op.ts";
import { emptyTabState, type TabState } from "./tab-state.ts";
import { delta, dropped, frame, head, message, opened, queued, sealed, status, textRow } from "./test-kit.ts";

type Kind = "queue" | "edit" | "cancel" | "consume" | "open" | "grow" | "seal" | "lose" | "status";
interface Act {
  readonly kind: Kind;
  readonly pick: number;
}
const kinds: readonly Kind[] = ["queue", "edit", "cancel", "consume", "open", "grow", "grow", "seal", "lose", "status"];
const act: fc.Arbitrary<Act> = fc.record({ kind: fc.constantFrom(...kinds), pick: fc.nat(99) });

/** An owner that does what can be done, and what it tells about it. */
class Owner {
  readonly ops: Op[] = [];
  readonly #waiting = new Map<string, number>();
  readonly #open = new Map<string, number>();
  #made = 0;
  #tail = 0;

  does({ kind, pick }: Act): void {
    const waiting = [...this.#waiting.keys()][pick % Math.max(1, this.#waiting.size)];
    const open = [...this.#open.keys()][pick % Math.max(1, this.#open.size)];
    if (kind === "queue") this.#queue(`m${++this.#made}`, 1);
    else if (kind === "open") this.#opens(`b${++this.#made}`);
    else if (kind === "status") this.ops.push(status({ step: pick }));
    else if (waiting !== undefined && ["edit", "cancel", "consume"].includes(kind)) this.#onWaiting(waiting, kind);
    else if (open !== undefined && ["grow", "seal", "lose"].includes(kind)) this.#onOpen(open, { kind, pick });
  }

  #queue(id: string, version: number): void {
    this.#waiting.set(id, version);
    this.ops.push(queued(id, { version, position: this.#made, data: { text: `${id} ${version}` } }));
  }
  #opens(id: string): void {
    this.#open.set(id, 0);
    this.ops.push(opened(id, { index: this.#made }));
  }
  #onWaiting(id: string, kind: Kind): void {
    if (kind === "edit") {
      this.#queue(id, (this.#waiting.get(id) ?? 0) + 1);
      return;
    }
    this.#waiting.delete(id);
    this.ops.push(kind === "cancel" ? dropped(id) : this.#row(id));
  }
  #onOpen(id: string, { kind, pick }: Act): void {
    const offset = this.#open.get(id) ?? 0;
    if (kind === "grow") {
      const text = "abcdefghij".slice(0, 1 + (pick % 10));
      this.#open.set(id, offset + text.length);
      this.ops.push(delta(id, offset, text));
      return;
    }
    this.#open.delete(id);
    this.ops.push(kind === "lose" ? dropped(id, "lost") : this.#row(id));
  }
  #row(id: string): Op {
    this.#tail += 1;
    return sealed(textRow({ id, seq: this.#tail }));
  }
}

/** Neighbouring ops told together, as often as the cuts say. */
function framesOf(ops: readonly Op[], cuts: readonly number[]): readonly OpsFrame[] {
  const frames: OpsFrame[] = [];
  let [n, at, cut] = [0, 0, 0];
  while (at < ops.length) {
    const together = ops.slice(at, at + 1 + ((cuts[cut++ % Math.max(1, cuts.length)] ?? 0) % 4));
    frames.push(frame(n + 1, together));
    n += together.filter(isStamped).length;
    at += together.length;
  }
  return frames;
}

const start: TabState = (() => {
  const outcome = applyHead(emptyTabState, head(0), { answersSub: true });
  return outcome.kind === "applied" ? outcome.state : emptyTabState;
})();

/** What the owner itself holds after all that it told. */
function truth(ops: readonly Op[]): TabState {
  let n = 0;
  return ops.reduce((state, op) => {
    if (isStamped(op)) n += 1;
    return applyOp(state, op, { stamp: [1, n] });
  }, start);
}

function headOf(state: TabState): HeadFrame {
  const { op: _op, ...bare } = { op: "status", ...state.status };
  return head(state.version[1], {
    rows: [...state.sealed.values()].map((cell) => cell.row).sort((a, b) => a.seq - b.seq),
    queue: [...state.queue.values()].map((cell) => message(cell.id, cell.message)),
    open: [...state.open.values()].map((cell) => ({ ...cell.block, offset: 0, text: cell.text })),
    status: bare,
  });
}

const hears = (state: TabState, next: OpsFrame): TabState => {
  const outcome = applyOps(state, next);
  return outcome.kind === "stale" ? state : outcome.state;
};
const takes = (state: TabState, next: HeadFrame): TabState => {
  const outcome = applyHead(state, next, { answersSub: true });
  return outcome.kind === "applied" ? outcome.state : state;
};

/** What a page shows of it, and the stamp; by which frame a cell came to be known is of no account. */
const shown = (state: TabState): unknown => ({
  version: state.version,
  tail: state.tail,
  status: state.status,
  rows: [...state.sealed.values()].map((cell) => cell.row).sort((a, b) => a.seq - b.seq),
  queue: [...state.queue.values()].map((cell) => cell.message).sort((a, b) => a.position - b.position),
  open: [...state.open.values()].map(({ block, text }) => ({ ...block, text })).sort((a, b) => a.index - b.index),
});

const told = fc
  .record({ acts: fc.array(act, { minLength: 1, maxLength: 40 }), cuts: fc.array(fc.nat(9), { maxLength: 6 }) })
  .map(({ acts, cuts }) => {
    const owner = new Owner();
    for (const one of acts) owner.does(one);
    return { frames: framesOf(owner.ops, cuts), truth: truth(owner.ops) };
  });
/** Which frames arrive, in which order: any of them, any number of times. */
const arrivals = fc.array(fc.nat(999), { maxLength: 120 });
const pick = (frames: readonly OpsFrame[], which: readonly number[]): readonly OpsFrame[] =>
  which.flatMap((at) => frames[at % Math.max(1, frames.length)] ?? []);
const runs = { numRuns: 800 };

describe("a sequence of frames, in any order", () => {
  test("[APPLY-20] in order, however they are cut into frames, they give what the owner holds", () => {
    fc.assert(
      fc.property(told, ({ frames, truth }) => {
        expect(shown(frames.reduce(hears, start))).toEqual(shown(truth));
      }),
      runs,
    );
  });
  test("[APPLY-20] with any of them again at any later time the end is the same", () => {
    fc.assert(
      fc.property(told, arrivals, ({ frames, truth }, again) => {
        const heard = frames.flatMap((next, at) => [next, ...pick(frames.slice(0, at + 1), again.slice(at, at + 3))]);
        const end = [...heard, ...pick(frames, again)].reduce(hears, start);
        expect(shown(end)).toEqual(shown(truth));
        expect(end.seen).toEqual(end.version);
      }),
      runs,
    );
  });
  test("[APPLY-21] in any order and with any of them lost, nothing is shown that the owner never held, and one head heals all", () => {
    fc.assert(
      fc.property(told, arrivals, ({ frames, truth }, which) => {
        const heard = pick(frames, which).reduce(hears, start);
        const known = new Set([...truth.sealed.keys()]);
        expect([...heard.sealed.keys()].filter((id) => !known.has(id))).toEqual([]);
        expect(heard.version[1]).toBeLessThanOrEqual(truth.version[1]);
        expect(shown(takes(heard, headOf(truth)))).toEqual(shown(truth));
      }),
      runs,
    );
  });
  test("[APPLY-21] whatever came before a head, what comes after it changes nothing that the head has told", () => {
    fc.assert(
      fc.property(told, arrivals, arrivals, ({ frames, truth }, before, after) => {
        const healed = takes(pick(frames, before).reduce(hears, start), headOf(truth));
        expect(shown(pick(frames, after).reduce(hears, healed))).toEqual(shown(truth));
      }),
      runs,
    );
  });
  test("[APPLY-22] two clients that heard other frames in other orders hold the same at the same stamp", () => {
    fc.assert(
      fc.property(told, fc.nat(40), arrivals, arrivals, ({ frames }, upTo, one, other) => {
        const some = frames.slice(0, upTo);
        const hear = (which: readonly number[]): TabState =>
          some.reduce((state, next) => hears(pick(some, which).reduce(hears, state), next), start);
        expect(shown(hear(one))).toEqual(shown(hear(other)));
      }),
      runs,
    );
  });
});
