/** Rules and answers, in words. Pure. */
import type { PermissionSubject } from "@varve/protocol";
import { visibleText } from "../tools/visible-text.ts";
import { permissionAnswerText } from "./answer-words.ts";
import type { AskedEntry, RuleInForce, TabGrant, TabPermissions } from "./permission-calls.ts";

type Source = RuleInForce["source"];
/** In the order of how far they reach. */
const SOURCES: readonly Source[] = ["person", "project", "workspace"];

export const sourceTitle: Readonly<Record<Source, string>> = {
  person: "Your rules, for all tabs",
  project: "Always allowed in this project",
  workspace: "Rules of the workspace: they can only ask or deny",
};
export const actionText = { allow: "Allowed", ask: "Asked", deny: "Denied" } as const;

export interface RuleGroup {
  readonly source: Source;
  /** Where the rules stand; "" for the person's own file, which the settings name. */
  readonly path: string;
  readonly rules: readonly RuleInForce[];
}
/** The rules in force by where they come from; sources without any are left out. */
export function ruleGroups({
  rules,
  root,
  projectPath,
}: Pick<TabPermissions, "rules" | "root" | "projectPath">): readonly RuleGroup[] {
  const paths: Readonly<Record<Source, string>> = {
    person: "",
    project: `${projectPath}, for ${root}`,
    workspace: `${root}/.varve/permissions.json`,
  };
  return SOURCES.map((source) => ({
    source,
    path: paths[source],
    rules: rules.filter((one) => one.source === source),
  })).filter((group) => group.rules.length > 0);
}

export const grantTexts = ({ rules, exact }: TabGrant): readonly string[] =>
  rules.length > 0 || exact === undefined ? rules : [`${exact.tool}: ${exact.key}`];

export function verdictText({ answer }: Pick<AskedEntry, "answer">): string {
  if (answer === null) return "Not answered.";
  const { verdict, reason, rules } = answer;
  return permissionAnswerText({ verdict, reason: reason ?? null, rules: rules ?? [] });
}

export const askedText = ({ command, path, url, key }: PermissionSubject): string =>
  visibleText(command ?? path ?? url ?? key);
