import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { ROOT } from "./root.mjs";

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", ".varve-build", ".git", "coverage"]);

/** All files below `folder` (absolute), sorted, as absolute paths; an absent folder has none. */
export function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  const found = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!SKIPPED_FOLDERS.has(entry.name)) found.push(...filesBelow(path));
    } else if (entry.isFile()) found.push(path);
  }
  return found.sort();
}

/** A path below the checkout, with forward slashes on every system. */
export function fromRoot(path, root = ROOT) {
  return relative(root, path).split(sep).join("/");
}

/** Hash of names and contents: the same files give the same key on every machine, whatever their times are. */
export function hashFiles(paths, salt = "", root = ROOT) {
  const hash = createHash("sha256").update(salt);
  for (const path of [...paths].sort()) {
    const bytes = readFileSync(path);
    hash.update(`\0${fromRoot(path, root)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

/** The JSON in a file, or undefined if the file is absent or damaged: a stamp that can't be read counts as no stamp. */
export function readStamp(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined; // The caller does the work again, which is always right.
  }
}
