/**
 * The requests of one log to one target, one after another. What no later row can change is rendered, hashed and checked
 * once; the rest (the newest step and what stands behind it) is made anew with each request.
 */
import type { Effort, Fault, PrefixData, StoredRow } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import type { BlobLookup } from "./blobs.ts";
import { rowOfBlock } from "./block-row.ts";
import { breakpointsOf, isMarked } from "./breakpoints.ts";
import { Chain, fingerprint, type Links, toolsBlock } from "./canonical.ts";
import { type FoldNow, LogFold } from "./fold.ts";
import { type GuardVerdict, guardPrefix, SentRequests } from "./guard.ts";
import type { JoinedList, List } from "./list.ts";
import type { ModelMessage } from "./model-message.ts";
import { targetUnder, type WireTarget } from "./profile.ts";
import type { RequestInput, WireRequest } from "./request.ts";
import { cacheLifetimes, type RequestOptions, requestOptions, scopeHashOf } from "./request-options.ts";
import { Check } from "./validate.ts";

export interface RequestNow extends Pick<RequestInput, "rows" | "modelName" | "effort"> {
  readonly previousChain: Links | undefined;
}
export interface Made {
  readonly request: WireRequest;
  readonly chain: Links;
}

interface Chosen {
  readonly prefix: PrefixData;
  readonly effort: Effort;
  readonly options: RequestOptions;
  readonly scopeHash: string;
}

/** Chain and check of the settled messages. */
interface Settled {
  /** JSON of the tools, the chain's first block. */
  readonly tools: string;
  readonly chain: Chain;
  readonly check: Check;
  messages: number;
}

export class RequestFold {
  readonly #asked: WireTarget;
  /** Whom these rows are folded for: who was asked for, or whoever stands in. */
  readonly #target: WireTarget;
  readonly #blobs: BlobLookup;
  readonly #fold: LogFold;
  readonly #sent = new SentRequests();
  #chosen: Chosen | null = null;
  #settled: Settled | null = null;

  /** `rows` ascend by seq, here and in `extend`. */
  constructor(rows: readonly StoredRow[], target: WireTarget, blobs: BlobLookup) {
    this.#asked = target;
    this.#blobs = blobs;
    this.#fold = new LogFold(rows, target, { blobs });
    this.#target = targetUnder(this.#fold.view.prefix, target);
    for (const row of rows) this.#sent.add(row);
  }

  isFor({ profile, model, modelScope }: WireTarget): boolean {
    const own = this.#asked;
    return own.profile === profile && own.model === model && own.modelScope === modelScope;
  }

  /** The rows behind those of the request before. False when all has to be made anew: then this one is spent. */
  extend(rows: readonly StoredRow[]): boolean {
    for (const row of rows) this.#sent.add(row);
    return this.#fold.extend(rows);
  }

  /** Of all rows so far, which are handed in once more for telling where two requests part. */
  request(input: RequestNow): Made | Fault {
    const fold = this.#fold.now();
    if (isFault(fold)) return fold;
    const { messages, alarms, endsDerived } = fold;
    const { options, scopeHash } = this.#optionsFor(fold.prefix, input.effort);
    const settled = this.#settle(fold, options);
    const chain = new Chain(settled.chain);
    const check = new Check(this.#target.profile, settled.check);
    addMessages({ chain, check }, messages, fold.settled);
    const lifetimes = cacheLifetimes(fold.prefix, this.#target, this.#fold.view.cacheTtl ?? undefined);
    const at = { anchors: fold.anchors, scopeHash, ...lifetimes };
    const marks = breakpointsOf(messages, this.#target.profile, at);
    const count = [...marks.values()].filter(isMarked).length;
    let prompt: ModelMessage[] | null = null;
    const request: WireRequest = {
      kind: "wire-request",
      get messages() {
        prompt ??= withMarks(messages, marks);
        return prompt;
      },
      options,
      scopeHash,
      tailHash: fingerprint(chain),
      get chain() {
        return chain.links();
      },
      chars: chain.chars,
      lifetimes,
      guard: this.#guard(chain, input),
      violations: [...settled.check.violations, ...check.violations, ...check.whole(messages, count)],
      alarms,
      endsDerived,
    };
    return { request, chain };
  }

  #optionsFor(prefix: PrefixData, effort: Effort): Chosen {
    const known = this.#chosen;
    if (known !== null && known.prefix === prefix && known.effort === effort) return known;
    const options = requestOptions(prefix, this.#target, effort);
    this.#chosen = { prefix, effort, options, scopeHash: scopeHashOf(options, this.#target) };
    return this.#chosen;
  }

  #settle(fold: FoldNow, options: RequestOptions): Settled {
    const tools = toolsBlock(options.tools);
    if (this.#settled?.tools !== tools.json) {
      const chain = new Chain();
      chain.add(tools);
      this.#settled = { tools: tools.json, chain, check: new Check(this.#target.profile), messages: 0 };
    }
    const settled = this.#settled;
    addMessages(settled, fold.messages, settled.messages, fold.settled);
    settled.messages = fold.settled;
    return settled;
  }

  #guard(chain: Chain, { rows, modelName, previousChain }: RequestNow): GuardVerdict {
    const guard = guardPrefix({ chain, previous: this.#sent.newest(modelName), previousChain });
    if (guard.kind !== "changed" || guard.firstDifferingBlock === null) return guard;
    if (guard.firstDifferingBlock >= chain.length) return guard;
    const context = { target: this.#target, blobs: this.#blobs };
    return { ...guard, seq: rowOfBlock(rows, guard.firstDifferingBlock, context) };
  }
}

function withMarks(messages: JoinedList<ModelMessage>, marks: ReadonlyMap<number, ModelMessage>): ModelMessage[] {
  const prompt = messages.toArray();
  for (const [index, message] of marks) prompt[index] = message;
  return prompt;
}

function addMessages(
  { chain, check }: Pick<Settled, "chain" | "check">,
  messages: List<ModelMessage>,
  from: number,
  to: number = messages.length,
): void {
  for (let index = from; index < to; index++) {
    const message = messages.at(index);
    if (message === undefined) return;
    chain.addMessage(message);
    check.message(message, index === 0 ? undefined : messages.at(index - 1), index);
  }
}
