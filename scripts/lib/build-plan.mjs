import { existsSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, hashFiles, readStamp } from "./files.mjs";
import { ROOT } from "./root.mjs";

const NOT_BUILT = /\.(test|spec|test-d)\.[cm]?[jt]sx?$|README\.md$|tsconfig[^/\\]*\.json$/;

/** The two things that a build makes, from which packages, and the file whose presence says that one was made. */
export const TARGETS = {
  server: {
    packages: ["protocol", "wire", "log", "agent", "client", "server", "cli"],
    source: "packages/cli/src/main.ts",
    result: "dist/server/main.mjs",
  },
  web: {
    packages: ["protocol", "client", "web"],
    source: "packages/web/vite.config.ts",
    result: "dist/web/index.html",
  },
};

export const STAMP = "dist/.stamp";

/** The key of a target's sources: the same key means that building again would make the same files. */
export function targetKey(name, root = ROOT) {
  const sources = TARGETS[name].packages
    .flatMap((folder) => filesBelow(join(root, "packages", folder)))
    .filter((path) => !NOT_BUILT.test(path));
  const tools = ["package-lock.json", "scripts/lib/build.mjs"].map((path) => join(root, path)).filter(existsSync);
  return hashFiles([...sources, ...tools], name, root);
}

/**
 * The targets to build, each `{ name, key }`, and those whose sources don't exist (in `absent`).
 * A target is stale when its sources changed or its result is gone.
 */
export function buildPlan(root = ROOT) {
  const stamp = readStamp(join(root, STAMP)) ?? {};
  const plan = { stale: [], absent: [] };
  for (const [name, target] of Object.entries(TARGETS)) {
    if (!existsSync(join(root, target.source))) {
      plan.absent.push(name);
      continue;
    }
    const key = targetKey(name, root);
    const fresh = stamp[name]?.key === key && existsSync(join(root, target.result));
    if (!fresh) plan.stale.push({ name, key });
  }
  return plan;
}
