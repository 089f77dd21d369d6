/**
 * A provider's stream into the life of blocks. Pure: (state, part) -> new state and ops.
 *
 *   start -> [open] -> grow ... -> end -> (waits for the blocks opened before it) -> seal | drop
 *
 * Blocks seal in opening order, because the place of a row is its place on the wire for ever: a text whose end comes after
 * a tool call keeps standing before it, and metadata that comes late still finds its block unsealed. Text is opened when
 * its first ink comes, so that a blank block never shows; a call has no streaming body and a half call never gets a row.
 */
import type { ChunkId, JsonObject, NewRow, OpenBlock, TurnId } from "@varve/protocol";
import { limits } from "@varve/protocol";
import type { ModelPart } from "./model/model.ts";
import { clipText, hasInk, wellFormedText } from "./text.ts";
import { toolCallData } from "./tool-call.ts";
import type { UsageData } from "./usage.ts";
import { toJson, usageData } from "./usage.ts";

export type AssembleOp =
  | { readonly op: "open"; readonly block: Omit<OpenBlock, "offset" | "text"> }
  | { readonly op: "grow"; readonly id: ChunkId; readonly text: string }
  | { readonly op: "seal"; readonly row: NewRow }
  | { readonly op: "drop"; readonly id: ChunkId };

interface Block {
  readonly id: ChunkId;
  readonly index: number;
  readonly kind: "text" | "thinking" | "tool_call";
  /** The provider's name for it: unique within one response at most. */
  readonly part: string;
  readonly text: string;
  readonly shown: boolean;
  readonly ended: boolean;
  readonly metadata: JsonObject | undefined;
  /** A secret was taken out of its text. What came with it vouches for another text, and goes with it. */
  readonly redacted: boolean;
  /** Set when the whole call has come. */
  readonly call: { readonly name: string; readonly input: string } | null;
}

export type CleanFinish = "stop" | "tool-calls" | "length" | "content-filter";

export interface AssembleState {
  readonly turnId: TurnId;
  readonly step: number;
  readonly model: string;
  readonly modelScope: string;
  /** Call ids that stand in the log already, and those that this step added. */
  readonly usedCallIds: ReadonlySet<string>;
  readonly ownCallIds: readonly string[];
  /** Not yet sealed, in opening order. */
  readonly blocks: readonly Block[];
  readonly nextIndex: number;
  /** Kind of the block sealed last, null when none is. */
  readonly sealedKind: Block["kind"] | null;
  readonly finish: {
    readonly reason: CleanFinish;
    readonly usage: UsageData;
    /** Thinking blocks of the request that the provider left out, because what stood before them had changed. */
    readonly droppedThinking: number;
  } | null;
}

/** Ids and time are handed in. */
export interface AssembleEnv {
  readonly now: number;
  readonly newId: () => ChunkId;
}

export interface Assembled {
  readonly state: AssembleState;
  readonly ops: readonly AssembleOp[];
}

export const startStep = (
  step: Pick<AssembleState, "turnId" | "step" | "model" | "modelScope" | "usedCallIds">,
): AssembleState => ({ ...step, ownCallIds: [], blocks: [], nextIndex: 0, sealedKind: null, finish: null });

export function assemble(state: AssembleState, part: ModelPart, env: AssembleEnv): Assembled {
  switch (part.type) {
    case "text-start":
      return begin(state, { kind: "text", part: part.id, metadata: part.providerMetadata }, env);
    case "reasoning-start":
      return begin(state, { kind: "thinking", part: part.id, metadata: part.providerMetadata }, env);
    case "tool-input-start":
      return begin(state, { kind: "tool_call", part: part.id, metadata: part.providerMetadata }, env);
    case "text-delta":
      return extend(state, deltaOf("text", part), env);
    case "reasoning-delta":
      return extend(state, deltaOf("thinking", part), env);
    case "text-end":
      return end(state, { kind: "text", part: part.id, metadata: part.providerMetadata }, env);
    case "reasoning-end":
      return end(state, { kind: "thinking", part: part.id, metadata: part.providerMetadata }, env);
    case "tool-call":
      return part.providerExecuted === true ? same(state) : takeCall(state, part, env);
    case "finish":
      return finish(state, part, env);
    default:
      // Warnings, response metadata, sources, files and provider-run tools have no row; failures are the loop's business.
      return same(state);
  }
}

/** Ends a step that was stopped or has failed for good: what was cut is sealed as partial, half calls are dropped. */
export function cutStep(state: AssembleState, env: AssembleEnv): Assembled {
  const cut = state.blocks.filter((block) => block.kind !== "tool_call" || block.call !== null);
  const settled = { ...state, blocks: cut.map((block) => ({ ...block, ended: true })) };
  const partial = new Set(cut.filter((block) => !block.ended).map((block) => block.id));
  return flush(settled, env, { final: true, partial });
}

/** Forgets what has not sealed: the step is tried again. */
export function voidStep(state: AssembleState): readonly AssembleOp[] {
  return state.blocks.filter((block) => block.shown).map((block) => ({ op: "drop", id: block.id }));
}

export const hasSealed = (state: AssembleState): boolean => state.sealedKind !== null;

