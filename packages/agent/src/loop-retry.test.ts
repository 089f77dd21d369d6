import { APICallError } from "@ai-sdk/provider";
import { memoryLog } from "@varve/log";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { turnLimits } from "./limits.ts";
import type { ModelFailure } from "./model/model.ts";
import { planRetry } from "./retry.ts";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import type { Answer } from "./testing/script-model.ts";
import { call, finish, say, scriptModel } from "./testing/script-model.ts";
import { startTab, wordsOf } from "./testing/world.ts";
import { isKind } from "./turn-rows.ts";

async function world(answers: readonly Answer[], idleMs = 2_000) {
  const clock = createFakeClock();
  const model = scriptModel(clock, answers, { idleMs });
  const tools = fakeToolBox([{ name: "echo", run: () => ok("done") }]);
  const tab = await startTab({ log: memoryLog(), clock, ids: createFakeIds(), tools, models: model.models });
  return { clock, tab, requests: model.requests };
}

const status = (statusCode: number, responseHeaders: Record<string, string> = {}): Answer => ({
  refuse: new APICallError({
    message: `HTTP ${statusCode}`,
    url: "http://x",
    requestBodyValues: {},
    statusCode,
    responseHeaders,
  }),
});
const fine: Answer = [...say("fine"), finish()];
const hel: Answer = [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "Hel" },
];
const overloaded: Answer = [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }];
const joined = (...parts: readonly Answer[]): Answer => parts.flatMap((part) => ("refuse" in part ? [] : [...part]));

describe("a failure that may pass", () => {
  test("[LOOP-5] H24(a) a wait that the provider asked for is kept, shown, and the answer comes once", async () => {
    const { tab, clock, requests } = await world([
      status(429, { "retry-after": "3" }),
      status(429, { "retry-after": "3" }),
      fine,
    ]);
    await tab.send("go");
    await tab.until(() => tab.retries.length === 1);
    expect(tab.retries[0]).toMatchObject({ attempt: 1, at: clock.now() + 3_000 });
    await clock.advance(2_999);
    expect(requests).toHaveLength(1);
    await clock.advance(1);
    await tab.until(() => tab.retries.length === 2);
    await clock.advance(3_000);
    await tab.idle();
    expect(requests).toHaveLength(3);
    expect(wordsOf(tab.rows)).toEqual(["user:go", "text:fine", "end:done"]);
  });

  test("[LOOP-5] H24(a) a stop during the wait ends the turn at once, without a further request", async () => {
    const { tab, clock, requests } = await world([status(529), fine]);
    await tab.send("go");
    await tab.until(() => tab.retries.length === 1);
    tab.stop();
    await tab.idle();
    expect(clock.pending()).toBe(0);
    expect(requests).toHaveLength(1);
    expect(wordsOf(tab.rows)).toEqual(["user:go", "end:stopped"]);
  });

  test.each<[string, Answer]>([
    ["overloaded before any content", overloaded],
    ["an end without the end event", []],
    ["a broken socket", [{ type: "throw", error: new TypeError("terminated") }]],
    ["a finish that the package made up", [finish("other")]],
    ["a server error", status(500)],
    ["a network error", { refuse: new TypeError("fetch failed") }],
  ])("[LOOP-5] H24(b) %s: tried again, one answer, nothing left behind", async (_name, first) => {
    const { tab, clock } = await world([first, fine]);
    await tab.send("go");
    await tab.until(() => tab.retries.length === 1);
    await clock.advance(60_000);
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "text:fine", "end:done"]);
  });

  test("[LOOP-6] H24(c) open text of a failed try is dropped: nothing sealed, nothing voided", async () => {
    const { tab, clock } = await world([joined(hel, overloaded), [...say("Hello"), finish()]]);
    await tab.send("go");
    await tab.until(() => tab.retries.length === 1);
    expect(tab.open.size).toBe(0);
    await clock.advance(60_000);
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "text:Hello", "end:done"]);
  });

  test("[LOOP-6] H24(c) what had sealed is voided before the retry, which takes the next step number", async () => {
    const { tab, clock, requests } = await world([
      joined([...say("Let me run it."), call("A", "echo", {})], overloaded),
      [...say("Hello"), finish()],
    ]);
    await tab.send("go");
    await tab.until(() => tab.retries.length === 1);
    expect(wordsOf(tab.rows)).toEqual(["user:go", "text:Let me run it.", "call:A", "void:0"]);
    await clock.advance(60_000);
    await tab.idle();
    expect(wordsOf(tab.rows).slice(4)).toEqual(["text:Hello", "end:done"]);
    expect(tab.rows.find((row) => row.type === "text" && row.data.text === "Hello")).toMatchObject({ step: 1 });
    expect(requests[1]?.prompt).toEqual(requests[0]?.prompt);
  });

  test("[LOOP-5] H24(d) silence with an open socket counts as a failure after its limit", async () => {
    const { tab, clock } = await world([joined(hel, [{ type: "hang" }]), fine]);
    await tab.send("go");
    await tab.until(() => tab.open.size === 1);
    await clock.advance(2_000);
    expect(tab.retries).toHaveLength(0);
    await clock.advance(500);
    expect(tab.retries).toHaveLength(1);
    expect(tab.retries[0]?.reason).toContain("2 s");
    await clock.advance(60_000);
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "text:fine", "end:done"]);
  });

  test("[LOOP-5] H24(e) a failure at a later step keeps all earlier ones, and tries are counted per step", async () => {
    const { tab, clock } = await world([
      [call("A", "echo", {}), finish("tool-calls")],
      status(529),
      [call("B", "echo", {}), finish("tool-calls")],
      status(529),
      fine,
    ]);
    await tab.send("go");
    await tab.until(() => tab.retries.length === 1);
    await clock.advance(60_000);
    await tab.until(() => tab.retries.length === 2);
    expect(tab.retries.map((retry) => retry.attempt)).toEqual([1, 1]);
    await clock.advance(60_000);
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual([
      "user:go",
      "call:A",
      "result:A=done",
      "call:B",
      "result:B=done",
      "text:fine",
      "end:done",
    ]);
  });
});

