import { assert } from "@varve/protocol";
import { isObject, parseJson } from "../json.ts";
import type { Reply, ReplyBlock } from "./script.ts";

const CHUNK_SIZE_DEFAULT = 16;

/** A block as the vendor's stream opens it; its content arrives as deltas. */
export type OpenBlock =
  | { readonly type: "thinking"; readonly signature: string | null | undefined }
  | { readonly type: "redacted_thinking"; readonly token: string | undefined }
  | { readonly type: "text" }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string };

/** What a reply consists of, one step at a time, before any vendor's words. */
export type Piece =
  | { readonly kind: "open"; readonly block: OpenBlock }
  | { readonly kind: "delta"; readonly text: string }
  | { readonly kind: "close" };

/** Cuts a reply into pieces. `newCallId` names the tool calls for which the script gives no id. */
export function planReply(reply: Reply, newCallId: () => string): readonly Piece[] {
  return (reply.blocks ?? []).flatMap((block): readonly Piece[] => [
    { kind: "open", block: openBlock(block, newCallId) },
    ...deltasOf(block, reply.chunkSize ?? CHUNK_SIZE_DEFAULT).map((text): Piece => ({ kind: "delta", text })),
    { kind: "close" },
  ]);
}

function openBlock(block: ReplyBlock, newCallId: () => string): OpenBlock {
  switch (block.type) {
    case "thinking":
      return { type: "thinking", signature: block.signature };
    case "redacted_thinking":
      return { type: "redacted_thinking", token: block.data };
    case "text":
      return { type: "text" };
    case "tool_use":
      return { type: "tool_use", id: block.id ?? newCallId(), name: block.name };
  }
}

function deltasOf(block: ReplyBlock, chunkSize: number): readonly string[] {
  if (block.type === "redacted_thinking") return [];
  if (block.deltas !== undefined) return block.deltas;
  if (block.type !== "tool_use") return cut(block.text, chunkSize);
  return cut(block.rawInput ?? JSON.stringify(block.input ?? {}), chunkSize);
}

/** Cuts between code points, so that only explicit deltas can split a character. */
function cut(text: string, size: number): readonly string[] {
  assert(Number.isInteger(size) && size > 0, "chunkSize is a positive integer");
  const points = Array.from(text);
  const parts: string[] = [];
  for (let at = 0; at < points.length; at += size) parts.push(points.slice(at, at + size).join(""));
  return parts;
}

/** The stop reason in Anthropic's words. */
export function stopReasonOf(reply: Reply): string {
  if (reply.stopReason !== undefined) return reply.stopReason;
  return reply.blocks?.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";
}

/** A tool call's input as the vendor's final message shows it; text that is no JSON object stays text. */
export function inputOf(text: string): unknown {
  if (text.trim() === "") return {};
  const value = parseJson(text);
  return isObject(value) ? value : text;
}
