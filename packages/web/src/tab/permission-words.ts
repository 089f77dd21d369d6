import type { PermissionSubject } from "@varve/protocol";
import type { PermissionQuestion } from "./tool-facts.ts";

const TITLES: Readonly<Record<string, string>> = {
  bash: "May it run this command?",
  write: "May it write this file?",
  edit: "May it change this file?",
  read: "May it read this file outside the workspace?",
  list: "May it look into this directory outside the workspace?",
  fetch: "May it fetch this address?",
};

export const permissionTitle = (subject: PermissionSubject): string =>
  TITLES[subject.tool] ?? `May it use the tool “${subject.tool}”?`;

export function permissionAnswerText(answer: NonNullable<PermissionQuestion["answer"]>): string {
  switch (answer.verdict) {
    case "once":
      return "Allowed once.";
    case "tab":
      return "Allowed in this tab, exactly this.";
    default:
      return answer.reason === null || answer.reason === "" ? "Denied." : `Denied: ${answer.reason}`;
  }
}