describe("a failure that stays", () => {
  test("[LOOP-7] H24(f) 400 and 401 are not tried again", async () => {
    for (const code of [400, 401]) {
      const { tab, requests } = await world([status(code)]);
      await tab.send("go");
      await tab.idle();
      expect(requests).toHaveLength(1);
      expect(wordsOf(tab.rows)[1]).toMatch(/^error:(provider-refused|credential-refused)$/);
      expect(wordsOf(tab.rows)[2]).toBe("end:error");
    }
  });

  test("[LOOP-7] B14: after the last retry nothing is voided: open text is partial, calls get results, the error says what to do", async () => {
    const last: Answer = joined([...say("I run it."), call("A", "echo", {})], hel, overloaded);
    const { tab, clock, requests } = await world([
      ...Array.from({ length: turnLimits.retriesMax }, () => status(503)),
      last,
      [...say("Again."), finish()],
    ]);
    await tab.send("go");
    for (let tries = 1; tries <= turnLimits.retriesMax; tries++) {
      await tab.until(() => tab.retries.length >= tries);
      await clock.advance(60_000);
    }
    await tab.idle();
    expect(requests).toHaveLength(turnLimits.retriesMax + 1);
    expect(wordsOf(tab.rows)).toEqual([
      "user:go",
      "text:I run it.",
      "call:A",
      "text?:Hel",
      expect.stringMatching(/^result!:A=not run/),
      "error:provider-overloaded",
      "end:error",
    ]);
    expect(tab.rows.some((row) => isKind(row, "step-void"))).toBe(false);
    expect(tab.rows.find((row) => row.type === "error")?.data).toMatchObject({
      hint: expect.stringContaining("continue"),
    });

    // The next request is made of what is left, and is a valid one.
    await tab.send("continue");
    await tab.idle();
    expect(wordsOf(tab.rows).slice(-3)).toEqual(["user:continue", "text:Again.", "end:done"]);
  });
});

describe("the plan", () => {
  const passing: ModelFailure = { code: "provider-overloaded", message: "busy", retry: { afterMs: null } };
  const plan = (failure: ModelFailure, retries: number, random = 0) =>
    planRetry(failure, retries, { limits: turnLimits, random });

  test("[LOOP-5] the wait doubles up to its limit", () => {
    const waits = Array.from({ length: turnLimits.retriesMax }, (_, retries) => plan(passing, retries));
    expect(waits.map((one) => one.kind === "retry" && one.waitMs)).toEqual([
      500, 1000, 2000, 4000, 8000, 16000, 30000, 30000,
    ]);
    expect(plan(passing, turnLimits.retriesMax)).toEqual({ kind: "final", why: "Tried 9 times." });
  });

  test("[LOOP-5] chance adds a quarter at most, and to an asked wait half a second", () => {
    expect(plan(passing, 0, 0.999)).toMatchObject({ waitMs: 625 });
    const asked = { ...passing, retry: { afterMs: 3000 } };
    expect(plan(asked, 5, 0.999)).toMatchObject({ waitMs: 3500 });
    expect(plan(asked, 0, 0)).toMatchObject({ waitMs: 3000 });
  });

  test("[LOOP-7] a provider that asks for too long a wait is not waited for", () => {
    expect(plan({ ...passing, retry: { afterMs: 3_600_000 } }, 0)).toEqual({
      kind: "final",
      why: "The provider asks to wait 60 minutes.",
    });
  });
});
