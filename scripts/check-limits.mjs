import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { runAsProgram } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { sources } from "./lib/sources.mjs";

const TABLE = "docs/LIMITS.md";
const HEAD = "| name | value | unit | what happens there | file |\n|---|---|---|---|---|";
const INTRO = `# Limits

Every bound of the product by name: members of the objects named \`...Limits\`, and constants whose name says that they are a
most or a time. Names, values and units are read from the code; \`node scripts/check-limits.mjs --write\` brings the table up to
date and takes the words of a new row from the comment above it, and \`npm run check\` fails while the two differ. The words are
this table's own.
`;

const ROOMS = ["protocol", "wire", "log", "agent", "client", "server", "cli", "web"];
/** What is there for tests, for the page's makers and for the demonstration bounds nothing of the product. */
const OUTSIDE = /\/(testing|contract|dev|demo-plan)\//;
const A_BOUND = /Max(Ms)?$|Ms$/;
const A_BOUND_OF_THE_PAGE = /_MAX(_MS)?$|Max$/;
/** Lengths of time as such, points in it, and sizes that a protocol of the network sets. */
const NO_BOUND = /^((minute|hour|day|lastTime|demoDelayDefault)Ms|shortMax|middleMax)$/;

/** What the code says: `{ room, path, name, value, unit, words }`, in the order of rooms, files and lines. */
export function limitsInCode(root = ROOT) {
  const found = sources(root).filter((file) => ROOMS.includes(file.room) && isProduct(file));
  return found
    .flatMap((file) => file.tree().statements.flatMap((statement) => limitsOf(file, statement)))
    .sort((a, b) => ROOMS.indexOf(a.room) - ROOMS.indexOf(b.room) || Number(a.path > b.path) - Number(a.path < b.path));
}

const isProduct = (file) => file.inSource && !file.isTest && !file.isSuite && !OUTSIDE.test(file.path);

function limitsOf(file, statement) {
  if (!ts.isVariableStatement(statement) || !(statement.declarationList.flags & ts.NodeFlags.Const)) return [];
  return statement.declarationList.declarations.flatMap((declaration) => {
    const name = declaration.name.getText(file.tree());
    const value = bare(declaration.initializer);
    if (value === undefined) return [];
    if (/^limits$|Limits$/.test(name) && ts.isObjectLiteralExpression(value)) {
      return membersOf(file, { name, object: value, type: declaration.type });
    }
    const isBound = (file.room === "web" ? A_BOUND_OF_THE_PAGE : A_BOUND).test(name) && !NO_BOUND.test(name);
    return isBound && isFigure(value) ? [row(file, { name, value, node: statement })] : [];
  });
}

const bare = (node) =>
  node !== undefined && (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) ? node.expression : node;

const isFigure = (node) =>
  ts.isNumericLiteral(node) || ts.isBinaryExpression(node) || ts.isPropertyAccessExpression(node);

/** A comment above a member holds for those below it that have none: "beyond either". */
function membersOf(file, { name, object, type }) {
  const tree = file.tree();
  const described = type === undefined ? undefined : interfaceNamed(tree, type.getText(tree));
  let words = "";
  return object.properties.filter(ts.isPropertyAssignment).map((member) => {
    const own = member.name.getText(tree);
    const said = described?.members.find((one) => one.name?.getText(tree) === own);
    words = commentAbove(tree, said ?? member) || words;
    return { ...row(file, { name: own, value: member.initializer, node: member }), name: `${name}.${own}`, words };
  });
}

const interfaceNamed = (tree, name) =>
  tree.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);

function row(file, { name, value, node }) {
  const tree = file.tree();
  const figure = figureOf(value, tree);
  return {
    ...{ room: file.room, path: file.path, name, words: commentAbove(tree, node) },
    ...(typeof figure === "number" ? inUnit(name, figure) : { value: figure, unit: "" }),
  };
}

