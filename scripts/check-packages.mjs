import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, fromRoot } from "./lib/files.mjs";
import { runAsProgram } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";

const EXACT = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/;
const FIELDS = ["dependencies", "optionalDependencies", "devDependencies", "overrides"];

/** Versions that are not exact, and a lock that names a host or lags behind. */
export function packageProblems(root = ROOT) {
  const manifests = [join(root, "package.json"), ...filesBelow(join(root, "packages")).filter(isManifest)].filter(
    (path) => existsSync(path),
  );
  const problems = manifests.flatMap((path) => versionProblems(path, root));
  const lockPath = join(root, "package-lock.json");
  if (!existsSync(lockPath)) return problems;
  const lock = JSON.parse(readFileSync(lockPath, "utf8"));
  return [...problems, ...hostProblems(lock), ...lagProblems(lock, manifests, root)];
}

const isManifest = (path) => /[/\\]packages[/\\][^/\\]+[/\\]package\.json$/.test(path);

function versionProblems(path, root) {
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const wanted = FIELDS.flatMap((field) => Object.entries(manifest[field] ?? {}));
  return wanted
    .filter(([, version]) => !EXACT.test(version))
    .map(([name, version]) => `${fromRoot(path, root)}: ${name} is not pinned exactly (${version})`);
}

/** A lock that names a registry would send every newcomer to it. */
function hostProblems(lock) {
  return Object.entries(lock.packages)
    .filter(([, entry]) => /^[a-z+]+:\/\//.test(entry.resolved ?? ""))
    .map(([path]) => `package-lock.json: ${path} names the host that it came from`);
}

function lagProblems(lock, manifests, root) {
  const problems = [];
  for (const path of manifests) {
    const key = fromRoot(path, root).replace(/\/?package\.json$/, "");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    for (const field of ["dependencies", "optionalDependencies", "devDependencies"]) {
      const same = sorted(manifest[field]) === sorted(lock.packages[key]?.[field]);
      if (!same) problems.push(`package-lock.json: ${field} of ${fromRoot(path, root)} changed since it was made`);
    }
  }
  return problems;
}

const sorted = (entries) => JSON.stringify(Object.entries(entries ?? {}).sort());

runAsProgram(import.meta.url, packageProblems);
