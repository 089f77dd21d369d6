/** One row into one part. What providers refuse (empty text, unsigned thinking) becomes null and is never sent. */
import type { JsonObject, ToolResultData } from "@varve/protocol";
import type { Alarm } from "./alarm.ts";
import { type BlobLookup, type BlobReference, blobPart } from "./blobs.ts";
import { parseArguments } from "./call-arguments.ts";
import type { AssistantRow, Call, StepEntry, TextRow } from "./entries.ts";
import {
  type AssistantPart,
  type ProviderOptions,
  providerOptionsOf,
  type ResultPart,
  type UserPart,
} from "./model-message.ts";
import type { WireTarget } from "./profile.ts";
import { texts } from "./texts.ts";
import type { View } from "./view.ts";
import { wellFormedText } from "./well-formed.ts";
import { toolNameOnWire } from "./wire-ids.ts";

export interface PartContext {
  readonly target: WireTarget;
  readonly view: View;
  readonly blobs: BlobLookup;
  readonly alarms: Alarm[];
}

const isVisible = (text: string): boolean => /\S/.test(text);

/** Text first, then what is attached to it, in the order of the row. */
export function userParts(row: TextRow, context: PartContext): readonly UserPart[] {
  const parts: UserPart[] = [];
  if (isVisible(row.data.text)) parts.push({ type: "text", text: wellFormedText(row.data.text) });
  for (const attachment of row.data.attachments ?? []) parts.push(blobOf(attachment, row.seq, context));
  return parts;
}

function blobOf(reference: BlobReference, seq: number, context: PartContext): UserPart {
  if (context.blobs(reference.blob) === undefined) context.alarms.push({ code: "missing-blob", seq });
  return blobPart(reference, context.blobs, context.target.profile);
}

/** The parts of one step. A message may not end in thinking, so thinking with nothing behind it is left out. */
export function assistantParts(entry: StepEntry, context: PartContext): readonly AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const row of entry.rows) {
    const part = assistantPart(row, entry, context);
    if (part !== null) parts.push(part);
  }
  const end = parts.findLastIndex((part) => part.type !== "reasoning");
  return withSignedCall(parts.slice(0, end + 1), context);
}

/** The first call of a step, where it has no signature of its own: decided by the rows before it alone. */
function withSignedCall(parts: readonly AssistantPart[], { target }: PartContext): readonly AssistantPart[] {
  const { unsignedCall } = target.profile;
  const first = parts.findIndex((part) => part.type === "tool-call");
  if (unsignedCall === null || first < 0 || parts[first]?.providerOptions !== undefined) return parts;
  const providerOptions = providerOptionsOf(unsignedCall);
  return parts.map((part, index) => (index === first ? { ...part, providerOptions } : part));
}

function assistantPart(row: AssistantRow, entry: StepEntry, context: PartContext): AssistantPart | null {
  if (row.type === "text") {
    if (!isVisible(row.data.text)) return null;
    return { type: "text", text: wellFormedText(row.data.text), ...replayed(row, context) };
  }
  if (row.type === "thinking") {
    const replayable =
      row.data.partial !== true && row.data.modelScope === context.target.modelScope && context.view.inEpoch(row.seq);
    return replayable ? context.target.profile.replay(row.data) : null;
  }
  const call = entry.calls.get(row.id);
  return call === undefined ? null : callPart(call, context);
}

/** What came with a text or a call and must go back with it: to the model that gave it, in the epoch in which it did. */
function replayed(row: TextRow | Call["row"], context: PartContext): { readonly providerOptions?: ProviderOptions } {
  const { providerMetadata, modelScope } = row.data;
  if (providerMetadata === undefined || modelScope !== context.target.modelScope) return {};
  if (!context.view.inEpoch(row.seq)) return {};
  const options: JsonObject | null = context.target.profile.replayMetadata(providerMetadata);
  return options === null ? {} : { providerOptions: providerOptionsOf(options) };
}

function callPart(call: Call, context: PartContext): AssistantPart {
  const parsed = parseArguments(call.row.data.argsText);
  const asText = context.target.profile.callInput === "text" && parsed.verbatim;
  return {
    type: "tool-call",
    toolCallId: call.wireId,
    toolName: toolNameOnWire(call.row.data.name),
    input: asText ? call.row.data.argsText : parsed.value,
    ...replayed(call.row, context),
  };
}

/** Results in call order, whatever order they came in; each exactly once. */
export function resultParts(entry: StepEntry, context: PartContext): readonly ResultPart[] {
  return [...entry.calls.values()].map((call) => resultPart(call, context));
}

function resultPart(call: Call, context: PartContext): ResultPart {
  const named = { type: "tool-result", toolCallId: call.wireId, toolName: toolNameOnWire(call.row.data.name) } as const;
  const { errorPrefix } = context.target.profile;
  if (call.result === null) {
    return { ...named, output: { type: "error-text", value: errorPrefix + texts.missingResult } };
  }
  const { data, seq } = call.result;
  const images = imagesInResult(data, context);
  const text = isVisible(data.result) ? wellFormedText(data.result) : texts.noOutput;
  if (data.isError) return { ...named, output: { type: "error-text", value: errorPrefix + text } };
  if (images.length === 0) return { ...named, output: { type: "text", value: text } };
  const shown = images.map((image) => imageInResult(image, seq, context));
  return { ...named, output: { type: "content", value: [{ type: "text", text }, ...shown] } };
}

type ContentItem =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image-data"; readonly data: string; readonly mediaType: string };

function imageInResult(image: BlobReference, seq: number, context: PartContext): ContentItem {
  const part = blobOf(image, seq, context);
  if (part.type === "text") return { type: "text", text: part.text };
  // Blobs are handed over as base64 text, never as bytes or links.
  return { type: "image-data", data: String(part.data), mediaType: part.mediaType };
}

/** A result with images has no error flag, so an error's images stand behind it as everything that can't be inside. */
function imagesInResult(data: ToolResultData, context: PartContext): readonly BlobReference[] {
  if (context.target.profile.resultImages === "behind" || data.isError) return [];
  return data.images ?? [];
}

/** The images of a step's results that can't stand inside them, as parts of one user message. */
export function imagesBehind(entry: StepEntry, context: PartContext): readonly UserPart[] {
  const parts: UserPart[] = [];
  for (const call of entry.calls.values()) {
    if (call.result === null) continue;
    const { data, seq } = call.result;
    const images = data.images ?? [];
    if (images.length === 0 || imagesInResult(data, context).length > 0) continue;
    parts.push({ type: "text", text: texts.resultImages(toolNameOnWire(call.row.data.name)) });
    for (const image of images) parts.push(blobOf(image, seq, context));
  }
  return parts;
}
