import ts from "typescript";
import { runAsProgram } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { place, sources, walk } from "./lib/sources.mjs";

/** Names that say what something is or when it was made, never where it belongs. */
const IDENTITY = /(^|[a-z])(Id|Ids)$|^(id|ids|createdAt|created_at)$/;
/** Names that people choose, and that a list may well be sorted by. */
const CHOSEN_BY_PEOPLE = new Set(["keyId", "modelId"]);
const SQL_ORDER = /\border\s+by\s+(?:\w+\.)?(id|created_at)\b/i;
const RELATIONS = new Set([
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
]);
/** Files that may order by a name like this, each with the reason. */
const ALLOWED = {
  "packages/protocol/src/order.ts": "the total order is defined here",
};

/** Places that order rows by an id or a clock instead of by seq, position or stamp. A heuristic on names. */
export function orderProblems(root = ROOT) {
  const problems = [];
  for (const file of sources(root)) {
    if (file.isTest || file.room === "scripts" || file.path in ALLOWED) continue;
    walk(file.tree(), (node) => {
      const what = orders(node);
      if (what !== undefined) problems.push(`${place(file, node)}: orders by ${what}; ids and clocks are never order`);
    });
  }
  return problems;
}

function orders(node) {
  if (ts.isBinaryExpression(node) && RELATIONS.has(node.operatorToken.kind)) {
    return identityName(node.left) ?? identityName(node.right);
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) return callOrders(node);
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
    return SQL_ORDER.exec(node.text)?.[1];
  }
  return undefined;
}

function callOrders(node) {
  const { name, expression } = node.expression;
  if (name.text === "localeCompare") return identityName(expression) ?? identityName(node.arguments[0]);
  if (name.text !== "sort" && name.text !== "toSorted") return undefined;
  const comparator = node.arguments[0];
  if (comparator === undefined) return identityName(expression);
  return subtracted(comparator);
}

/** A comparator that subtracts two times; one that compares ids is found by its `<` or localeCompare. */
function subtracted(comparator) {
  let found;
  walk(comparator, (node) => {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.MinusToken) {
      found ??= identityName(node.left) ?? identityName(node.right);
    }
  });
  return found;
}

function identityName(node) {
  if (node === undefined) return undefined;
  const name = ts.isPropertyAccessExpression(node) ? node.name.text : ts.isIdentifier(node) ? node.text : undefined;
  if (name === undefined || CHOSEN_BY_PEOPLE.has(name)) return undefined;
  return IDENTITY.test(name) ? name : undefined;
}

runAsProgram(import.meta.url, orderProblems);
