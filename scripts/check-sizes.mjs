import ts from "typescript";
import { runAsProgram } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { place, sources, walk } from "./lib/sources.mjs";

const FILE_LINES_MAX = 500;
const TEST_LINES_MAX = 800;
const FUNCTION_LINES_MAX = 70;

/** Files and functions that no longer fit into a reader's head. Bodies of test suites are lists, not functions. */
export function sizeProblems(root = ROOT) {
  const problems = [];
  for (const file of sources(root)) {
    const isTest = file.isTest || file.isSuite;
    const lines = file.text.replace(/\n$/, "").split("\n").length;
    const most = isTest ? TEST_LINES_MAX : FILE_LINES_MAX;
    if (lines > most) problems.push(`${file.path}: ${lines} lines, at most ${most}`);
    if (!isTest) problems.push(...longFunctions(file));
  }
  return problems;
}

function longFunctions(file) {
  const problems = [];
  const tree = file.tree();
  const lineOf = (position) => tree.getLineAndCharacterOfPosition(position).line;
  walk(tree, (node) => {
    if (!ts.isFunctionLike(node) || node.body === undefined) return;
    const lines = lineOf(node.end) - lineOf(node.getStart(tree)) + 1;
    if (lines <= FUNCTION_LINES_MAX) return;
    const name = node.name?.getText(tree) ?? "a function";
    problems.push(`${place(file, node)}: ${name} has ${lines} lines, at most ${FUNCTION_LINES_MAX}`);
  });
  return problems;
}

runAsProgram(import.meta.url, sizeProblems);
