import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyTestEnvironment } from "./test-env.mjs";

// Runs in each worker before a test file. The home comes from the global setup; a worker started some other way gets one.
const inherited = process.env.HOME ?? "";
const home = inherited.includes("varve-test-home-") ? inherited : mkdtempSync(join(tmpdir(), "varve-test-home-"));
mkdirSync(home, { recursive: true });
applyTestEnvironment(process.env, home);
