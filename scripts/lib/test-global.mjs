import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBrowser } from "./browser.mjs";
import { applyTestEnvironment } from "./test-env.mjs";

/** Runs once in Vitest's main process, before any worker is forked; the workers inherit what it sets. */
export default function setup() {
  const home = mkdtempSync(join(tmpdir(), "varve-test-home-"));
  const browser = findBrowser();
  applyTestEnvironment(process.env, home);
  if (browser !== undefined) process.env.CHROMIUM = browser;
  return () => rmSync(home, { recursive: true, force: true });
}
