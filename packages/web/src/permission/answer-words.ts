import type { PermissionQuestion } from "../tab/tool-facts.ts";
import { visibleText } from "../tools/visible-text.ts";

const list = (rules: readonly string[]): string => rules.map(visibleText).join(", ");

/** What became of a question, in one line. */
export function permissionAnswerText({ verdict, reason, rules }: NonNullable<PermissionQuestion["answer"]>): string {
  switch (verdict) {
    case "once":
      return "Allowed once.";
    case "tab":
      return rules.length === 0
        ? "Allowed in this tab, exactly this."
        : `Allowed in this tab from now on: ${list(rules)}`;
    case "project":
      return rules.length === 0 ? "Allowed in this project." : `Allowed in this project from now on: ${list(rules)}`;
    default:
      return reason === null || reason === "" ? "Denied." : `Denied: ${reason}`;
  }
}
