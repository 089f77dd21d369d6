import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, fromRoot } from "./lib/files.mjs";
import { runAsProgram } from "./lib/report.mjs";
import { ROOT } from "./lib/root.mjs";
import { sources } from "./lib/sources.mjs";

const ID = "[A-Z][A-Z0-9]*-\\d+[a-z]?";
const RULE = new RegExp(`^- \\*\\*(${ID})\\*\\*\\s+(.*)$`);
const TITLE = new RegExp(`["'\`]((?:\\[${ID}(?:,\\s*${ID})*\\]\\s*)+)`, "g");

/**
 * The rule book against the tests, both ways: each rule has a test whose title begins with its id, or says which code
 * or type holds it; each id in a title is a rule; no id is given twice; the index names each rule file.
 */
export function specProblems(root = ROOT) {
  const { rules, problems } = readRules(root);
  const tested = readTitles(root);
  for (const [id, rule] of rules) {
    if (!tested.has(id) && !rule.heldElsewhere)
      problems.push(`${rule.place}: ${id} has no test and names no code or type`);
  }
  for (const [id, place] of tested) {
    if (!rules.has(id)) problems.push(`${place}: [${id}] is in a test's title but no rule in docs/spec has that id`);
  }
  return problems;
}

function readRules(root) {
  const rules = new Map();
  const problems = [];
  const index = readIfThere(join(root, "docs/SPEC.md"));
  for (const path of filesBelow(join(root, "docs/spec")).filter((file) => file.endsWith(".md"))) {
    const name = fromRoot(path, root);
    if (!index.includes(name.replace("docs/", ""))) problems.push(`docs/SPEC.md: does not name ${name}`);
    for (const rule of rulesOf(readFileSync(path, "utf8"))) {
      const place = `${name}:${rule.line}`;
      if (rules.has(rule.id)) problems.push(`${place}: ${rule.id} stands at ${rules.get(rule.id).place} already`);
      const held = heldBy(rule.text);
      if (held === undefined) problems.push(`${place}: ${rule.id} does not say what it is held by`);
      for (const code of codePaths(held ?? "")) {
        if (!existsSync(join(root, code)))
          problems.push(`${place}: ${rule.id} is held by ${code}, which does not exist`);
      }
      rules.set(rule.id, { place, heldElsewhere: /^(code|type)\b/.test(held ?? "") });
    }
  }
  return { rules, problems };
}

/** The rules of one file: the text of a rule runs on over indented lines. */
export function rulesOf(text) {
  const rules = [];
  for (const [at, line] of text.split("\n").entries()) {
    const match = RULE.exec(line);
    if (match !== null) rules.push({ id: match[1], text: match[2], line: at + 1, open: true });
    else if (/^\s+\S/.test(line) && rules.at(-1)?.open) rules.at(-1).text += ` ${line.trim()}`;
    else if (rules.length > 0) rules.at(-1).open = false;
  }
  return rules;
}

/** What stands after "*Held by:*", with code marks taken off. */
function heldBy(text) {
  const match = /\*Held by:?\*:?\s*(.+)$/.exec(text);
  return match === null ? undefined : match[1].replaceAll("`", "").trim();
}

/** The paths after `code:`; a bare file name is prose and not looked up. */
function codePaths(held) {
  if (!held.startsWith("code")) return [];
  return [...held.matchAll(/\b((?:packages|scripts|bench|bin|docs)\/[\w./-]+\w)/g)].map((match) => match[1]);
}

function readTitles(root) {
  const tested = new Map();
  for (const file of sources(root)) {
    if (!file.isTest && !file.isSuite) continue;
    if (file.room === "scripts") continue; // The checkers' own tests carry made-up ids.
    for (const match of file.text.matchAll(TITLE)) {
      const line = file.text.slice(0, match.index).split("\n").length;
      for (const [id] of match[1].matchAll(new RegExp(ID, "g"))) tested.set(id, `${file.path}:${line}`);
    }
  }
  return tested;
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

runAsProgram(import.meta.url, specProblems);
