/** What the person allowed "for this tab", from the log's rows: exactly these tools and keys, in the order of the answers. */
import type { StoredRow } from "@varve/protocol";
import type { PermissionContext } from "./decide-contract.ts";

export function grantedFrom(rows: readonly StoredRow[]): PermissionContext["granted"] {
  const byName = new Map<string, { readonly tool: string; readonly key: string }>();
  for (const row of rows) {
    if (row.type !== "system" || row.data.kind !== "permission" || row.data.state !== "answered") continue;
    const { verdict, allows } = row.data;
    if (verdict === "tab" && allows !== undefined) byName.set(JSON.stringify([allows.tool, allows.key]), allows);
  }
  return [...byName.values()];
}
