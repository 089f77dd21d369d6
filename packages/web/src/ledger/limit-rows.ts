import type { LogChunk } from "@varve/protocol";

type SystemData = Extract<LogChunk, { readonly type: "system" }>["data"];
type LimitData = Extract<SystemData, { readonly kind: "limit" }>;
export type LimitAsked = Extract<LimitData, { readonly state: "asked" }>;

/** The question of a turn that came to a limit; null for every other row. */
export const limitAskedOf = (row: LogChunk): LimitAsked | null =>
  row.type === "system" && row.data.kind === "limit" && row.data.state === "asked" ? row.data : null;
