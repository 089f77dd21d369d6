/**
 * May this call run? Pure: the answer follows from the call, the tab's mode, the rules and the answers given so far.
 *
 *   1. a deny rule                        -> deny
 *   2. mode `read`, and it writes or runs -> deny
 *   3. a command that names VARVE_HOME    -> ask, each time
 *   4. answered "for this tab" before     -> allow
 *   5. an ask rule                        -> ask; and what may be meant by a rule that asks or denies, as far as is known
 *   6. reads the workspace, or asks       -> allow
 *   7. allow rules                        -> allow; of a command they must allow each part
 *   8. the mode: `ask` asks, `edits` allows writes in the workspace, `allow` allows
 *
 * Rules that restrict match generously (any piece of a compound command), rules that allow match narrowly (each program of
 * a command by itself, and only as far as its text tells what it will do).
 */
import { type PermissionPart, type PermissionSubject, unreachable } from "@varve/protocol";
import type { Decide, Decision, PermissionContext, PermissionRule } from "./decide-contract.ts";
import {
  allowsAll,
  allowsByParts,
  askedParts,
  askLimits,
  type Fit,
  isForCommand,
  type JudgedCommand,
  noRule,
  offersFor,
  restricts,
} from "./judge-command.ts";
import { fitsPath, fitsText, literally } from "./pattern.ts";
import { permissionLimits, ruleWords } from "./rules.ts";
import { readCommand } from "./shell/read-command.ts";

type Call = Parameters<Decide>[0];

export const decide: Decide = (call, context) => {
  const { command: text } = call.subject;
  const command = text === undefined ? null : judged(text, call.subject, context);
  const met = (action: PermissionRule["action"]) =>
    meeting(
      call,
      command,
      context.rules.filter((rule) => rule.action === action),
    );
  const denied = met("deny");
  if (denied?.fit === "fits") {
    return deny(`A rule denies this: ${ruleWords(denied.rule)}. Do without it, or ask the person.`);
  }
  const changes = call.effect === "write" || call.effect === "run";
  if (context.mode === "read" && changes) return deny(readOnlyWords(call));
  if (call.namesHome === true) return { decision: "ask" };
  if (isGranted(call, context)) return { decision: "allow" };
  if (call.effect === "ask") return { decision: "allow" };
  const asked = met("ask");
  // No rule that allows can answer one that restricts, so that none is offered.
  if (asked !== null || denied !== null)
    return asking(command, told(command, context, isBase(call, command, context)), []);
  if (!changes || isBase(call, command, context)) return { decision: "allow" };
  const allowing = context.rules.filter((rule) => rule.action === "allow" && speaksOf(rule, call, command));
  if (command === null ? allowsCall(allowing, call) : allowsByParts(allowing, command)) {
    return { decision: "allow" };
  }
  const parts = told(command, context, false);
  return asking(command, parts, command === null ? offersOf(call) : offersFor(command, parts));
};

/** Read when it is first looked at: nobody asks for the parts of a command that is allowed as a whole. */
function judged(
  text: string,
  { tool, key, sandboxed }: PermissionSubject,
  { cwd = "/", shell = "bash" }: PermissionContext,
): JudgedCommand {
  let parts: JudgedCommand["parts"] | null = null;
  return {
    text,
    key,
    cwd,
    tools: sandboxed === true ? [tool, "sandbox"] : [tool],
    get parts() {
      parts ??= readCommand(text, shell);
      return parts;
    },
  };
}

const deny = (reason: string): Decision => ({ decision: "deny", reason });

function readOnlyWords({ effect }: Call): string {
  const what = effect === "write" ? "Nothing may be written" : "Nothing may be run or reached outside the workspace";
  return `This tab is read only. ${what}; the person can change that with the tab's permission control.`;
}

/** The mode allows it, or a rule that speaks of all of it. */
function isBase(call: Call, command: JudgedCommand | null, context: PermissionContext): boolean {
  if (allowedByMode(call, context)) return true;
  return context.rules.some(
    (rule) =>
      rule.action === "allow" &&
      speaksOf(rule, call, command) &&
      (command === null ? rule.pattern === undefined : allowsAll(rule, command)),
  );
}

