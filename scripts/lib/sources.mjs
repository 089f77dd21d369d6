import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import { filesBelow, fromRoot } from "./files.mjs";
import { ROOT } from "./root.mjs";

const CODE = /\.(ts|mts|mjs|svelte)$/;
const TEST_NAME = /\.test\.m?ts$|\.test\.mjs$/;

/**
 * The checkout's own code as records: `path` (from the root, with `/`), `room` (the package's folder, or "bench",
 * "scripts", "bin"), `text`, `isTest`, `isEndToEnd`, `isSuite` (no test itself, but there for tests only: a
 * suite that another room runs, or a file in a folder named "testing"), and `tree()`.
 */
export function sources(root = ROOT) {
  if (root !== ROOT) return readSources(root);
  ownSources ??= readSources(root);
  return ownSources;
}

/** All checks of one run look at the same reading, and parse each file once. */
let ownSources;

function readSources(root) {
  const folders = ["packages", "bench", "scripts", "bin"].flatMap((folder) => filesBelow(join(root, folder)));
  return folders.filter((path) => CODE.test(path)).map((path) => source(path, root));
}

function source(path, root) {
  const name = fromRoot(path, root);
  const text = readFileSync(path, "utf8");
  const parts = name.split("/");
  const room = parts[0] === "packages" ? parts[1] : parts[0];
  const isTest = TEST_NAME.test(name);
  let tree;
  return {
    path: name,
    name: basename(name),
    room,
    inSource: parts[0] !== "packages" || parts[2] === "src",
    text,
    isTest,
    isEndToEnd: /\.e2e\.test\./.test(name),
    isSuite: !isTest && (/\/testing\//.test(name) || /from\s+["']vitest["']/.test(text)),
    tree: () => {
      tree ??= ts.createSourceFile(name, scriptOf(name, text), ts.ScriptTarget.ESNext, true, ts.ScriptKind.TS);
      return tree;
    },
  };
}

/** A component's script blocks, with the rest blanked out so that line numbers stay right. */
export function scriptOf(name, text) {
  if (!name.endsWith(".svelte")) return text;
  const blank = (part) => part.replace(/[^\n]/g, " ");
  let result = "";
  let end = 0;
  for (const match of text.matchAll(/(<script\b[^>]*>)([\s\S]*?)<\/script>/g)) {
    const start = match.index + match[1].length;
    result += blank(text.slice(end, start)) + match[2];
    end = start + match[2].length;
  }
  return result + blank(text.slice(end));
}

/** Calls `visit` for every node below `node`, outermost first. */
export function walk(node, visit) {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** `path:line` of a node, the way terminals and editors link it. */
export function place(file, node) {
  const tree = file.tree();
  return `${file.path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`;
}
