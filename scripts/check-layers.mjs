import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix } from "node:path";
import ts from "typescript";
import { cyclesOf } from "./lib/cycles.mjs";
import { runAsProgram } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { scriptOf, sources } from "./lib/sources.mjs";

/** Room -> the rooms it may import from. Tests may import `sim` as well; end-to-end tests see everything. */
export const MAY_IMPORT = {
  protocol: [],
  wire: ["protocol"],
  log: ["protocol"],
  agent: ["protocol", "wire", "log"],
  server: ["protocol", "wire", "log", "agent"],
  client: ["protocol"],
  web: ["protocol", "client"],
  cli: ["protocol", "wire", "log", "agent", "server", "client"],
  sim: ["protocol", "wire", "log", "agent", "server", "client", "cli"],
  bench: ["protocol", "wire", "log", "agent", "server", "client", "web", "cli", "sim"],
};
/** Rooms that run in a browser: no Node module outside their tests. */
const BROWSER_SAFE = new Set(["protocol", "client", "web"]);
const SCOPE = "@varve/";
const BUILTIN = new Set(builtinModules);

/** Imports that point the wrong way, past a package's public surface, to something undeclared, or in a circle. */
export function layerProblems(root = ROOT) {
  const files = sources(root).filter((file) => file.room in MAY_IMPORT && file.inSource);
  const byPath = new Map(files.map((file) => [file.path, file]));
  const manifests = new Map();
  const manifest = (room) => {
    if (!manifests.has(room)) manifests.set(room, readManifest(root, room));
    return manifests.get(room);
  };
  const edges = new Map();
  const problems = [];
  for (const file of files) {
    for (const specifier of importsOf(file)) {
      if (specifier.startsWith(".")) {
        const target = posix.join(posix.dirname(file.path), specifier.replace(/\?.*$/, ""));
        if (roomOf(target) !== file.room) problems.push(`${file.path}: ${specifier} leaves the package by a path`);
        else if (byPath.get(target)?.isSuite && isProduct(file))
          problems.push(`${file.path}: ${specifier} is there for tests only`);
        else if (byPath.has(target)) edges.set(file.path, [...(edges.get(file.path) ?? []), target]);
      } else {
        const wrong = specifier.startsWith(SCOPE)
          ? wrongRoom(file, specifier, manifest)
          : wrongPackage(file, specifier, manifest);
        if (wrong !== undefined) problems.push(`${file.path}: ${wrong}`);
      }
    }
  }
  for (const cycle of cyclesOf(edges)) problems.push(`import cycle: ${[...cycle, cycle[0]].join(" -> ")}`);
  return problems;
}

const isProduct = (file) => !file.isTest && !file.isSuite;

function wrongRoom(file, specifier, manifest) {
  const [room, ...rest] = specifier.slice(SCOPE.length).split("/");
  if (!(room in MAY_IMPORT)) return `${specifier} is no package of this repository`;
  const key = rest.length === 0 ? "." : `./${rest.join("/")}`;
  if (manifest(room)?.exports?.[key] === undefined) return `${specifier} is not among the exports of ${SCOPE}${room}`;
  if (room === file.room) return file.isTest ? undefined : `${specifier} imports its own package by name`;
  const allowed = MAY_IMPORT[file.room].includes(room);
  if (file.isEndToEnd || (!isProduct(file) && room === "sim")) return undefined;
  return allowed ? undefined : `${file.room} must not import ${room} (types count too)`;
}

function wrongPackage(file, specifier, manifest) {
  if (specifier.startsWith("node:") || BUILTIN.has(specifier)) {
    const safe = BROWSER_SAFE.has(file.room) && isProduct(file);
    return safe ? `${specifier} does not exist in a browser` : undefined;
  }
  if (/^[a-z]+:/.test(specifier)) return undefined; // Virtual modules of the bundler.
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  const own = manifest(file.room);
  const shipped = { ...own?.dependencies, ...own?.optionalDependencies, ...own?.peerDependencies };
  const tools = { ...own?.devDependencies, ...manifest("")?.devDependencies, ...manifest("")?.dependencies };
  if (name in shipped) return undefined;
  const mayUseTools = file.isTest || file.isSuite || file.room === "bench" || file.room === "sim";
  if (name in tools && mayUseTools) return undefined;
  if (`@types/${name}` in tools && isTypeOnly(file, specifier)) return undefined;
  return name in tools
    ? `${name} is a development tool; only tests may import it`
    : `${name} is not declared in package.json`;
}

/** Everything that a file imports or exports from elsewhere, also types and `import()`. */
function importsOf(file) {
  const text = scriptOf(file.path, file.text);
  return ts.preProcessFile(text, true, true).importedFiles.map((imported) => imported.fileName);
}

function isTypeOnly(file, specifier) {
  const escaped = specifier.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`import type [^;]*["']${escaped}["']`).test(file.text);
}

function roomOf(path) {
  const parts = path.split("/");
  return parts[0] === "packages" ? parts[1] : parts[0];
}

function readManifest(root, room) {
  const path = join(root, room === "" ? "package.json" : `packages/${room}/package.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

runAsProgram(import.meta.url, layerProblems);
