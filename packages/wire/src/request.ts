/** Everything about one request that the wire decides, in one call: fold, checks, guard, options, breakpoints. */
import { type Effort, type Fault, isFault, type StoredRow } from "@varve/protocol";
import type { Alarm } from "./alarm.ts";
import type { BlobLookup } from "./blobs.ts";
import { applyBreakpoints } from "./breakpoints.ts";
import { canonicalBlocks, chainOf, fingerprint } from "./canonical.ts";
import { chunksToModelMessages, type Fold } from "./fold.ts";
import { type GuardVerdict, guardPrefix, previousRequest } from "./guard.ts";
import type { ModelMessage } from "./model-message.ts";
import type { WireTarget } from "./profile.ts";
import { cacheLifetimes, type RequestOptions, requestOptions, scopeHashOf } from "./request-options.ts";
import { type Violation, validateMessages } from "./validate.ts";

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
  /** With breakpoints: the `prompt` of `doStream`. */
  readonly messages: ModelMessage[];
  readonly options: RequestOptions;
  /** For the `request` row, sealed before the request starts. */
  readonly scopeHash: string;
  readonly tailHash: string;
  readonly chain: readonly string[];
  /** UTF-16 units of the canonical blocks. */
  readonly chars: number;
  readonly guard: GuardVerdict;
  /** Not empty: our mistake, and the request must not be sent. */
  readonly violations: readonly Violation[];
  readonly alarms: readonly Alarm[];
  /** Must be false when the request is sent; see `Fold.endsDerived`. */
  readonly endsDerived: boolean;
}

export function buildRequest(input: RequestInput): WireRequest | Fault {
  const { rows, target, effort, blobs } = input;
  const fold = chunksToModelMessages(rows, target, blobs === undefined ? {} : { blobs });
  return isFault(fold) ? fold : requestOf(fold, input, requestOptions(fold.prefix, target, effort));
}

function requestOf(fold: Fold, input: RequestInput, options: RequestOptions): WireRequest {
  const { target, previousChain } = input;
  const scopeHash = scopeHashOf(options, target);
  const chain = chainOf(canonicalBlocks(fold.messages, options.tools));
  const previous = previousRequest(input.rows, input.modelName);
  const lifetimes = cacheLifetimes(fold.prefix, target);
  const messages = applyBreakpoints(fold.messages, target.profile, { anchors: fold.anchors, scopeHash, ...lifetimes });
  return {
    kind: "wire-request",
    messages,
    options,
    scopeHash,
    tailHash: fingerprint(chain),
    chain,
    chars: 0,
    guard: guardPrefix({ chain, previous, previousChain }),
    violations: validateMessages(messages, target.profile),
    alarms: fold.alarms,
    endsDerived: fold.endsDerived,
  };
}
