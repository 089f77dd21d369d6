/** What exactly a request sent, block by block, for people to look at. */
import { isMarked } from "./breakpoints.ts";
import { type CanonicalBlock, messageBlocks, toolsBlock } from "./canonical.ts";
import type { ModelMessage } from "./model-message.ts";
import type { WireRequest } from "./request.ts";

export interface SentBlock extends CanonicalBlock {
  readonly kind: "tools" | "text" | "file" | "reasoning" | "tool-call" | "tool-result";
  /** A cache breakpoint stands at its end. */
  readonly marked: boolean;
  /** Index of its message in the request; -1 for the tools. */
  readonly messageIndex: number;
}

/** In the order of `WireRequest.chain`: link k names everything up to block k. */
export function sentBlocks({ messages, options }: Pick<WireRequest, "messages" | "options">): readonly SentBlock[] {
  const tools: SentBlock = { ...toolsBlock(options.tools), kind: "tools", marked: false, messageIndex: -1 };
  return [tools, ...messages.flatMap(blocksOf)];
}

function blocksOf(message: ModelMessage, messageIndex: number): readonly SentBlock[] {
  const blocks = messageBlocks(message);
  return blocks.map((block, index) => ({
    ...block,
    kind: kindOf(message, index),
    // A breakpoint on a message is one on its last block.
    marked: index === blocks.length - 1 && carriesMark(message),
    messageIndex,
  }));
}

/** The fold itself gives a system message no options: those that it has are a breakpoint of its provider's kind. */
const carriesMark = (message: ModelMessage): boolean =>
  isMarked(message) || (message.role === "system" && message.providerOptions !== undefined);

function kindOf(message: ModelMessage, index: number): SentBlock["kind"] {
  const type = message.role === "system" ? "text" : message.content[index]?.type;
  // Approvals of provider-run tools never come out of a fold.
  return type === undefined || type === "tool-approval-response" ? "text" : type;
}