function commentAbove(tree, node) {
  const ranges = ts.getLeadingCommentRanges(tree.text, node.getFullStart()) ?? [];
  const last = ranges.at(-1);
  if (last === undefined) return "";
  const text = tree.text.slice(last.pos, last.end).replace(/^\/\*\*?|\*\/$|^\/\//g, "");
  return text
    .replace(/\n\s*\*/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("|", "/")
    .trim();
}

/** A number, or the expression itself where it is made of other names. */
function figureOf(node, tree) {
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isBinaryExpression(node)) {
    const [a, b] = [figureOf(node.left, tree), figureOf(node.right, tree)];
    if (typeof a === "number" && typeof b === "number") {
      if (node.operatorToken.kind === ts.SyntaxKind.AsteriskToken) return a * b;
      if (node.operatorToken.kind === ts.SyntaxKind.AsteriskAsteriskToken) return a ** b;
      if (node.operatorToken.kind === ts.SyntaxKind.PlusToken) return a + b;
    }
  }
  return node.getText(tree).replace(/\s+/g, " ");
}

const SIZES = [
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
  [1, "bytes"],
];
const TIMES = [
  [24 * 3_600_000, "days"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
  [1, "ms"],
];
const COUNTED = /(Chars|Lines|Rows|Tokens|Seconds|Days|Pixels|Files|Ops)/i;

function inUnit(name, figure) {
  if (/bytes/i.test(name)) return scaled(figure, SIZES);
  if (/Ms$|Ms(Default|Max)$|_MS$/.test(name)) return scaled(figure, TIMES);
  if (/share/i.test(name)) return { value: String(Math.round(figure * 1000) / 10), unit: "%" };
  const what = (COUNTED.exec(name)?.[1] ?? "").toLowerCase();
  return { value: grouped(figure), unit: what === "chars" ? "characters" : what };
}

/** The largest unit of which it is a whole number. */
function scaled(figure, units) {
  const [size, unit] = units.find(([size]) => figure >= size && figure % size === 0) ?? units.at(-1);
  return { value: grouped(figure / size), unit };
}

const grouped = (figure) => String(figure).replace(/\B(?=(\d{3})+$)/g, " ");

/** What the table says, by `path#name`. */
export function limitsInTable(text) {
  const rows = new Map();
  for (const line of text.split("\n")) {
    const [, name, value, unit, words, path] =
      /^\| `([^`]+)` \| (.*?) \| (.*?) \| (.*?) \| `([^`]+)` \|$/.exec(line) ?? [];
    if (name !== undefined) rows.set(`packages/${path}#${name}`, { value, unit, words: words.trim() });
  }
  return rows;
}

const keyOf = ({ path, name }) => `${path}#${name}`;

/** Differences between code and table, both ways. */
export function limitProblems(root = ROOT) {
  const code = limitsInCode(root);
  const table = limitsInTable(readTable(root));
  const problems = [];
  for (const limit of code) {
    const said = table.get(keyOf(limit));
    if (said === undefined) {
      problems.push(`${limit.path}: ${limit.name} is not in ${TABLE}; run "node scripts/check-limits.mjs --write"`);
    } else if (said.value !== limit.value || said.unit !== limit.unit) {
      problems.push(
        `${TABLE}: ${limit.name} is ${limit.value} ${limit.unit} in ${limit.path}, ${said.value} ${said.unit} here`,
      );
    } else if (said.words === "") problems.push(`${TABLE}: the row of ${limit.name} does not say what happens there`);
  }
  const known = new Set(code.map(keyOf));
  for (const key of table.keys()) {
    if (!known.has(key)) problems.push(`${TABLE}: ${key.replace("#", ": ")} is nothing in the code`);
  }
  return problems;
}

function readTable(root) {
  try {
    return readFileSync(join(root, TABLE), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return "";
    throw error;
  }
}

/** The table as it should be: the code's names and figures, the old table's words where it has any. */
export function tableText(root = ROOT) {
  const old = limitsInTable(readTable(root));
  const rows = limitsInCode(root).map((limit) => {
    const words = old.get(keyOf(limit))?.words || limit.words;
    return `| \`${limit.name}\` | ${limit.value} | ${limit.unit} | ${words} | \`${limit.path.replace("packages/", "")}\` |`;
  });
  return [INTRO, HEAD, ...rows, ""].join("\n");
}

if (process.argv.includes("--write")) writeFileSync(join(ROOT, TABLE), tableText());
runAsProgram(import.meta.url, limitProblems);
