import type { CacheTtl, Effort, TabPatch } from "@varve/protocol";
import type { TabChange } from "../api/api.ts";

const EFFORTS: Readonly<Record<Effort, string>> = {
  default: "the default effort",
  low: "low effort",
  medium: "medium effort",
  high: "high effort",
};
const LIFETIMES: Readonly<Record<CacheTtl, string>> = { "5m": "5 minutes", "1h": "1 hour" };

export function changeTitle(change: TabChange, modelName: string | null): string {
  if (modelName !== null) return `Go on with ${modelName}?`;
  if (change.effort !== undefined) return `Go on with ${EFFORTS[change.effort]}?`;
  return change.cacheTtl === undefined ? "Change this tab?" : `Keep what is written for ${LIFETIMES[change.cacheTtl]}?`;
}

export const patchOf = ({ model, effort, cacheTtl }: TabChange): TabPatch => ({
  ...(model === undefined ? {} : { model }),
  ...(effort === undefined ? {} : { effort }),
  ...(cacheTtl === undefined ? {} : { options: { cacheTtl } }),
});
