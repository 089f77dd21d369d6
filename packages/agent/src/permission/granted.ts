/** What the person allowed "for this tab", from the log's rows: exactly these tools and keys, in the order of the answers. */
import { overRows } from "../over-rows.ts";
import type { PermissionContext } from "./decide-contract.ts";

export const grantedFrom = overRows<PermissionContext["granted"]>([], (granted, row) => {
  if (row.type !== "system" || row.data.kind !== "permission" || row.data.state !== "answered") return granted;
  const { verdict, allows } = row.data;
  if (verdict !== "tab" || allows === undefined) return granted;
  const isKnown = granted.some(({ tool, key }) => tool === allows.tool && key === allows.key);
  return isKnown ? granted : [...granted, allows];
});
