/**
 * The connection of a client as a machine without clock, socket or chance: a state and an event give the next state and
 * what is to be done. `connection-runner.ts` does it.
 *
 *                    opened            hello
 *     connecting ------------> greeting -----> live
 *        ^  |  closed, silence    |  closed, silence  |
 *        |  v                     v                   v
 *      waiting <--------------------------------------        refused: 4401, 4426, another build
 *         retry-due, probe                                    closed:  for good
 */
import { unreachable } from "@varve/protocol";
import type { AwayReason } from "./client.ts";

export const backoffFirstMs = 250;
export const backoffMaxMs = 15_000;
/** A connection that lived this long starts the back-off anew; one that flaps does not. */
export const steadyMs = 10_000;
/** On a wake-up, a live connection that has been silent for longer than a heartbeat is given up at once. */
export const probeSilenceMs = 17_000;

export const closeCodes = { unauthorized: 4401, versionUnsupported: 4426, tryAgain: 1013 } as const;

export type RefusedCode = "unauthorized" | "version-unsupported" | "other-build";
export type Connection =
  | { readonly kind: "connecting"; readonly attempt: number; readonly reason?: AwayReason }
  /** The socket is open, our hello is out, the server's has not come. */
  | { readonly kind: "greeting"; readonly attempt: number; readonly reason?: AwayReason }
  | { readonly kind: "live"; readonly attempt: number; readonly since: number; readonly heardAt: number }
  | { readonly kind: "waiting"; readonly attempt: number; readonly retryAt: number; readonly reason?: AwayReason }
  | { readonly kind: "refused"; readonly code: RefusedCode; readonly message: string }
  | { readonly kind: "closed" };

export type ConnectionEvent =
  | { readonly type: "opened" }
  /** The server's hello. `build`: false when the server serves another build of the page. */
  | { readonly type: "hello"; readonly sameBuild: boolean }
  /** Any other frame. */
  | { readonly type: "heard" }
  /** The socket is gone. `retryMs`, `reason`: what a `bye` before it asked for and said. */
  | {
      readonly type: "socket-closed";
      readonly code: number;
      readonly retryMs?: number | undefined;
      readonly reason?: AwayReason | undefined;
    }
  /** Nothing was heard for `limits.silenceMaxMs`. */
  | { readonly type: "silence" }
  | { readonly type: "retry-due" }
  | { readonly type: "probe" }
  | { readonly type: "close" };

export type ConnectionEffect =
  | "dial"
  | "greet"
  | "hang-up"
  | "watch-silence"
  | "await-retry"
  | "went-live"
  | "went-down";
export interface ConnectionStep {
  readonly next: Connection;
  readonly effects: readonly ConnectionEffect[];
}
export interface Moment {
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
}

export const firstConnection: ConnectionStep = {
  next: { kind: "connecting", attempt: 1 },
  effects: ["dial", "watch-silence"],
};

/** The wait after the `attempt`th failure in a row: 0.25 s doubled each time, at most 15 s, give or take a half. */
export function backoffMs(attempt: number, random: number): number {
  const base = Math.min(backoffMaxMs, backoffFirstMs * 2 ** Math.min(attempt - 1, 16));
  return Math.round(base * (0.5 + random));
}

export function stepConnection(state: Connection, event: ConnectionEvent, moment: Moment): ConnectionStep {
  if (event.type === "close") return close(state);
  switch (state.kind) {
    case "connecting":
    case "greeting":
      return stepDialling(state, event, moment);
    case "live":
      return stepLive(state, event, moment);
    case "waiting":
      return event.type === "retry-due" || event.type === "probe" ? dial(state.attempt, state.reason) : stay(state);
    case "refused":
      return event.type === "probe" ? dial(1) : stay(state);
    case "closed":
      return stay(state);
    default:
      return unreachable(state);
  }
}

type Dialling = Extract<Connection, { readonly kind: "connecting" | "greeting" }>;
type Live = Extract<Connection, { readonly kind: "live" }>;

