import type { ConnectionState } from "@varve/client";
import type { TabRecord } from "@varve/protocol";
import { parseLogId, parseTabId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { sendsOn } from "../composer/keys.ts";
import { IMAGE_EDGE_MAX, shrunkSize } from "../composer/shrink-image.ts";
import { PAUSE_MAX_MS, pauseMs } from "../markdown/pace.ts";
import type { StaleChoice } from "../state/stale-page.ts";
import { connectionText } from "./connection-text.ts";
import { pageTitle } from "./page-title.ts";
import { lastPart, tabMark } from "./tab-mark.ts";

const [id, logId] = [parseTabId("t"), parseLogId("l")];
if (id === null || logId === null) throw new Error("legal ids were expected");
const quiet: TabRecord = {
  id,
  logId,
  title: "",
  cwd: "/w",
  model: "demo/demo",
  effort: "default",
  permissions: "ask",
  parentId: null,
  tail: 5,
  seen: 5,
  state: "idle",
  waits: 0,
  queued: 0,
  createdAt: 0,
  updatedAt: 0,
  trashedAt: null,
  options: {},
  cost: { price: 0, unpriced: 0 },
  cacheUntil: null,
};

test.each<[string, Partial<TabRecord>, boolean]>([
  ["quiet", {}, false],
  ["running", { state: "running" }, false],
  ["needs-you", { state: "waiting" }, true],
  ["needs-you", { state: "running", waits: 1 }, false],
  ["failed", { state: "error", seen: 0 }, false],
  ["unseen", { seen: 4 }, false],
  ["quiet", { seen: 4 }, true],
])("the mark is %s for %j (shown now: %s)", (mark, part, active) => {
  expect(tabMark({ ...quiet, ...part }, active)).toBe(mark);
});

describe("the line about the connection", () => {
  test.each<[string | null, string | null, ConnectionState]>([
    [null, null, { kind: "live" }],
    [null, null, { kind: "closed" }],
    [null, null, { kind: "connecting", attempt: 1 }],
    [null, null, { kind: "waiting", attempt: 1, retryAt: 3500 }],
    ["Not connected; what you send is kept. Trying…", null, { kind: "connecting", attempt: 2 }],
    [
      "Not connected; what you send is kept. Trying again in 3 s.",
      "retry",
      { kind: "waiting", attempt: 2, retryAt: 3500 },
    ],
    [
      "The server does not answer: is it running, and is this device in its network? What you send is kept. Trying again in 3 s.",
      "retry",
      { kind: "waiting", attempt: 6, retryAt: 3500 },
    ],
    [
      "The server was shut down, or starts anew; what you send is kept. Trying again in 3 s.",
      "retry",
      { kind: "waiting", attempt: 1, retryAt: 3500, reason: "shutting-down" },
    ],
    [
      "The server was shut down, or starts anew; what you send is kept. Trying…",
      null,
      { kind: "connecting", attempt: 1, reason: "shutting-down" },
    ],
    [
      "The server does not answer: is it running, and is this device in its network? What you send is kept. Trying…",
      null,
      { kind: "connecting", attempt: 6, reason: "shutting-down" },
    ],
    ["Not connected; what you send is kept. Trying again now.", "retry", { kind: "waiting", attempt: 2, retryAt: 0 }],
    [
      "This browser is no longer signed in; what you write is kept.",
      "sign-in",
      { kind: "refused", code: "unauthorized", message: "" },
    ],
  ])("%s", (text, act, state) => {
    const line = connectionText(state, 1000, "reload");
    expect([line?.text ?? null, line?.act ?? null]).toEqual([text, act]);
  });

  test.each<[StaleChoice, RegExp]>([
    ["reload", /another version .* Reloading it; what you typed is kept/],
    ["uploading", /reloads when the upload is done/],
    ["typing", /would lose something that you typed/],
    ["again", /another version than this page, also after a reload/],
  ])("of a page of another build (%s) always has the way to reload", (choice, words) => {
    for (const code of ["other-build", "version-unsupported"] as const) {
      const line = connectionText({ kind: "refused", code, message: "" }, 1000, choice);
      expect(line?.text).toMatch(words);
      expect(line?.act).toBe("reload");
    }
  });
});

test.each([
  [undefined, 0, "Varve"],
  ["", 0, "Varve"],
  ["Fix it", 0, "Fix it · Varve"],
  ["Fix it", 2, "(2) Fix it · Varve"],
])("the window of %j with %d waiting is named %j", (title, waiting, expected) => {
  expect(pageTitle(title, waiting)).toBe(expected);
});

test.each([
  ["/a/b", "b"],
  ["/a/b/", "b"],
  ["/", "/"],
])("the last part of %s is %s", (path, part) => {
  expect(lastPart(path)).toBe(part);
});

describe("Enter", () => {
  const press = { key: "Enter", shiftKey: false, ctrlKey: false, metaKey: false, isComposing: false };
  test.each([
    ["sends", {}, false, true],
    ["breaks the line with Shift", { shiftKey: true }, false, false],
    ["belongs to the input method while it composes", { isComposing: true }, false, false],
    ["breaks the line on a phone", {}, true, false],
    ["sends with Ctrl everywhere", { ctrlKey: true }, true, true],
    ["is not another key", { key: "a" }, false, false],
  ])("%s", (_name, part, phone, expected) => {
    expect(sendsOn({ ...press, ...part }, phone)).toBe(expected);
  });
});

test.each([
  [100, 100, null],
  [IMAGE_EDGE_MAX, 10, null],
  [IMAGE_EDGE_MAX * 2, 1000, { width: IMAGE_EDGE_MAX, height: 500 }],
  [1, IMAGE_EDGE_MAX * 4, { width: 1, height: IMAGE_EDGE_MAX }],
])("a picture of %d by %d is sent as %j", (width, height, size) => {
  expect(shrunkSize(width, height)).toEqual(size);
});

test.each([
  ["at once after a cheap rendering", { endedAt: 100, costMs: 0 }, 100, 0],
  ["after four times its cost", { endedAt: 100, costMs: 10 }, 100, 40],
  ["less what has passed", { endedAt: 100, costMs: 10 }, 125, 15],
  ["at once when all has passed", { endedAt: 100, costMs: 10 }, 200, 0],
  ["never later than the longest pause", { endedAt: 100, costMs: 5000 }, 100, PAUSE_MAX_MS],
])("text is rendered again %s", (_name, last, now, wait) => {
  expect(pauseMs(last, now)).toBe(wait);
});
