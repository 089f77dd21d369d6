/**
 * What two people and a network do to one tab, as a list that a seed draws. Nothing in it looks at the world, so a part of
 * it, from the beginning, is a program too: that is how a failing one is made shorter.
 */
import type { Delivery } from "@varve/protocol";
import type { Prng } from "../prng.ts";

export const pageNumbers = [0, 1] as const;
export type PageNumber = (typeof pageNumbers)[number];

export type NetworkFault =
  /** The page's socket, or everything that it has open. */
  | { readonly kind: "cut"; readonly what: "socket" | "all" }
  | { readonly kind: "cut-after"; readonly way: "up" | "down"; readonly bytes: number }
  /** One direction dies and nobody is told. */
  | { readonly kind: "half-open"; readonly way: "up" | "down" }
  | { readonly kind: "stall"; readonly way: "up" | "down" }
  | { readonly kind: "throttle"; readonly bytes: number }
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "refuse" };

export type CardButton = "queue-remove" | "queue-hold" | "queue-release" | "queue-up" | "queue-down";

export type Act =
  | { readonly act: "send"; readonly page: PageNumber; readonly delivery: Delivery }
  | { readonly act: "stop"; readonly page: PageNumber }
  | { readonly act: "card"; readonly page: PageNumber; readonly nth: number; readonly button: CardButton }
  | { readonly act: "edit"; readonly page: PageNumber; readonly nth: number }
  | { readonly act: "answer"; readonly page: PageNumber; readonly button: "allow-once" | "deny" }
  | { readonly act: "scroll"; readonly page: PageNumber; readonly to: "top" | "bottom" }
  /** `bad`: through the network as it is; else somebody waited until it was well. */
  | { readonly act: "reload"; readonly page: PageNumber; readonly bad: boolean }
  /** The model says so many deltas more, or all the rest (null). */
  | { readonly act: "model"; readonly deltas: number | null }
  /** The page lets so many frames pass. */
  | { readonly act: "look"; readonly page: PageNumber; readonly frames: number }
  | { readonly act: "fault"; readonly page: PageNumber; readonly fault: NetworkFault }
  | { readonly act: "heal"; readonly page: PageNumber }
  /** The server is killed and started again. */
  | { readonly act: "kill" };

type Draw = (prng: Prng) => Act;
const anyPage = (prng: Prng): PageNumber => prng.pick([0, 1]);
const anyWay = (prng: Prng): "up" | "down" => prng.pick(["up", "down"]);

const faults: readonly [(prng: Prng) => NetworkFault, ...((prng: Prng) => NetworkFault)[]] = [
  (prng) => ({ kind: "cut", what: prng.pick(["socket", "socket", "all"]) }),
  (prng) => ({ kind: "cut-after", way: anyWay(prng), bytes: prng.int(1, 3_000) }),
  (prng) => ({ kind: "half-open", way: anyWay(prng) }),
  (prng) => ({ kind: "stall", way: anyWay(prng) }),
  (prng) => ({ kind: "throttle", bytes: prng.int(20, 400) }),
  (prng) => ({ kind: "delay", ms: prng.int(5, 150) }),
  () => ({ kind: "refuse" }),
];

/** How often each is drawn, in relation to the others. */
const draws: readonly (readonly [weight: number, draw: Draw])[] = [
  [16, (prng) => sendAct(prng)],
  [16, (prng) => ({ act: "model", deltas: prng.chance(0.6) ? null : prng.int(1, 4) })],
  [3, (prng) => ({ act: "stop", page: anyPage(prng) })],
  [
    9,
    (prng) => ({
      act: "card",
      page: anyPage(prng),
      nth: prng.int(0, 3),
      button: prng.pick(["queue-remove", "queue-hold", "queue-release", "queue-up", "queue-down"]),
    }),
  ],
  [5, (prng) => ({ act: "edit", page: anyPage(prng), nth: prng.int(0, 3) })],
  [9, (prng) => ({ act: "answer", page: anyPage(prng), button: prng.pick(["allow-once", "deny"]) })],
  [6, (prng) => ({ act: "scroll", page: anyPage(prng), to: prng.pick(["top", "bottom"]) })],
  [3, (prng) => ({ act: "reload", page: anyPage(prng), bad: prng.chance(0.25) })],
  [6, (prng) => ({ act: "look", page: anyPage(prng), frames: prng.int(1, 6) })],
  [12, (prng) => ({ act: "fault", page: anyPage(prng), fault: prng.pick(faults)(prng) })],
  [10, (prng) => ({ act: "heal", page: anyPage(prng) })],
  [1, () => ({ act: "kill" })],
];
const weightOfAll = draws.reduce((sum, [weight]) => sum + weight, 0);

export function drawProgram(prng: Prng, length: number): readonly Act[] {
  const acts: Act[] = [];
  while (acts.length < length) {
    const act = drawAct(prng);
    acts.push(act);
    // What is sent while nobody knows of the fault is what can be lost.
    if (act.act === "fault" && prng.chance(0.6)) acts.push({ ...sendAct(prng), page: act.page });
  }
  return acts.slice(0, length);
}

const sendAct = (prng: Prng): Extract<Act, { act: "send" }> => ({
  act: "send",
  page: anyPage(prng),
  delivery: prng.pick(["steer", "queue", "queue", "stop"]),
});

function drawAct(prng: Prng): Act {
  let at = prng.int(0, weightOfAll - 1);
  for (const [weight, draw] of draws) {
    if (at < weight) return draw(prng);
    at -= weight;
  }
  throw new Error("the weights add up to more than they are");
}
