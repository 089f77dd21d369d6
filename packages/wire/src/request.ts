/** Everything about one request that the wire decides: what goes in and what comes out. Made by `folder.ts`. */
import type { Effort, StoredRow } from "@varve/protocol";
import type { Alarm } from "./alarm.ts";
import type { BlobLookup } from "./blobs.ts";
import type { GuardVerdict } from "./guard.ts";
import type { ModelMessage } from "./model-message.ts";
import type { WireTarget } from "./profile.ts";
import type { CacheLifetimes, RequestOptions } from "./request-options.ts";
import type { Violation } from "./validate.ts";

export interface RequestInput {
  /** One log from its first row. */
  readonly rows: readonly StoredRow[];
  readonly target: WireTarget;
  /** The model's name as `request` rows carry it. */
  readonly modelName: string;
  readonly effort: Effort;
  readonly blobs?: BlobLookup;
  /** The chain of the request before, where the caller still has it. */
  readonly previousChain?: readonly string[] | undefined;
}

export interface WireRequest {
  readonly kind: "wire-request";
  /** With breakpoints: the `prompt` of `doStream`. The list is put together when it is read. */
  readonly messages: ModelMessage[];
  readonly options: RequestOptions;
  /** For the `request` row, sealed before the request starts. */
  readonly scopeHash: string;
  readonly tailHash: string;
  /** Put together when it is read. */
  readonly chain: readonly string[];
  /** UTF-16 units of the canonical blocks. */
  readonly chars: number;
  /** Of the cache entries that this request writes; they say something with `breakpoints: "tails"` alone. */
  readonly lifetimes: CacheLifetimes;
  readonly guard: GuardVerdict;
  /** Not empty: our mistake, and the request must not be sent. */
  readonly violations: readonly Violation[];
  readonly alarms: readonly Alarm[];
  /** Must be false when the request is sent; see `Fold.endsDerived`. */
  readonly endsDerived: boolean;
}
