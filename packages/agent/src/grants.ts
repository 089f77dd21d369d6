/** "For this tab" answers of a log: exactly these tools and keys need no further question. Pure. */
import type { StoredRow } from "@varve/protocol";
import type { PermissionContext } from "./permission/decide-contract.ts";
import { isKind } from "./turn-rows.ts";

export function grantedBy(rows: readonly StoredRow[]): PermissionContext["granted"] {
  return rows.flatMap((row) =>
    isKind(row, "permission") && row.data.state === "answered" && row.data.allows !== undefined
      ? [row.data.allows]
      : [],
  );
}
