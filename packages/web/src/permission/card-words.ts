/** What the card that asks says beside the text itself. Pure. */
import type { PermissionSubject, TabOptions } from "@varve/protocol";
import { visibleText } from "../tools/visible-text.ts";

const TITLES: Readonly<Record<string, string>> = {
  bash: "May it run this command?",
  write: "May it write this file?",
  edit: "May it change this file?",
  patch: "May it change these files?",
  read: "May it read this file outside the workspace?",
  list: "May it look into this directory outside the workspace?",
  grep: "May it search in this directory outside the workspace?",
  glob: "May it look for files in this directory outside the workspace?",
  fetch: "May it fetch this address?",
};

export const permissionTitle = (subject: PermissionSubject): string =>
  TITLES[subject.tool] ?? `May it use the tool “${visibleText(subject.tool)}”?`;

export interface SandboxWord {
  readonly text: string;
  /** The person asked for a sandbox, and this command will have none. */
  readonly warns: boolean;
}

/** Where a command will run; null for what is no command. */
export function sandboxWord(
  { command, sandboxed }: PermissionSubject,
  { sandbox = "off", network = [] }: Pick<TabOptions, "sandbox" | "network">,
): SandboxWord | null {
  if (command === undefined) return null;
  if (sandboxed === true)
    return { text: `In the sandbox: writes only in the workspace, ${networkWord(network)}.`, warns: false };
  if (sandbox === "off") return { text: "Not in a sandbox: it can do whatever your user can.", warns: false };
  return { text: "Not in a sandbox, although this tab asks for one: it can do whatever your user can.", warns: true };
}

export function networkWord(network: readonly string[]): string {
  if (network.length === 0) return "no network";
  return network.includes("*") ? "the whole network" : `network only to ${network.map(visibleText).join(", ")}`;
}

/** What the answers that last mean, and where they are kept. */
export const lastingWords = (cwd: string): string =>
  `“For this tab” is kept in its log. “Always” is kept in Varve's folder on the server, never in the project, and holds for every tab in ${visibleText(cwd)}. Both are listed in the inspector under Permissions.`;

/** Nothing can be said for good but this very text. */
export const NO_RULE = "No rule can say this safely: it can be allowed once, or exactly this text for this tab.";
