import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { STAMP, TARGETS } from "./build-plan.mjs";
import { filesBelow, fromRoot, readStamp } from "./files.mjs";
import { ROOT } from "./root.mjs";

/** Packages with native parts, or found at run time by their own paths: they stay outside the bundle. */
const EXTERNAL = ["@napi-rs/keyring", "@photostructure/sqlite", "@vscode/ripgrep", "sharp", "node:sqlite"];
const BANNER =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

const builders = { server: buildServer, web: buildWeb };

/**
 * Builds one target beside the old one and then moves it in, file by file, so that a server which runs from the old
 * files never sees half of the new ones. The files of the build before stay until the next build: a page or a server
 * of that build may still load its lazy parts.
 */
export async function buildTarget({ name, key }, root = ROOT) {
  const fresh = join(root, `.varve-build/${name}-${process.pid}`);
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  try {
    await builders[name]({ outdir: fresh, buildId: key.slice(0, 12), root });
    moveIn(fresh, name, key, root);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function buildServer({ outdir, buildId, root }) {
  const esbuild = await import("esbuild");
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { main: TARGETS.server.source },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: EXTERNAL,
    banner: { js: BANNER },
    define: { __VARVE_BUILD__: JSON.stringify(buildId) },
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [englishMessagesOnly()],
    legalComments: "none",
    logLevel: "warning",
  });
  await esbuild.stop();
}

/** zod's messages in forty languages are read at each start and shown by nothing here: they cost 12 ms of it. */
function englishMessagesOnly() {
  const filter = /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/;
  const contents = 'export { default as en } from "./en.js";';
  return {
    name: "english-messages-only",
    setup: (build) => build.onLoad({ filter }, () => ({ contents, loader: "js" })),
  };
}

async function buildWeb({ outdir, buildId, root }) {
  const vite = await import("vite");
  const folder = join(root, "packages/web");
  await vite.build({
    root: folder,
    configFile: join(folder, "vite.config.ts"),
    cacheDir: join(root, ".varve-build/vite"),
    logLevel: "warn",
    define: { __VARVE_BUILD__: JSON.stringify(buildId) },
    build: { outDir: outdir, emptyOutDir: true },
  });
}

function moveIn(fresh, name, key, root) {
  const target = TARGETS[name];
  const home = join(root, "dist", name);
  const stamp = readStamp(join(root, STAMP)) ?? {};
  const made = filesBelow(fresh).map((path) => fromRoot(path, fresh));
  const entry = fromRoot(join(root, target.result), home);
  // The entry comes last: what it refers to is in place by then.
  for (const file of [...made.filter((path) => path !== entry), entry]) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    renameSync(join(fresh, file), join(home, file));
  }
  if (name === "server") rmSync(join(root, "dist/.compile-cache"), { recursive: true, force: true });
  const kept = new Set([...made, ...(stamp[name]?.files ?? [])]);
  for (const path of filesBelow(home)) {
    if (!kept.has(fromRoot(path, home))) rmSync(path, { force: true });
  }
  removeEmptyFolders(home);
  const next = { ...stamp, [name]: { key, files: made } };
  writeFileSync(join(root, `${STAMP}.new`), JSON.stringify(next));
  renameSync(join(root, `${STAMP}.new`), join(root, STAMP));
}

function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    removeEmptyFolders(path);
    if (readdirSync(path).length === 0) rmSync(path, { recursive: true });
  }
}
