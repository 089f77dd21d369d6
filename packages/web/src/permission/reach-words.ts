/** What a tab's commands and tools can reach, in words. Pure. */
import type { PermissionMode, TabOptions } from "@varve/protocol";

export type SandboxChoice = NonNullable<TabOptions["sandbox"]>;

/** Whether the server's machine can make a sandbox; null while nobody knows. */
export interface SandboxFacts {
  readonly available: boolean;
  readonly reason?: string;
}

export const sandboxChoices: readonly {
  readonly value: SandboxChoice;
  readonly label: string;
  readonly meaning: string;
}[] = [
  { value: "off", label: "Off", meaning: "Commands can do whatever the user that runs Varve can." },
  { value: "on", label: "On", meaning: "Commands run in a sandbox where this machine has one, else without it." },
  { value: "required", label: "Required", meaning: "A command that cannot be sandboxed is refused." },
];

export function machineText(facts: SandboxFacts | null): string {
  if (facts === null) return "Whether this machine can make a sandbox is not known.";
  if (facts.available) {
    return "This machine has a sandbox (bubblewrap): a command in it writes only in the workspace, sees nothing of Varve's own folder, and has only the network that its tab names.";
  }
  const why = facts.reason === undefined || facts.reason === "" ? "" : ` ${facts.reason}`;
  return `This machine has no sandbox.${why}`;
}

/** A tab that is more open than it seems: said at its head. */
export interface ReachBadge {
  readonly kind: "unattended" | "unsandboxed";
  readonly text: string;
  readonly title: string;
}

export function reachBadges(
  { permissions, options }: { readonly permissions: PermissionMode; readonly options: Pick<TabOptions, "sandbox"> },
  facts: SandboxFacts | null,
): readonly ReachBadge[] {
  const badges: ReachBadge[] = [];
  if (permissions === "allow") {
    badges.push({
      kind: "unattended",
      text: "never asks",
      title:
        "Unattended: this tab runs every command and writes every file without asking, but for what a rule denies or asks.",
    });
  }
  if (options.sandbox === "on" && facts?.available === false) {
    badges.push({
      kind: "unsandboxed",
      text: "not sandboxed",
      title: `The sandbox is on for this tab, and its commands run without one. ${machineText(facts)}`,
    });
  }
  if (options.sandbox === "required" && facts?.available === false) {
    badges.push({ kind: "unsandboxed", text: "no sandbox", title: `Commands are refused here. ${machineText(facts)}` });
  }
  return badges;
}

export const modeText: Readonly<Record<PermissionMode, string>> = {
  read: "Read only. Writing and running are refused, whatever rules allow.",
  ask: "Asks before each write and each command that no rule allows.",
  edits: "Writes in the workspace without asking; asks before each command that no rule allows.",
  allow: "Never asks: for unattended work. What a rule denies is refused, what a rule asks is still asked.",
};
