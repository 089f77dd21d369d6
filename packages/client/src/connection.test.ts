import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  backoffMs,
  type Connection,
  type ConnectionEvent,
  closeCodes,
  firstConnection,
  probeSilenceMs,
  steadyMs,
  stepConnection,
} from "./connection.ts";

const now = 1_000_000;
const moment = { now, random: 0.5 };
type Kind = Connection["kind"];
type EventName = ConnectionEvent["type"];

const states: Readonly<Record<Kind, Connection>> = {
  connecting: { kind: "connecting", attempt: 3 },
  greeting: { kind: "greeting", attempt: 3 },
  live: { kind: "live", attempt: 3, since: now - 100, heardAt: now - 100 },
  waiting: { kind: "waiting", attempt: 3, retryAt: now + 500 },
  refused: { kind: "refused", code: "unauthorized", message: "no" },
  closed: { kind: "closed" },
};
const events: Readonly<Record<EventName, ConnectionEvent>> = {
  opened: { type: "opened" },
  hello: { type: "hello", sameBuild: true },
  heard: { type: "heard" },
  "socket-closed": { type: "socket-closed", code: 1006 },
  silence: { type: "silence" },
  "retry-due": { type: "retry-due" },
  probe: { type: "probe" },
  close: { type: "close" },
};
/** State x event -> next state and what is done. The compiler refuses a table with a cell left out. */
const table: Readonly<Record<Kind, Readonly<Record<EventName, string>>>> = {
  connecting: {
    opened: "greeting: greet watch-silence",
    hello: "connecting:",
    heard: "connecting:",
    "socket-closed": "waiting: await-retry",
    silence: "waiting: hang-up await-retry",
    "retry-due": "connecting:",
    probe: "connecting:",
    close: "closed: hang-up",
  },
  greeting: {
    opened: "greeting:",
    hello: "live: watch-silence went-live",
    heard: "greeting:",
    "socket-closed": "waiting: await-retry",
    silence: "waiting: hang-up await-retry",
    "retry-due": "greeting:",
    probe: "greeting:",
    close: "closed: hang-up",
  },
  live: {
    opened: "live:",
    hello: "live: watch-silence",
    heard: "live: watch-silence",
    "socket-closed": "waiting: went-down await-retry",
    silence: "waiting: hang-up went-down await-retry",
    "retry-due": "live:",
    probe: "live:",
    close: "closed: hang-up went-down",
  },
  waiting: {
    opened: "waiting:",
    hello: "waiting:",
    heard: "waiting:",
    "socket-closed": "waiting:",
    silence: "waiting:",
    "retry-due": "connecting: dial watch-silence",
    probe: "connecting: dial watch-silence",
    close: "closed:",
  },
  refused: {
    opened: "refused:",
    hello: "refused:",
    heard: "refused:",
    "socket-closed": "refused:",
    silence: "refused:",
    "retry-due": "refused:",
    probe: "connecting: dial watch-silence",
    close: "closed:",
  },
  closed: {
    opened: "closed:",
    hello: "closed:",
    heard: "closed:",
    "socket-closed": "closed:",
    silence: "closed:",
    "retry-due": "closed:",
    probe: "closed:",
    close: "closed:",
  },
};
const cells = Object.entries(table).flatMap(([state, row]) =>
  Object.entries(row).map(([event, outcome]) => [state, event, outcome] as const),
);
const named = <T>(record: Readonly<Record<string, T>>, name: string): T => {
  const value = record[name];
  if (value === undefined) throw new Error(name);
  return value;
};

test.each(cells)("[CONN-1] %s, then %s: %s", (state, event, outcome) => {
  const step = stepConnection(named(states, state), named(events, event), moment);
  expect(`${step.next.kind}: ${step.effects.join(" ")}`.trimEnd()).toBe(outcome);
});

