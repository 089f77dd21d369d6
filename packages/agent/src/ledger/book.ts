/** What a `usage` row says of its request beside the provider's own figures: price, attainable read, cause of a shortfall. */
import type { RequestPurpose, StoredRow, SystemData, TurnId } from "@varve/protocol";
import type { GuardVerdict } from "@varve/wire";
import type { ResolvedModel } from "../model/model.ts";

export type UsageData = Extract<SystemData, { kind: "usage" }>;

export interface Booking {
  /** From `usageData`: what the provider told, without price, attainable and cause. */
  readonly usage: UsageData;
  /** The log's rows, ascending, with this request's `request` row; its own blocks may follow. */
  readonly rows: readonly StoredRow[];
  /** Of the `request` row. */
  readonly place: { readonly turnId: TurnId; readonly step: number };
  readonly model: Pick<ResolvedModel, "facts" | "target">;
  /** Milliseconds: when the request began. */
  readonly startedAt: number;
  /** What the prefix guard said of this request. */
  readonly guard: GuardVerdict;
  /** With `guard.kind` "changed": the row of the first differing block, where it is known. */
  readonly differingSeq?: number;
  readonly purpose: RequestPurpose;
}

/** The whole data of the `usage` row. */
export function bookUsage({ usage, startedAt, purpose }: Booking): UsageData {
  return { ...usage, startedAt, purpose };
}