interface PartOf {
  readonly kind: Block["kind"];
  readonly part: string;
  readonly metadata: unknown;
  readonly redacted?: boolean;
}

function deltaOf(kind: Block["kind"], part: Extract<ModelPart, { type: "text-delta" | "reasoning-delta" }>) {
  const { id, providerMetadata: metadata, delta: text, redacted = false } = part;
  return { kind, part: id, metadata, text, redacted };
}

const same = (state: AssembleState): Assembled => ({ state, ops: [] });

function begin(state: AssembleState, from: PartOf, env: AssembleEnv): Assembled {
  const block: Block = {
    id: env.newId(),
    index: state.nextIndex,
    kind: from.kind,
    part: from.part,
    text: "",
    shown: from.kind === "thinking",
    ended: false,
    metadata: mergeMetadata(undefined, from.metadata),
    redacted: from.redacted === true,
    call: null,
  };
  const opened = { ...state, blocks: [...state.blocks, block], nextIndex: state.nextIndex + 1 };
  // Kinds are decided by the block that follows: what waited for a successor may seal now.
  const flushed = flush(opened, env, settling);
  return { state: flushed.state, ops: [...flushed.ops, ...(block.shown ? [openOp(opened, block, env)] : [])] };
}

function extend(state: AssembleState, from: PartOf & { readonly text: string }, env: AssembleEnv): Assembled {
  const found = find(state, from);
  if (found === undefined || found.ended) {
    if (from.text === "") return found === undefined ? same(state) : same(replace(state, withMetadata(found, from)));
    const begun = begin(state, { ...from, metadata: undefined }, env);
    const grown = extend(begun.state, from, env);
    return { state: grown.state, ops: [...begun.ops, ...grown.ops] };
  }
  const room = from.kind === "text" ? limits.openTextCharsMax - found.text.length : Number.POSITIVE_INFINITY;
  if (from.text.length > room) return split(state, found, from, env);
  const block = withMetadata(found, from);
  return grow(state, block, from.text, env);
}

/** The block is full: it ends here, whole characters only, and the text goes on in a new one. */
function split(
  state: AssembleState,
  full: Block,
  from: PartOf & { readonly text: string },
  env: AssembleEnv,
): Assembled {
  const head = clipText(from.text, Math.max(1, limits.openTextCharsMax - full.text.length));
  const filled = grow(state, full, head, env);
  const closed = end(filled.state, { ...from, metadata: undefined }, env);
  const begun = begin(closed.state, { ...from, metadata: undefined }, env);
  const rest = extend(begun.state, { ...from, text: from.text.slice(head.length) }, env);
  return { state: rest.state, ops: [...filled.ops, ...closed.ops, ...begun.ops, ...rest.ops] };
}

function grow(state: AssembleState, block: Block, text: string, env: AssembleEnv): Assembled {
  const grown: Block = { ...block, text: block.text + text };
  if (text === "") return same(replace(state, grown));
  if (grown.shown) return { state: replace(state, grown), ops: [{ op: "grow", id: grown.id, text }] };
  if (!hasInk(text)) return same(replace(state, grown));
  const shown: Block = { ...grown, shown: true };
  return {
    state: replace(state, shown),
    ops: [openOp(state, shown, env), { op: "grow", id: shown.id, text: shown.text }],
  };
}

function end(state: AssembleState, from: PartOf, env: AssembleEnv): Assembled {
  const found = find(state, from);
  if (found === undefined) return same(state);
  return flush(replace(state, { ...withMetadata(found, from), ended: true }), env, settling);
}

function takeCall(state: AssembleState, part: Extract<ModelPart, { type: "tool-call" }>, env: AssembleEnv): Assembled {
  const from: PartOf = { kind: "tool_call", part: part.toolCallId, metadata: part.providerMetadata };
  const begun = state.blocks.some((block) => matches(block, from) && !block.ended)
    ? same(state)
    : begin(state, from, env);
  const found = find(begun.state, from);
  if (found === undefined) return begun;
  const whole = { ...withMetadata(found, from), ended: true, call: { name: part.toolName, input: part.input } };
  const flushed = flush(replace(begun.state, whole), env, settling);
  return { state: flushed.state, ops: [...begun.ops, ...flushed.ops] };
}

function finish(state: AssembleState, part: Extract<ModelPart, { type: "finish" }>, env: AssembleEnv): Assembled {
  const whole = state.blocks.filter((block) => block.kind !== "tool_call" || block.call !== null);
  const settled = { ...state, blocks: whole.map((block) => ({ ...block, ended: true })) };
  const flushed = flush(settled, env, { final: true, partial: new Set() });
  const reason = part.finishReason.unified;
  const clean: CleanFinish = reason === "error" || reason === "other" ? "stop" : reason;
  return {
    state: {
      ...flushed.state,
      finish: {
        reason: clean,
        usage: usageData(part.usage, state.model),
        droppedThinking: droppedThinking(part.providerMetadata),
      },
    },
    ops: flushed.ops,
  };
}

