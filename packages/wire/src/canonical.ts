/**
 * The canonical bytes of a request, block by block, and the chain of hashes over them: link k names everything up to
 * block k. One request extends another exactly when the other's last link is a link of its own.
 */
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { withoutBreakpoint } from "./breakpoints.ts";
import { sha256 } from "./digest.ts";
import type { ModelMessage } from "./model-message.ts";

export interface CanonicalBlock {
  readonly role: "tools" | ModelMessage["role"];
  readonly json: string;
}

/** In the order in which providers build their prefix: tools, system, messages. Without cache breakpoints. */
export function canonicalBlocks(
  messages: readonly ModelMessage[],
  tools: LanguageModelV3CallOptions["tools"] = [],
): readonly CanonicalBlock[] {
  const blocks: CanonicalBlock[] = [{ role: "tools", json: JSON.stringify(tools) }];
  for (const message of messages) {
    const { role } = message;
    const options = withoutBreakpoint(message.providerOptions);
    const own = options === undefined ? "" : JSON.stringify(options);
    if (role === "system") blocks.push({ role, json: JSON.stringify(message.content) + own });
    else for (const part of message.content) blocks.push({ role, json: JSON.stringify(part) + own });
  }
  return blocks;
}

/** Link k is the hash of link k-1, the role and the bytes of block k. */
export function chainOf(blocks: readonly CanonicalBlock[]): readonly string[] {
  const chain: string[] = [];
  let link = "";
  for (const { role, json } of blocks) {
    link = sha256(`${link}\n${role}\n${json}`);
    chain.push(link);
  }
  return chain;
}

/** The last link: names the whole request, and the prefix of every later one. */
export const fingerprint = (chain: readonly string[]): string => chain.at(-1) ?? sha256("");
