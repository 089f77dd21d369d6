import ts from "typescript";
import { runAsProgram } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { place, sources, walk } from "./lib/sources.mjs";

const CLOCK = ["Date.now", "new Date()", "performance.now"];
const TIMERS = ["setTimeout", "setInterval", "setImmediate"];
const CHANCE = ["Math.random", "crypto.randomUUID", "crypto.getRandomValues", "randomUUID", "randomBytes"];
const WORLD = ["fetch", "node:fs", "node:fs/promises", "node:child_process", "node:net", "node:http", "node:https"];

/**
 * Where the outer world is passed in and never reached for. `only` narrows a room to its decisions, `except` names its
 * rim, where adapters turn the world into arguments.
 */
export const PURE = [
  { room: "protocol", forbidden: [...CLOCK, ...TIMERS, ...CHANCE, ...WORLD] },
  { room: "wire", forbidden: [...CLOCK, ...TIMERS, ...CHANCE, ...WORLD] },
  { room: "client", except: /\/adapters\//, forbidden: [...CLOCK, ...TIMERS, ...CHANCE, ...WORLD] },
  {
    room: "agent",
    except: /\/rim\/|\/operations\/|\/(tools|sandbox)\/node-[\w-]+\.ts$/,
    forbidden: [...CLOCK, ...TIMERS, ...CHANCE],
  },
  { room: "server", only: /\/workspace\/|\/(tab-actor|hub)[\w-]*\.ts$/, forbidden: [...CLOCK, ...TIMERS, ...CHANCE] },
];

/** Uses of a clock, a timer, chance or the world in code that must get them as arguments. */
export function purityProblems(root = ROOT) {
  const problems = [];
  for (const file of sources(root)) {
    if (file.isTest || file.isSuite || !file.inSource) continue;
    const row = PURE.find((candidate) => candidate.room === file.room);
    if (row === undefined || row.except?.test(file.path) || (row.only && !row.only.test(file.path))) continue;
    const forbidden = new Set(row.forbidden);
    walk(file.tree(), (node) => {
      const name = reached(node);
      if (name !== undefined && forbidden.has(name))
        problems.push(`${place(file, node)}: ${name} must be passed in here`);
    });
  }
  return problems;
}

/** The outer thing that a node reaches for, under the name of the table, else undefined. */
function reached(node) {
  if (ts.isImportDeclaration(node)) return importsTypesOnly(node) ? undefined : node.moduleSpecifier.text;
  if (ts.isNewExpression(node) && node.expression.getText() === "Date" && !node.arguments?.length) return "new Date()";
  if (ts.isPropertyAccessExpression(node)) {
    const text = node
      .getText()
      .replace(/^(globalThis|window|self)\./, "")
      .replace(/\s/g, "");
    return text;
  }
  if (!ts.isIdentifier(node) || namesSomethingElse(node)) return undefined;
  return isLocal(node, node.text) ? undefined : node.text;
}

/** A property's or a declaration's own name, or part of a type: none of them reaches for the global of that name. */
function namesSomethingElse(node) {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return false;
  if (parent.name === node || parent.propertyName === node || parent.label === node) return true;
  return ts.isTypeNode(parent) || ts.isTypeQueryNode(parent) || ts.isQualifiedName(parent);
}

function importsTypesOnly(node) {
  return node.importClause?.isTypeOnly === true;
}

/** True when an enclosing function or the file itself binds the name: then it is the thing that was passed in. */
function isLocal(node, name) {
  for (let scope = node.parent; scope !== undefined; scope = scope.parent) {
    if (ts.isFunctionLike(scope) && scope.parameters.some((parameter) => bindsName(parameter.name, name))) return true;
    const statements = ts.isBlock(scope) || ts.isSourceFile(scope) ? scope.statements : [];
    if (statements.some((statement) => declares(statement, name))) return true;
  }
  return false;
}

function declares(statement, name) {
  if (ts.isFunctionDeclaration(statement)) return statement.name?.text === name;
  if (!ts.isVariableStatement(statement)) return false;
  return statement.declarationList.declarations.some((declaration) => bindsName(declaration.name, name));
}

function bindsName(binding, name) {
  if (ts.isIdentifier(binding)) return binding.text === name;
  return binding.elements.some((element) => !ts.isOmittedExpression(element) && bindsName(element.name, name));
}

runAsProgram(import.meta.url, purityProblems);