function allowedByMode({ effect }: Call, { mode }: PermissionContext): boolean {
  switch (mode) {
    case "allow":
      return true;
    case "edits":
      return effect === "write";
    case "ask":
    case "read":
      return false;
    default:
      return unreachable(mode);
  }
}

interface Met {
  readonly rule: PermissionRule;
  readonly fit: Fit;
}

/** The rule among these that the call meets; one that surely fits before one that may. */
function meeting(call: Call, command: JudgedCommand | null, rules: readonly PermissionRule[]): Met | null {
  let maybe: Met | null = null;
  for (const rule of rules) {
    const fit = command === null ? (isFor(rule, call) && fits(rule, call) ? "fits" : "no") : restricts(rule, command);
    if (fit === "fits") return { rule, fit };
    if (fit === "may") maybe ??= { rule, fit };
  }
  return maybe;
}

const isGranted = ({ subject }: Call, { granted }: PermissionContext): boolean =>
  granted.some(({ tool, key }) => tool === subject.tool && key === subject.key);

const speaksOf = (rule: PermissionRule, call: Call, command: JudgedCommand | null): boolean =>
  command === null ? isFor(rule, call) : isForCommand(rule, command);

/** A patch edits and writes: a rule that restricts either restricts it, or it would be the way around. */
const isFor = ({ tool, action }: PermissionRule, { subject }: Call): boolean =>
  tool === "*" ||
  tool === subject.tool ||
  (subject.tool === "patch" && action !== "allow" && (tool === "edit" || tool === "write"));

/** Of a call about several files, null for any other. */
const pathsOf = ({ subject }: Call): readonly string[] | null =>
  subject.tool === "patch" ? (subject.parts?.map(({ text }) => text) ?? null) : null;

/** Several rules together may allow several files, each its own. */
function allowsCall(rules: readonly PermissionRule[], call: Call): boolean {
  const paths = pathsOf(call);
  if (paths === null) return rules.some((rule) => fits(rule, call));
  return paths.every((path) => rules.some(({ pattern }) => pattern === undefined || fitsPath(pattern, path)));
}

function fits({ pattern }: PermissionRule, call: Call): boolean {
  const { subject } = call;
  if (pattern === undefined || pattern === subject.key) return true;
  const paths = pathsOf(call);
  if (paths !== null) return paths.some((path) => fitsPath(pattern, path));
  if (subject.path !== undefined) return fitsPath(pattern, subject.path);
  return fitsText(pattern, subject.url ?? subject.key);
}

const told = (command: JudgedCommand | null, context: PermissionContext, base: boolean): readonly PermissionPart[] =>
  command === null ? [] : askedParts(command, context, base);

function asking(command: JudgedCommand | null, parts: readonly PermissionPart[], offers: readonly string[]): Decision {
  const [first] = parts;
  const isOne =
    parts.length < 2 && (first === undefined || (first.text === command?.text.trim() && first.why === noRule));
  const chars = parts.reduce((sum, { text }) => sum + text.length, 0);
  return {
    decision: "ask",
    ...(!isOne && chars <= askLimits.partsCharsMax && { parts }),
    ...(offers.length > 0 && { offers }),
  };
}

/** What is asked about a file can be allowed for this file, what is asked about an address for its host. */
function offersOf(call: Call): readonly string[] {
  const { tool, path, url } = call.subject;
  const paths = pathsOf(call) ?? (path === undefined ? [] : [path]);
  const named = paths.map((one) => `${tool}: ${literally(one)}`);
  const offers = named.length > 0 || url === undefined ? named : [`${tool}: ${hostOf(url)}`];
  // Rules are offered only where they allow all of it.
  const canBe = offers.every((offer) => offer.length <= permissionLimits.ruleCharsMax && !/:\s*$|\s$/.test(offer));
  return canBe && offers.length <= askLimits.offersMax ? offers : [];
}

const hostOf = (url: string): string => `${literally(new URL(url).origin)}/*`;
