import { expect, test } from "vitest";
import { findBrowser } from "./lib/browser.mjs";
import { ensureBrowser } from "./lib/install-browser.mjs";

test("CHROMIUM wins, and a wrong one is not replaced by another browser", () => {
  expect(findBrowser({ CHROMIUM: "/opt/mine" }, (path) => path === "/opt/mine")).toBe("/opt/mine");
  expect(findBrowser({ CHROMIUM: "/opt/wrong", PATH: "/usr/bin" }, (path) => path !== "/opt/wrong")).toBeUndefined();
});

test("the usual places come first, then PATH", () => {
  expect(findBrowser({ PATH: "/a:/b" }, (path) => path.startsWith("/usr/bin/google"))).toBe("/usr/bin/google-chrome");
  expect(findBrowser({ PATH: "/a:/b" }, (path) => path === "/b/chromium")).toBe("/b/chromium");
  expect(findBrowser({ PATH: "" }, () => false)).toBeUndefined();
});

test("a wrong CHROMIUM is answered with a sentence that names it", async () => {
  const asked = ensureBrowser({ say: () => {}, env: { CHROMIUM: "/does/not/exist" } });
  await expect(asked).rejects.toThrow("CHROMIUM names /does/not/exist");
});
