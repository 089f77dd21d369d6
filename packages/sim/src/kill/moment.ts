/** The moments at which a kill run strikes. */
import type { Follower } from "../e2e/follower.ts";
import type { Prng } from "../prng.ts";
import { pause } from "./pause.ts";

/**
 * `any`: whenever. `ack`, `send`: at an acknowledgement or while a message is on its way, so in or beside a commit. `stream`:
 * while text comes. `tool`: while a command runs. `ending`: in the middle of a graceful end. `boot`: before the server
 * listens. `recovery`: right after, while it repairs what the last kill left.
 */
export const moments = ["any", "ack", "send", "stream", "tool", "ending", "boot", "recovery"] as const;
export type Moment = (typeof moments)[number];
export type LifeMoment = Exclude<Moment, "boot" | "recovery">;

/** A moment that does not come within this time is not waited for any longer. */
const momentMs = 8_000;
/** Longest life that ends just at any time. */
const anyMs = 900;

export const drawMoment = (prng: Prng): LifeMoment =>
  prng.pick<LifeMoment>(["any", "ack", "send", "stream", "stream", "stream", "tool", "tool", "tool", "ending"]);

/** Events of one life that a moment can wait for; each is counted from the start of that life. */
export class LifeEvents {
  readonly #counts = { ack: 0, send: 0 };
  readonly #watchers = new Set<() => void>();

  readonly accepted = (): void => this.#count("ack");
  readonly sends = (): void => this.#count("send");

  #count(event: "ack" | "send"): void {
    this.#counts[event] += 1;
    for (const watch of this.#watchers) watch();
  }

  reached(event: "ack" | "send", count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#counts[event] < count) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }
}

interface Life {
  readonly events: LifeEvents;
  readonly followers: readonly Follower[];
  readonly prng: Prng;
}

/** Resolves when the moment has come. */
export async function comes(moment: LifeMoment, { events, followers, prng }: Life): Promise<void> {
  switch (moment) {
    case "any":
    case "ending":
      return pause(prng.int(0, anyMs));
    case "ack":
    case "send":
      return soon(events.reached(moment, prng.int(1, 12)));
    case "stream":
      await soon(anyOf(followers, textOf, prng.int(40, 1_500)));
      return pause(prng.int(0, 100));
    case "tool":
      await soon(anyOf(followers, outputOf, 1));
      return pause(prng.int(0, 500));
  }
}

const soon = (event: Promise<unknown>): Promise<void> => Promise.race([event.then(() => undefined), pause(momentMs)]);

const textOf = (follower: Follower): number => lengthOf(follower, "assistant");
const outputOf = (follower: Follower): number => lengthOf(follower, "tool");

const lengthOf = ({ state }: Follower, role: string): number =>
  [...state.open.values()].reduce((sum, { block, text }) => (block.role === role ? sum + text.length : sum), 0);

function anyOf(
  followers: readonly Follower[],
  measure: (follower: Follower) => number,
  least: number,
): Promise<unknown> {
  const met = followers.map((follower) =>
    // A stream that ends, or takes longer than the moment is waited for, has no moment of this kind.
    follower.until("the moment comes", (_, one) => measure(one) >= least, momentMs).catch(() => pause(momentMs)),
  );
  return Promise.race(met);
}