describe("waiting and trying again", () => {
  test("[CONN-2] a quarter of a second, doubled with each failure, at most 15 s, give or take a half", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 100].map((attempt) => backoffMs(attempt, 0.5))).toEqual([
      250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000,
    ]);
    expect([backoffMs(3, 0), backoffMs(3, 0.999)]).toEqual([500, 1499]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, random) => {
          expect(backoffMs(attempt, random)).toBeGreaterThanOrEqual(125);
          expect(backoffMs(attempt, random)).toBeLessThanOrEqual(22_500);
        },
      ),
    );
  });
  test("[CONN-2] each failure counts until a connection has been steady", () => {
    let state = firstConnection.next;
    const delays: number[] = [];
    for (let failure = 0; failure < 4; failure++) {
      state = stepConnection(state, events["socket-closed"], moment).next;
      if (state.kind === "waiting") delays.push(state.retryAt - now);
      state = stepConnection(state, events["retry-due"], moment).next;
    }
    expect(delays).toEqual([250, 500, 1000, 2000]);
  });
  test.each([
    ["that flapped goes on counting", steadyMs - 1, 4, 1000],
    ["that was steady starts anew", steadyMs, 1, 250],
  ])("[CONN-2] a connection %s", (_name, lived, attempt, delay) => {
    const live: Connection = { kind: "live", attempt: 3, since: now - lived, heardAt: now };
    expect(stepConnection(live, events["socket-closed"], moment).next).toEqual({
      kind: "waiting",
      attempt,
      retryAt: now + delay,
    });
  });
  test("[CONN-2] a server that asks for more time gets it, within reason", () => {
    const asked = (retryMs: number) =>
      stepConnection(states.live, { type: "socket-closed", code: 1001, retryMs }, moment).next;
    expect(asked(5_000)).toMatchObject({ retryAt: now + 5_000 });
    expect(asked(3_600_000)).toMatchObject({ retryAt: now + 15_000 });
    expect(asked(1)).toMatchObject({ retryAt: now + 1000 });
  });
});

test("[CONN-6] why the server said goodbye is known until the connection is live again", () => {
  const bye: ConnectionEvent = { type: "socket-closed", code: closeCodes.tryAgain, reason: "shutting-down" };
  let state = stepConnection(states.live, bye, moment).next;
  for (const event of ["retry-due", "socket-closed", "probe", "opened", "silence", "retry-due", "opened"] as const) {
    expect(state).toMatchObject({ reason: "shutting-down" });
    state = stepConnection(state, events[event], moment).next;
  }
  state = stepConnection(state, events.hello, moment).next;
  expect(state.kind).toBe("live");
  expect(stepConnection(state, events["socket-closed"], moment).next).not.toHaveProperty("reason");
});

describe("being refused", () => {
  test.each([
    [closeCodes.unauthorized, "unauthorized"],
    [closeCodes.versionUnsupported, "version-unsupported"],
  ])("[CONN-3] close code %s ends the trying", (code, refused) => {
    for (const state of [states.connecting, states.greeting, states.live]) {
      const { next } = stepConnection(state, { type: "socket-closed", code }, moment);
      expect(next).toMatchObject({ kind: "refused", code: refused });
    }
  });
  test("[CONN-3] another code is only a lost connection", () => {
    for (const code of [1000, 1001, 1006, closeCodes.tryAgain, 4000]) {
      expect(stepConnection(states.live, { type: "socket-closed", code }, moment).next.kind).toBe("waiting");
    }
  });
  test("[CONN-3] another build of the page never goes live", () => {
    const step = stepConnection(states.greeting, { type: "hello", sameBuild: false }, moment);
    expect(step).toMatchObject({ next: { kind: "refused", code: "other-build" }, effects: ["hang-up"] });
  });
});

describe("waking up", () => {
  test.each([
    ["within a heartbeat it is trusted", probeSilenceMs, "live"],
    ["beyond it is given up and dialled again at once", probeSilenceMs + 1, "connecting"],
  ])("[CONN-4] a live connection that was silent: %s", (_name, silent, kind) => {
    const live: Connection = { kind: "live", attempt: 1, since: 0, heardAt: now - silent };
    const step = stepConnection(live, events.probe, moment);
    expect(step.next.kind).toBe(kind);
    if (kind === "connecting") expect(step.effects).toEqual(["hang-up", "went-down", "dial", "watch-silence"]);
  });
});

test("[CONN-5] in any run, going live and going down alternate, and a dial follows every end but the last", () => {
  const anyEvent = fc.constantFrom(...Object.values(events));
  fc.assert(
    fc.property(fc.array(fc.tuple(anyEvent, fc.nat(30_000)), { maxLength: 60 }), (trace) => {
      let [state, live, time] = [firstConnection.next, false, now];
      for (const [event, ms] of trace) {
        time += ms;
        const before = state;
        const step = stepConnection(state, event, { now: time, random: 0.5 });
        state = step.next;
        for (const effect of step.effects) {
          if (effect === "went-live" || effect === "went-down") {
            expect(live).toBe(effect === "went-down");
            live = effect === "went-live";
          }
        }
        expect(live).toBe(state.kind === "live");
        if (state.kind === "connecting" && before.kind !== "connecting") expect(step.effects).toContain("dial");
        if (state.kind === "waiting") expect(state.retryAt).toBeGreaterThan(now);
      }
    }),
    { numRuns: 2_000 },
  );
});
