import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Where recorded data lies: the folder that `VARVE_SHARED_DATA` names, else `../shared/data` beside the repository.
 * Null if there is none: tests that need it skip and say so in their title.
 */
export function recordedDataDir(): string | null {
  const named = process.env.VARVE_SHARED_DATA;
  const root = join(dirname(fileURLToPath(import.meta.url)), "../../../..");
  const found = named === undefined || named === "" ? join(root, "../shared/data") : named;
  return existsSync(join(found, "README.md")) ? found : null;
}

/** The end of a title for tests that need recorded data. */
export const WITHOUT_RECORDINGS =
  recordedDataDir() === null ? " (skipped: no recorded data beside the repository)" : "";