function droppedThinking(metadata: unknown): number {
  const told = toJson(toJson(metadata)?.anthropic)?.inputTransformations;
  return Array.isArray(told) ? told.length : 0;
}

interface Flush {
  /** No further block will come. */
  readonly final: boolean;
  readonly partial: ReadonlySet<ChunkId>;
}
const settling: Flush = { final: false, partial: new Set() };

/** Seals or drops ended blocks from the front, up to the first that must still wait. */
function flush(from: AssembleState, env: AssembleEnv, how: Flush): Assembled {
  let state = from;
  const ops: AssembleOp[] = [];
  for (;;) {
    const [first, next] = state.blocks;
    if (first === undefined || !first.ended) return { state, ops };
    const fate = fateOf(state, first, next, how);
    if (fate === "wait") return { state, ops };
    const rest = state.blocks.slice(1);
    if (fate === "drop") {
      if (first.shown) ops.push({ op: "drop", id: first.id });
      state = { ...state, blocks: rest };
      continue;
    }
    const row = rowOf(state, first, { env, partial: how.partial.has(first.id) });
    ops.push({ op: "seal", row });
    const ownCallIds = row.type === "tool_call" ? [...state.ownCallIds, row.data.callId] : state.ownCallIds;
    state = { ...state, blocks: rest, sealedKind: first.kind, ownCallIds };
  }
}

/**
 * Blank text has no row, with one exception: between two thinking blocks it is kept as " ", for without it the second
 * block would move to another place than the one that its signature covers.
 */
function fateOf(state: AssembleState, block: Block, next: Block | undefined, how: Flush): "seal" | "drop" | "wait" {
  if (block.kind === "tool_call") return block.call === null ? "drop" : "seal";
  if (hasInk(block.text)) return "seal";
  if (block.kind === "thinking") return block.metadata === undefined ? "drop" : "seal";
  if (block.metadata !== undefined && block.text === "") return "seal";
  if (state.sealedKind !== "thinking") return "drop";
  if (next === undefined) return how.final ? "drop" : "wait";
  return next.kind === "thinking" ? "seal" : "drop";
}

function rowOf(
  state: AssembleState,
  block: Block,
  how: { readonly env: AssembleEnv; readonly partial: boolean },
): NewRow {
  const base = { id: block.id, turnId: state.turnId, step: state.step, createdAt: how.env.now };
  const partial = how.partial ? { partial: true } : {};
  if (block.call !== null) {
    const written = { callId: block.part, ...block.call, metadata: block.metadata };
    const isUsed = (id: string): boolean => state.usedCallIds.has(id) || state.ownCallIds.includes(id);
    const data = toolCallData(written, isUsed, how.env.newId);
    // What came with the call goes back to the model that gave it, and to no other.
    const scope = block.metadata === undefined ? {} : { modelScope: state.modelScope };
    return { ...base, role: "assistant", type: "tool_call", data: { ...data, ...scope } };
  }
  const text = wellFormedText(block.text);
  const vouched = block.redacted ? undefined : block.metadata;
  if (block.kind === "thinking") {
    const metadata = vouched === undefined ? {} : { metadata: vouched };
    const data = { text, ...metadata, modelScope: state.modelScope, ...partial };
    return { ...base, role: "assistant", type: "thinking", data };
  }
  const token = vouched === undefined ? {} : { providerMetadata: vouched, modelScope: state.modelScope };
  const shown = hasInk(text) || block.metadata !== undefined ? text : " ";
  return { ...base, role: "assistant", type: "text", data: { text: shown, ...partial, ...token } };
}

function openOp(state: AssembleState, block: Block, env: AssembleEnv): AssembleOp {
  const { id, index, kind: type } = block;
  const { turnId, step } = state;
  return { op: "open", block: { id, turnId, step, index, role: "assistant", type, at: env.now } };
}

const matches = (block: Block, from: PartOf): boolean => block.kind === from.kind && block.part === from.part;
const find = (state: AssembleState, from: PartOf): Block | undefined =>
  state.blocks.findLast((block) => matches(block, from));
const replace = (state: AssembleState, changed: Block): AssembleState => ({
  ...state,
  blocks: state.blocks.map((block) => (block.id === changed.id ? changed : block)),
});
const withMetadata = (block: Block, from: PartOf): Block => {
  const marked = from.redacted === true && !block.redacted ? { ...block, redacted: true } : block;
  return from.metadata === undefined ? marked : { ...marked, metadata: mergeMetadata(block.metadata, from.metadata) };
};

/** Metadata may come with a block's start, any delta or its end: the last non-null value of each provider's key wins. */
export function mergeMetadata(before: JsonObject | undefined, added: unknown): JsonObject | undefined {
  const more = toJson(added);
  if (more === undefined) return before;
  const merged: Record<string, JsonObject[string]> = { ...before };
  for (const [provider, values] of Object.entries(more)) {
    const known = toJson(merged[provider]) ?? {};
    const fresh = Object.entries(toJson(values) ?? {}).filter(([, value]) => value !== null && value !== undefined);
    if (fresh.length > 0) merged[provider] = { ...known, ...Object.fromEntries(fresh) };
  }
  return Object.keys(merged).length === 0 ? before : merged;
}
