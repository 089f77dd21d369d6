import type { ConnectionState, SyncCheck, TabSnapshot } from "@varve/client";
import { describe, expect, test } from "vitest";
import { attachedWords, checkWords, connectionWords, windowWords } from "./sync-text.ts";

const check: SyncCheck = { state: "same", lo: 1, hi: 40, at: 5, mismatches: 0 };
const held: TabSnapshot["window"] = { lo: 1, hi: 40, tail: 40, attached: true, unread: 0, paging: null };

describe("what came of comparing", () => {
  test.each<[string, string, Partial<SyncCheck>]>([
    ["quiet", "Not compared yet.", { state: "unknown" }],
    ["quiet", "Comparing…", { state: "checking" }],
    ["good", "In sync: rows 1 to 40 here and on the server are the same, byte for byte.", {}],
    ["good", "In sync: row 7 here and on the server are the same, byte for byte.", { lo: 7, hi: 7 }],
    ["good", "In sync: there are no rows yet.", { lo: 0, hi: 0 }],
    ["good", "In sync again: rows 1 to 40 differed, were read anew, and are the same now.", { state: "healed" }],
    [
      "bad",
      "Not in sync: rows 1 to 40 differ, also after they were read anew. Reload the page.",
      { state: "different" },
    ],
    ["bad", "It could not be compared. The tab moved on each time. Nothing was changed.", { state: "failed" }],
    [
      "bad",
      "It could not be compared. Offline. Nothing was changed.",
      { state: "failed", error: { code: "log-unavailable", message: "Offline." } },
    ],
  ])("%s: %s", (level, text, part) => {
    expect(checkWords({ ...check, ...part })).toEqual({ level, text });
  });
});

test.each<[string, string, Partial<TabSnapshot["window"]>]>([
  ["1 to 40 of 40", "follows the end", {}],
  ["no rows yet", "follows the end", { lo: 0, hi: 0, tail: 0 }],
  ["none of 9", "apart from the end", { lo: 0, hi: 0, tail: 9, attached: false }],
  ["5 to 8 of 20", "apart from the end, 3 newer rows not read", { lo: 5, hi: 8, tail: 20, attached: false, unread: 3 }],
])("the window is %s and %s", (rows, place, part) => {
  const window = { ...held, ...part };
  expect([windowWords(window), attachedWords(window)]).toEqual([rows, place]);
});

test.each<[string, ConnectionState]>([
  ["connected", { kind: "live" }],
  ["connecting", { kind: "connecting", attempt: 1 }],
  ["connecting, attempt 4", { kind: "connecting", attempt: 4 }],
  ["not connected, attempt 3 comes", { kind: "waiting", attempt: 3, retryAt: 0 }],
  ["Sign in.", { kind: "refused", code: "unauthorized", message: "Sign in." }],
  ["closed", { kind: "closed" }],
])("the connection is %s", (words, state) => {
  expect(connectionWords(state)).toBe(words);
});
