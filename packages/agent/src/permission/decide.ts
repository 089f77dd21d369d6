/**
 * May this call run? Pure: the answer follows from the call, the tab's mode, the rules and the answers given so far.
 *
 *   1. a deny rule                        -> deny
 *   2. mode `read`, and it writes or runs -> deny
 *   3. a command that names VARVE_HOME    -> ask, each time
 *   4. answered "for this tab" before     -> allow
 *   5. an ask rule                        -> ask
 *   6. reads the workspace, or asks       -> allow
 *   7. an allow rule                      -> allow
 *   8. the mode: `ask` asks, `edits` allows writes in the workspace, `allow` allows
 *
 * Rules that restrict match generously (any piece of a compound command), rules that allow match narrowly (a pattern allows
 * no compound command, for what is behind its operators is not what the pattern names).
 */
import { unreachable } from "@varve/protocol";
import { commandPieces, isPlainCommand } from "./command-text.ts";
import type { Decide, Decision, PermissionContext, PermissionRule } from "./decide-contract.ts";
import { fitsPath, fitsText } from "./pattern.ts";

type Call = Parameters<Decide>[0];

export const decide: Decide = (call, context) => {
  const denied = matching(call, context.rules, "deny");
  if (denied !== undefined) return deny(`A rule denies this: ${ruleWords(denied)}. Do without it, or ask the person.`);
  const changes = call.effect === "write" || call.effect === "run";
  if (context.mode === "read" && changes) {
    const what =
      call.effect === "write" ? "Nothing may be written" : "Nothing may be run or reached outside the workspace";
    return deny(`This tab is read only. ${what}; the person can change that with the tab's permission control.`);
  }
  if (call.namesHome === true) return { decision: "ask" };
  if (isGranted(call, context)) return { decision: "allow" };
  if (call.effect === "ask") return { decision: "allow" };
  if (matching(call, context.rules, "ask") !== undefined) return { decision: "ask" };
  if (!changes) return { decision: "allow" };
  if (matching(call, context.rules, "allow") !== undefined) return { decision: "allow" };
  return byMode(call, context);
};

const deny = (reason: string): Decision => ({ decision: "deny", reason });

function byMode(call: Call, { mode }: PermissionContext): Decision {
  switch (mode) {
    case "allow":
      return { decision: "allow" };
    case "edits":
      return { decision: call.effect === "write" ? "allow" : "ask" };
    case "ask":
    case "read":
      return { decision: "ask" };
    default:
      return unreachable(mode);
  }
}

const isGranted = ({ subject }: Call, { granted }: PermissionContext): boolean =>
  granted.some(({ tool, key }) => tool === subject.tool && key === subject.key);

function matching(call: Call, rules: readonly PermissionRule[], action: PermissionRule["action"]) {
  return rules.find((rule) => rule.action === action && matches(rule, call));
}

function matches(rule: PermissionRule, { subject }: Call): boolean {
  if (rule.tool !== "*" && rule.tool !== subject.tool) return false;
  const { pattern } = rule;
  if (pattern === undefined || pattern === subject.key) return true;
  if (subject.command !== undefined) return matchesCommand(rule.action, pattern, subject.command);
  if (subject.path !== undefined) return fitsPath(pattern, subject.path);
  if (subject.url !== undefined) return fitsText(pattern, subject.url);
  return fitsText(pattern, subject.key);
}

function matchesCommand(action: PermissionRule["action"], pattern: string, command: string): boolean {
  if (pattern === command) return true;
  if (action === "allow") return isPlainCommand(command) && fitsText(pattern, command.trim());
  return commandPieces(command).some((piece) => fitsText(pattern, piece));
}

const ruleWords = ({ tool, pattern }: PermissionRule): string => (pattern === undefined ? tool : `${tool}: ${pattern}`);
