/** What is done to a world, drawn from a seed before it begins: so that a failing run can be made smaller by leaving things out. */
import { createPrng, type Prng } from "../prng.ts";

export const personActs = [
  "send",
  "edit",
  "delivery",
  "hold",
  "release",
  "move",
  "cancel",
  "stop",
  "stop-call",
  "background",
  "check-sync",
  "answer",
  "resend",
  "older",
  "newer",
  "to-end",
  "focus",
  "seen",
  "probe",
  "close-page",
  "open-page",
] as const;
export const tabActs = ["fork", "clear", "cut-and-resend", "point-back", "trash", "restore-tab", "mode"] as const;
export const faultActs = [
  "cut",
  "half-open-up",
  "half-open-down",
  "again",
  "slow",
  "crash",
  "crash-at-write",
  "restart",
  "disk-full",
  "answer-lost",
  "unreadable",
  "back-up",
  "restore",
  "clock-jump",
] as const;
export type Act = (typeof personActs)[number] | (typeof tabActs)[number] | (typeof faultActs)[number];

export interface Step {
  /** Behind the step before it, in milliseconds. */
  readonly afterMs: number;
  readonly act: Act;
  /** Which device and which tab, counted round; and a lot for whatever else is to be chosen. */
  readonly who: number;
  readonly tab: number;
  readonly pick: number;
}

export interface Plan {
  readonly seed: number;
  readonly scope: ScopeName;
  readonly devices: number;
  readonly tabs: number;
  readonly storage: "memory" | "sqlite";
  readonly asks: boolean;
  readonly turnDeadlineMs?: number | undefined;
  readonly steps: readonly Step[];
}

type Weights = Partial<Readonly<Record<Act, number>>>;

const people: Weights = {
  send: 30,
  edit: 5,
  delivery: 2,
  hold: 4,
  release: 6,
  move: 3,
  cancel: 5,
  stop: 5,
  "stop-call": 3,
  background: 3,
  "check-sync": 2,
  answer: 10,
  resend: 2,
  older: 2,
  newer: 1,
  "to-end": 1,
  focus: 2,
  seen: 2,
  probe: 1,
};
const net: Weights = { cut: 5, "half-open-up": 1, "half-open-down": 1, again: 4, slow: 1 };
const pages: Weights = { "close-page": 2, "open-page": 3 };
const crashes: Weights = { crash: 3, "crash-at-write": 4, restart: 2 };
const disk: Weights = { "disk-full": 3, "answer-lost": 3, unreadable: 2 };
const logs: Weights = { fork: 3, clear: 2, "cut-and-resend": 3, "point-back": 2, trash: 1, "restore-tab": 2, mode: 1 };
const clocks: Weights = { "clock-jump": 2 };
const backups: Weights = { "back-up": 4, restore: 3 };

export const scopes = {
  people,
  net: { ...people, ...net, ...pages },
  crashes: { ...people, ...net, ...pages, ...crashes, ...clocks },
  disk: { ...people, ...pages, ...crashes, ...disk },
  logs: { ...people, ...net, ...pages, ...logs, crash: 1, "crash-at-write": 1 },
  restore: { ...people, ...net, ...pages, ...crashes, ...backups },
  all: { ...people, ...net, ...pages, ...crashes, ...disk, ...logs, ...backups },
} as const satisfies Readonly<Record<string, Weights>>;
export type ScopeName = keyof typeof scopes;
export const scopeNames = ["people", "net", "crashes", "disk", "logs", "restore", "all"] as const;
/** The mixed one comes twice as often. */
const scopeTurns = [...scopeNames, "all"] as const;

/** Of so many runs one is on the real file. */
const sqliteEvery = 40;

export function planOf(seed: number): Plan {
  const prng = createPrng(seed);
  const scope = scopeTurns[seed % scopeTurns.length] ?? "all";
  return {
    seed,
    scope,
    devices: prng.int(2, 4),
    tabs: prng.int(1, 3),
    storage: seed % sqliteEvery === 7 ? "sqlite" : "memory",
    asks: prng.chance(0.5),
    ...(prng.chance(0.2) && { turnDeadlineMs: 6_000 }),
    steps: Array.from({ length: prng.int(15, 60) }, () => stepOf(prng, scopes[scope])),
  };
}

function stepOf(prng: Prng, weights: Weights): Step {
  const lot = prng.float();
  const afterMs = lot < 0.4 ? prng.int(0, 20) : lot < 0.9 ? prng.int(0, 900) : prng.int(500, 9_000);
  return { afterMs, act: drawn(prng, weights), who: prng.int(0, 11), tab: prng.int(0, 11), pick: prng.int(0, 9_999) };
}

function drawn(prng: Prng, weights: Weights): Act {
  const all = [...personActs, ...tabActs, ...faultActs];
  let left = prng.float() * all.reduce((sum, act) => sum + (weights[act] ?? 0), 0);
  for (const act of all) {
    left -= weights[act] ?? 0;
    if (left < 0) return act;
  }
  return "send";
}
