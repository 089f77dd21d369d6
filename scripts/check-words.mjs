import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { runAsProgram } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { place, sources, walk } from "./lib/sources.mjs";

const BANNED_MAX = 15;

/** Exported types, file names, and the `type` and `op` literals of events, against the words that the glossary bans. */
export function wordProblems(root = ROOT) {
  const { banned, exempt, problems } = readGlossary(root);
  for (const file of sources(root)) {
    for (const { name, at } of namesIn(file)) {
      const word = bannedWordIn(name, banned, exempt);
      if (word !== undefined) problems.push(`${at}: "${name}" says "${word}", which the glossary bans`);
    }
  }
  return problems;
}

/** The first banned word in a name (in any spelling: camel, kebab, snake; singular or plural), exempted phrases aside. */
export function bannedWordIn(name, banned, exempt) {
  let words = ` ${wordsOf(name).join(" ")} `;
  for (const phrase of exempt) words = words.replaceAll(` ${phrase} `, " ");
  return words.split(" ").find((word) => banned.has(word) || banned.has(word.replace(/s$/, "")));
}

/** "tabSessions2" -> ["tab", "sessions", "2"]; also a phrase of the glossary, whatever its spelling. */
export function wordsOf(name) {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

/** The two fenced lists of docs/GLOSSARY.md: ```banned and ```exempt, one entry a line, a `#` starts a reason. */
export function readGlossary(root = ROOT) {
  const path = join(root, "docs/GLOSSARY.md");
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const list = (kind) => {
    const block = new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] ?? "";
    return block
      .split("\n")
      .map((line) => line.replace(/#.*/, "").trim())
      .filter((line) => line !== "");
  };
  const banned = new Set(list("banned").map((word) => word.toLowerCase()));
  const problems = [];
  if (banned.size === 0) problems.push("docs/GLOSSARY.md: no list of banned words");
  if (banned.size > BANNED_MAX)
    problems.push(`docs/GLOSSARY.md: ${banned.size} banned words; at most ${BANNED_MAX} can be kept in mind`);
  return { banned, exempt: list("exempt").map((phrase) => wordsOf(phrase).join(" ")), problems };
}

function namesIn(file) {
  const names = [{ name: file.name.replace(/\.(e2e\.)?(test\.)?(svelte\.)?\w+$/, ""), at: file.path }];
  for (const folder of file.path.split("/").slice(1, -1)) names.push({ name: folder, at: file.path });
  if (file.room === "scripts" || file.room === "bin") return names;
  walk(file.tree(), (node) => {
    const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);
    if (isType && node.name !== undefined && isExported(node))
      names.push({ name: node.name.text, at: place(file, node) });
    for (const literal of kindLiterals(node)) names.push({ name: literal.text, at: place(file, literal) });
  });
  return names;
}

function isExported(node) {
  return (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Export) !== 0;
}

/** The texts that `type` or `op` of an event, frame or command can have, in a type, a value or a schema. */
function kindLiterals(node) {
  const holds = ts.isPropertySignature(node) || ts.isPropertyAssignment(node);
  if (!holds || !ts.isIdentifier(node.name) || !["type", "op"].includes(node.name.text)) return [];
  const found = [];
  walk(node.initializer ?? node.type ?? node.name, (child) => {
    if (ts.isStringLiteral(child) && !insideObject(child, node)) found.push(child);
  });
  return found;
}

/** A literal deeper inside another object belongs to that object's own property. */
function insideObject(child, top) {
  for (let node = child.parent; node !== undefined && node !== top; node = node.parent) {
    if (ts.isObjectLiteralExpression(node) || ts.isTypeLiteralNode(node)) return true;
  }
  return false;
}

runAsProgram(import.meta.url, wordProblems);