function stepDialling(state: Dialling, event: ConnectionEvent, moment: Moment): ConnectionStep {
  switch (event.type) {
    case "opened":
      if (state.kind === "greeting") return stay(state);
      return { next: { ...state, kind: "greeting" }, effects: ["greet", "watch-silence"] };
    case "hello":
      if (state.kind === "connecting") return stay(state);
      if (!event.sameBuild) return refuse("other-build", ["hang-up"]);
      return {
        next: { kind: "live", attempt: state.attempt, since: moment.now, heardAt: moment.now },
        effects: ["watch-silence", "went-live"],
      };
    case "socket-closed":
      return lose(state.attempt, { event, moment, effects: [], reason: state.reason });
    case "silence":
      return lose(state.attempt, { event, moment, effects: ["hang-up"], reason: state.reason });
    case "heard":
    case "retry-due":
    case "probe":
    case "close":
      return stay(state);
    default:
      return unreachable(event);
  }
}

function stepLive(state: Live, event: ConnectionEvent, moment: Moment): ConnectionStep {
  const attempt = moment.now - state.since >= steadyMs ? 0 : state.attempt;
  switch (event.type) {
    case "heard":
    case "hello":
      return { next: { ...state, heardAt: moment.now }, effects: ["watch-silence"] };
    case "socket-closed":
      return lose(attempt, { event, moment, effects: ["went-down"] });
    case "silence":
      return lose(attempt, { event, moment, effects: ["hang-up", "went-down"] });
    case "probe": {
      if (moment.now - state.heardAt <= probeSilenceMs) return stay(state);
      const step = dial(1);
      return { next: step.next, effects: ["hang-up", "went-down", ...step.effects] };
    }
    case "opened":
    case "retry-due":
    case "close":
      return stay(state);
    default:
      return unreachable(event);
  }
}

const stay = (state: Connection): ConnectionStep => ({ next: state, effects: [] });

const because = (reason: AwayReason | undefined): { readonly reason?: AwayReason } =>
  reason === undefined ? {} : { reason };

const dial = (attempt: number, reason?: AwayReason): ConnectionStep => ({
  next: { kind: "connecting", attempt, ...because(reason) },
  effects: ["dial", "watch-silence"],
});

interface Loss {
  readonly event: Extract<ConnectionEvent, { readonly type: "socket-closed" | "silence" }>;
  readonly moment: Moment;
  readonly effects: readonly ConnectionEffect[];
  /** Of an earlier goodbye, as long as no connection came about. */
  readonly reason?: AwayReason | undefined;
}

function lose(attempt: number, loss: Loss): ConnectionStep {
  const { event, moment, effects } = loss;
  if (event.type === "socket-closed") {
    if (event.code === closeCodes.unauthorized) return refuse("unauthorized", effects);
    if (event.code === closeCodes.versionUnsupported) return refuse("version-unsupported", effects);
  }
  const asked = event.type === "socket-closed" ? (event.retryMs ?? 0) : 0;
  const backoff = backoffMs(Math.max(1, attempt), moment.random);
  const retryAt = moment.now + Math.max(backoff, Math.min(asked, backoffMaxMs));
  const reason = (event.type === "socket-closed" ? event.reason : undefined) ?? loss.reason;
  return {
    next: { kind: "waiting", attempt: attempt + 1, retryAt, ...because(reason) },
    effects: [...effects, "await-retry"],
  };
}

const refusals: Readonly<Record<RefusedCode, string>> = {
  unauthorized: "This device is not signed in.",
  "version-unsupported": "This page and the server speak different versions of the protocol.",
  "other-build": "The server was updated; this page is of an earlier build.",
};

const refuse = (code: RefusedCode, effects: readonly ConnectionEffect[]): ConnectionStep => ({
  next: { kind: "refused", code, message: refusals[code] },
  effects,
});

function close(state: Connection): ConnectionStep {
  switch (state.kind) {
    case "connecting":
    case "greeting":
      return { next: { kind: "closed" }, effects: ["hang-up"] };
    case "live":
      return { next: { kind: "closed" }, effects: ["hang-up", "went-down"] };
    case "waiting":
    case "refused":
    case "closed":
      return { next: { kind: "closed" }, effects: [] };
    default:
      return unreachable(state);
  }
}
