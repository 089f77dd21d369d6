import { describe, expect, test } from "vitest";
import { logChunkSchema, storedRowSchema } from "./chunk.ts";
import { answerBodySchema, newTabBodySchema, tabPatchSchema } from "./command.ts";
import { statusSchema } from "./op.ts";
import { ledgerSumSchema } from "./rest-ledger.ts";
import { tab } from "./test-kit.ts";
import { toTravelling } from "./travel.ts";

const row = (data: Readonly<Record<string, unknown>>, type = "system", role = "system") => ({
  id: "r",
  seq: 7,
  term: 3,
  turnId: "t",
  step: 0,
  createdAt: 5,
  role,
  type,
  data,
});
const usage = {
  kind: "usage",
  model: "a/b",
  fresh: 1,
  read: 2,
  write5m: null,
  write1h: null,
  output: 3,
  reasoning: null,
  price: null,
  attainable: 4,
};
const asked = { kind: "limit", state: "asked", askId: "q", limit: "tab-money", used: 1.5, max: 1 };
const answered = {
  kind: "limit",
  state: "answered",
  askId: "q",
  limit: "tab-money",
  choice: "raise",
  raiseTo: 3,
  by: "me",
};

describe("rows that an earlier build sealed", () => {
  test.each([
    ["a request", row({ kind: "request", model: "a/b", scopeHash: "s", tailHash: "t" })],
    ["a usage row", row(usage)],
    ["a compaction", row({ kind: "compaction", summary: "s", keepFrom: 3, keptUserSeqs: [1] })],
    ["a change of model", row({ kind: "model-changed", model: "a/b", effort: "low" })],
    ["a call", row({ callId: "c", name: "read", arguments: {}, argsText: "{}" }, "tool_call", "assistant")],
  ])("[VERSION-2] %s is legal as it stands, and nothing is added to it", (_, old) => {
    expect(storedRowSchema.parse(old)).toEqual(old);
  });
});

describe("rows about money", () => {
  test.each([
    [
      "what a step used",
      { ...usage, cause: { kind: "expired", tokens: 2, idleMs: 400_000 }, purpose: "warm", startedAt: 4 },
    ],
    ["a limit's question", asked],
    ["its answer", answered],
    [
      "a compaction",
      {
        kind: "compaction",
        summary: "s",
        keepFrom: 9,
        keptUserSeqs: [1],
        keptNoteSeqs: [4],
        trigger: "auto",
        tokensBefore: 9,
      },
    ],
  ])("[TRAVEL-1] %s travels as it was stored", (_, data) => {
    const stored = storedRowSchema.parse(row(data));
    const travelling = toTravelling(stored, tab);
    expect(travelling).toEqual({ ...stored, tabId: tab });
    expect(logChunkSchema.parse(JSON.parse(JSON.stringify(travelling)))).toEqual(travelling);
  });

  test.each(["fresh", "read", "write5m", "write1h", "output", "reasoning", "price", "attainable"])(
    "[MONEY-1] what is not known of `%s` is null, and is said",
    (field) => {
      expect(storedRowSchema.safeParse(row({ ...usage, [field]: null })).success).toBe(true);
      expect(storedRowSchema.safeParse(row({ ...usage, [field]: undefined })).success).toBe(false);
    },
  );
  test("[MONEY-1] a sum counts the requests whose figures are not in it", () => {
    const sum = {
      fresh: 0,
      read: 0,
      write5m: 0,
      write1h: 0,
      output: 0,
      reasoning: 0,
      attainable: 0,
      attained: 0,
      price: 0,
    };
    const whole = { ...sum, requests: 1, untold: 1, unpriced: 1, saved: 0, warm: { requests: 0, price: 0 } };
    expect(ledgerSumSchema.parse(whole)).toEqual(whole);
    for (const field of ["untold", "unpriced"])
      expect(ledgerSumSchema.safeParse({ ...whole, [field]: undefined }).success).toBe(false);
  });

  test("[MONEY-2] a limit's question waits for the turn and not for a call", () => {
    const wait = { askId: "q", kind: "limit", callId: "" };
    const status = { state: "waiting", turnId: "t", step: 1, waits: [wait], lastSealed: null };
    expect(statusSchema.parse(status).waits).toEqual([wait]);
    expect(storedRowSchema.parse(row(asked)).data).not.toHaveProperty("callId");
  });
  test.each([
    ["go on", { askId: "q", choice: "go-on" }, true],
    ["stop", { askId: "q", choice: "stop" }, true],
    ["raise", { askId: "q", choice: "raise", raiseTo: 0.5 }, true],
    ["raise to nothing", { askId: "q", choice: "raise", raiseTo: 0 }, false],
    ["another choice", { askId: "q", choice: "maybe" }, false],
  ])("[MONEY-2] an answer to it: %s", (_, body, legal) => {
    expect(answerBodySchema.safeParse(body).success).toBe(legal);
  });

  test.each([
    ["nothing", {}, true],
    ["a limit of money", { moneyMax: 0.01 }, true],
    ["no money at all", { moneyMax: 0 }, false],
    ["half a step", { stepsMax: 1.5 }, false],
    ["an hour", { cacheTtl: "1h" }, true],
    ["a day", { cacheTtl: "24h" }, false],
    ["warmth without an end", { keepWarm: { on: true, countMax: 51, moneyMax: 1 } }, false],
    ["compaction near the end", { autoCompact: { on: true, share: 0.96 } }, false],
  ])("[MONEY-3] options of a tab: %s", (_, options, legal) => {
    expect(newTabBodySchema.safeParse({ cwd: "/", options }).success).toBe(legal);
    expect(tabPatchSchema.safeParse({ options }).success).toBe(legal);
  });
  test("[MONEY-3] a patch takes an option back with null, a new tab has nothing to take back", () => {
    expect(tabPatchSchema.parse({ options: { moneyMax: null } })).toEqual({ options: { moneyMax: null } });
    expect(newTabBodySchema.safeParse({ cwd: "/", options: { moneyMax: null } }).success).toBe(false);
  });
});
