/** A command against rules, part by part. */
import { isAbsolute, posix } from "node:path";
import type { PermissionPart } from "@varve/protocol";
import { commandPieces } from "./command-text.ts";
import type { PermissionContext, PermissionRule } from "./decide-contract.ts";
import { fitsPath, fitsText, literally, mayFit, startOf } from "./pattern.ts";
import { allowedRule, permissionLimits, ruleWords } from "./rules.ts";
import type { ShellPart } from "./shell/shell-part.ts";

export const askLimits = {
  /** Characters of all parts of a question together; beyond it the question shows the command alone. */
  partsCharsMax: 32_768,
  /** Rules that one question offers. */
  offersMax: 16,
} as const;

export interface JudgedCommand {
  readonly text: string;
  readonly key: string;
  readonly parts: readonly ShellPart[];
  readonly cwd: string;
  /** Under which names rules speak of it: `sandbox` is for commands that run in one. */
  readonly tools: readonly string[];
}

/** `may`: the command holds something that is not known before it runs, and that could be what the rule means. */
export type Fit = "fits" | "may" | "no";

/** How a rule that asks or denies meets the command as a whole. It matches generously: any piece of it, in any spelling. */
export function restricts(rule: PermissionRule, command: JudgedCommand): Fit {
  const { pattern } = rule;
  if (isForCommand(rule, command)) {
    if (pattern === undefined || pattern === command.text || pattern === command.key) return "fits";
    if (commandPieces(command.text).some((piece) => fitsText(pattern, piece))) return "fits";
  }
  const fits = command.parts.map((part) => partFit(rule, part, command));
  return fits.includes("fits") ? "fits" : fits.includes("may") ? "may" : "no";
}

export function partFit(rule: PermissionRule, part: ShellPart, command: JudgedCommand): Fit {
  const { pattern } = rule;
  const { cwd } = command;
  if (pattern === undefined) return isForCommand(rule, command) ? "fits" : "no";
  const reads = isFor(rule, "read") && part.reads.some((path) => fitsPath(pattern, absolute(path, cwd)));
  const writes =
    (isFor(rule, "write") || isFor(rule, "edit")) && part.writes.some((path) => fitsPath(pattern, absolute(path, cwd)));
  if (reads || writes) return "fits";
  if (!isForCommand(rule, command)) return "no";
  const spellings = [part.text, part.words, part.values, part.values.replace(/^[^ ]*\//, "")];
  if (part.words !== "" && spellings.some((text) => fitsText(pattern, text))) return "fits";
  if (part.isKnown) return "no";
  return spellings.slice(2).some((text) => mayFit(pattern, text)) ? "may" : "no";
}

const isFor = (rule: PermissionRule, tool: string): boolean => rule.tool === "*" || rule.tool === tool;
export const isForCommand = ({ tool }: PermissionRule, { tools }: JudgedCommand): boolean =>
  tool === "*" || tools.includes(tool);
const absolute = (path: string, cwd: string): string =>
  isAbsolute(path) ? posix.normalize(path) : posix.join(cwd, path);

/** A rule that allows all of the command, by saying nothing about it or exactly what it is. */
export const allowsAll = (rule: PermissionRule, { text, key }: JudgedCommand): boolean =>
  rule.pattern === undefined || rule.pattern === text || rule.pattern === key;

/** Whether the rule's pattern speaks of this part, clearly enough for what the part is. */
export function allowsPart({ pattern }: PermissionRule, part: ShellPart): boolean {
  if (pattern === undefined || part.needs === "person") return false;
  const { text, isWhole, isOpen } = startOf(pattern);
  if (isWhole) return part.isKnown && text === part.whole;
  if (part.needs === "exact" || !text.startsWith(part.lead)) return false;
  if (part.isKnown) return fitsText(pattern, part.assigned + part.words);
  // Whatever the rest becomes, a pattern that ends in `*` and fits the start fits it.
  return isOpen && fitsText(pattern, part.assigned + part.sureWords);
}

/** Every part is allowed by a rule, or runs nothing; and at least one is. */
export function allowsByParts(rules: readonly PermissionRule[], { parts }: JudgedCommand): boolean {
  let named = 0;
  for (const part of parts) {
    if (rules.some((rule) => allowsPart(rule, part))) named += 1;
    else if (part.needs !== "nothing") return false;
  }
  return named > 0;
}

/** What of the command asks, and why. */
export function askedParts(
  command: JudgedCommand,
  { rules }: Pick<PermissionContext, "rules">,
  base: boolean,
): readonly PermissionPart[] {
  const restricting = rules.filter(({ action }) => action !== "allow");
  const allowing = rules.filter((rule) => rule.action === "allow" && isForCommand(rule, command));
  const told = command.parts.map((part): PermissionPart => {
    const { text } = part;
    const rule = restricting.find((one) => partFit(one, part, command) === "fits");
    if (rule !== undefined) return { text, asks: true, why: `a rule asks: ${ruleWords(rule)}` };
    const maybe = restricting.find((one) => partFit(one, part, command) === "may");
    if (maybe !== undefined) return { text, asks: true, why: `it may be what a rule means: ${ruleWords(maybe)}` };
    if (base || part.needs === "nothing" || allowing.some((one) => allowsPart(one, part))) return { text, asks: false };
    return { text, asks: true, why: part.why ?? noRule };
  });
  // Something asks: where no part does so alone, they do together.
  return told.some(({ asks }) => asks) ? told : told.map((part) => ({ ...part, asks: true, why: noRule }));
}

export const noRule = "no rule allows it";

/** Rules that together allow exactly the parts that ask; empty where no rules can say that. */
export function offersFor({ parts, tools }: JudgedCommand, asked: readonly PermissionPart[]): readonly string[] {
  const asking = parts.filter((_, at) => asked[at]?.asks === true);
  const offers = [...new Set(asking.map(({ whole }) => `${tools.at(-1)}: ${literally(whole)}`))];
  const areClear = asking.every(({ needs, isKnown }) => needs !== "person" && isKnown);
  if (!areClear || offers.length > askLimits.offersMax) return [];
  const rules = offers.map((offer) => (offer.length > permissionLimits.ruleCharsMax ? null : allowedRule(offer)));
  // A text that no rule can hold as it is (spaces at its ends) would be allowed by none of these.
  const hold = asking.every((part) => rules.some((rule) => rule !== null && allowsPart(rule, part)));
  return hold ? offers : [];
}
