/**
 * Reads a command with the grammar of the shell and tells what it consists of: each program that it would run, wherever it
 * stands, and each thing in it of which that cannot be told. Pure; what it does not understand it says so of.
 */
import { type Command, forEachChild, parse, type SyntaxNode } from "unbash";
import { syntaxProblem } from "./node-facts.ts";
import { type RedirectionFacts, redirectionFacts } from "./redirections.ts";
import { type ShellPart, shellLimits, unjudged } from "./shell-part.ts";
import { assignmentWord, type ShellWord, shellWord } from "./shell-word.ts";
import { type Assigned, assignedPart, filesOf, partOf } from "./simple-command.ts";
import { unwrap } from "./wrappers.ts";

/** What one text of a command is read with. */
interface Reading {
  /** What the positions of its nodes index. */
  readonly source: string;
  readonly shell: "bash" | "posix";
  readonly depth: number;
  readonly parts: ShellPart[];
}

/** Characters that some shell reads in another way than they look, or that nobody sees. */
const unreadable = /[^\P{C}\t\n]|[^\P{Z} ]/u;

/** The parts of a command in their own order; at least one, unless it runs nothing at all. */
export function readCommand(command: string, shell: "bash" | "posix" = "bash"): readonly ShellPart[] {
  if (command.length > shellLimits.charsMax) return [unjudged(command, "it is too long to be read")];
  if ((command.match(/\$\(|`|[<>]\(|\$\[/g)?.length ?? 0) > shellLimits.openingsMax) {
    return [unjudged(command, "it runs too many programs to be judged")];
  }
  const parts: ShellPart[] = [];
  readText(command, { shell, depth: 0, parts });
  return parts.length > shellLimits.partsMax ? [unjudged(command, "it runs too many programs to be judged")] : parts;
}

function readText(text: string, at: Omit<Reading, "source">): void {
  if (at.depth > shellLimits.depthMax) {
    at.parts.push(unjudged(text, "commands stand too deep inside of others"));
    return;
  }
  if (unreadable.test(text)) {
    at.parts.push(unjudged(text, "it holds characters that cannot be seen"));
    return;
  }
  try {
    visit(parse(text), { ...at, source: text });
  } catch {
    // The parser is not ours, and a text may nest deeper than a visit of it can go: nobody has understood it.
    at.parts.push(unjudged(text, "it could not be read"));
  }
}

function visit(node: SyntaxNode, reading: Reading): void {
  // One more than is allowed tells that there are too many.
  if (reading.parts.length > shellLimits.partsMax) return;
  const within = node.type === "Script" && node.source !== undefined ? { ...reading, source: node.source } : reading;
  const why = syntaxProblem(node, within.source, within.shell);
  if (why !== null) within.parts.push(unjudged(within.source.slice(node.pos, node.end), why));
  if (node.type === "Command") readSimple(node, within);
  else if (node.type === "Redirected")
    readRedirections(
      node.redirects.map((one) => redirectionFacts(one, within.source)),
      within,
    );
  forEachChild(node, (child) => visit(child, within));
}

function readSimple(node: Command, reading: Reading): void {
  const { source } = reading;
  const assigns: Assigned[] = [];
  for (const one of node.prefix) {
    if (one.type === "Assignment") assigns.push({ name: one.name, source: source.slice(one.pos, one.end) });
  }
  const redirections = node.redirects.map((one) => redirectionFacts(one, source));
  const args = node.args.map((arg) => (arg.type === "Word" ? shellWord(arg, source) : assignmentWord(arg, source)));
  if (node.name === undefined) {
    const part = assignedPart(assigns, node.prefix.map((one) => source.slice(one.pos, one.end)).join(" "));
    if (part !== null) reading.parts.push(part);
    readRedirections(redirections, reading);
    return;
  }
  const text = source.slice(node.pos, node.end).trim();
  readProgram({ words: [shellWord(node.name, source), ...args], assigns, redirections, text }, reading);
}

interface Simple {
  readonly words: readonly ShellWord[];
  readonly assigns: readonly Assigned[];
  readonly redirections: readonly RedirectionFacts[];
  readonly text: string;
}

/** A program with what stands before and behind it, or what it wraps. */
function readProgram(simple: Simple, reading: Reading): void {
  const { words, assigns, redirections } = simple;
  const found = unwrap(words);
  switch (found.kind) {
    case "none":
      reading.parts.push(partOf(simple));
      return;
    case "unclear":
      reading.parts.push({ ...partOf(simple), isKnown: false, values: "", needs: "person", why: found.why });
      return;
    case "inner": {
      const text = textOf(found.words, [...assigns, ...found.assigns], redirections);
      readProgram({ words: found.words, assigns: [...assigns, ...found.assigns], redirections, text }, reading);
      return;
    }
    case "also":
      reading.parts.push(partOf(simple));
      for (const { words: inner } of found.inner) {
        readProgram({ words: inner, assigns, redirections: [], text: textOf(inner, assigns, []) }, reading);
      }
      return;
    case "text": {
      const part = assignedPart(assigns, assigns.map(({ source }) => source).join(" "));
      if (part !== null) reading.parts.push(part);
      readRedirections(redirections, reading);
      const shell = found.shell === "same" ? reading.shell : found.shell;
      readText(found.text, { shell, depth: reading.depth + 1, parts: reading.parts });
      return;
    }
  }
}

/** Redirections that belong to no program of their own: of a group, or bare. */
function readRedirections(redirections: readonly RedirectionFacts[], { parts }: Reading): void {
  for (const one of redirections) {
    if (one.needs === "nothing") continue;
    const { source, needs, why } = one;
    const part = unjudged(source, why ?? "");
    parts.push({ ...part, words: "", isKnown: needs !== "person", needs, ...filesOf([one]) });
  }
}

const textOf = (
  words: readonly ShellWord[],
  assigns: readonly Assigned[],
  redirections: readonly RedirectionFacts[],
): string => [...assigns, ...words, ...redirections].map(({ source }) => source).join(" ");
