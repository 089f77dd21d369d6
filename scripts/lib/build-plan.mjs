import { existsSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, hashFiles, readStamp } from "./files.mjs";
import { ROOT } from "./root.mjs";

const NOT_BUILT = /\.(test|spec|test-d)\.[cm]?[jt]sx?$|README\.md$|tsconfig[^/\\]*\.json$/;

const PACKAGES = ["protocol", "wire", "log", "agent", "client", "server", "cli", "web"];

/** The two things that a build makes: the file without which there is nothing to build, and the one that is made last. */
export const TARGETS = {
  server: {
    source: "packages/cli/src/main.ts",
    result: "dist/server/main.mjs",
  },
  web: {
    source: "packages/web/vite.config.ts",
    result: "dist/web/index.html",
  },
};

export const STAMP = "dist/.stamp";

/**
 * The key of the sources: the same key means that building again would make the same files. Server and page have one key,
 * because a page compares its build with the server's and asks to be reloaded when they differ.
 */
export function buildKey(root = ROOT) {
  const sources = PACKAGES.flatMap((folder) => filesBelow(join(root, "packages", folder))).filter(
    (path) => !NOT_BUILT.test(path),
  );
  const tools = ["package-lock.json", "scripts/lib/build.mjs"].map((path) => join(root, path)).filter(existsSync);
  return hashFiles([...sources, ...tools], "", root);
}

/**
 * The targets to build, each `{ name, key }`, and those whose sources don't exist (in `absent`).
 * A target is stale when its sources changed or its result is gone.
 */
export function buildPlan(root = ROOT) {
  const stamp = readStamp(join(root, STAMP)) ?? {};
  const key = buildKey(root);
  const plan = { stale: [], absent: [] };
  for (const [name, target] of Object.entries(TARGETS)) {
    if (!existsSync(join(root, target.source))) {
      plan.absent.push(name);
      continue;
    }
    const fresh = stamp[name]?.key === key && existsSync(join(root, target.result));
    if (!fresh) plan.stale.push({ name, key });
  }
  return plan;
}
