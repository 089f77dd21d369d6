/** What the person allowed "for this tab", from the log's rows, in the order of the answers. */
import type { ChunkId } from "@varve/protocol";
import { overRows } from "../over-rows.ts";
import type { PermissionContext, PermissionRule } from "./decide-contract.ts";
import { allowedRule } from "./rules.ts";

/** What one answer allows from then on, until it is taken back. */
export interface Grant {
  readonly askId: ChunkId;
  readonly at: number;
  readonly by: string;
  /** In the words of a rule file. */
  readonly rules: readonly string[];
  /** Exactly this tool and key. */
  readonly exact: { readonly tool: string; readonly key: string } | null;
}

export const grantsFrom = overRows<readonly Grant[]>([], (grants, row) => {
  if (row.type !== "system") return grants;
  const { data } = row;
  if (data.kind === "permission-revoked") return grants.filter(({ askId }) => askId !== data.revokes);
  if (data.kind !== "permission" || data.state !== "answered" || data.verdict !== "tab") return grants;
  const { askId, by, rules = [], allows = null } = data;
  return rules.length === 0 && allows === null
    ? grants
    : [...grants, { askId, at: row.createdAt, by, rules, exact: allows }];
});

export function grantedFrom(grants: readonly Grant[]): PermissionContext["granted"] {
  const granted = new Map<string, { readonly tool: string; readonly key: string }>();
  for (const { exact } of grants) if (exact !== null) granted.set(`${exact.tool}\n${exact.key}`, exact);
  return [...granted.values()];
}

export const grantedRules = (grants: readonly Grant[]): readonly PermissionRule[] =>
  [...new Set(grants.flatMap(({ rules }) => rules))].flatMap((words) => allowedRule(words) ?? []);
