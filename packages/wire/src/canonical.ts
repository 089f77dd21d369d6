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

type Tools = LanguageModelV3CallOptions["tools"];

/** In the order in which providers build their prefix: tools, system, messages. Without cache breakpoints. */
export function canonicalBlocks(messages: readonly ModelMessage[], tools: Tools = []): readonly CanonicalBlock[] {
  return [toolsBlock(tools), ...messages.flatMap(messageBlocks)];
}

export const toolsBlock = (tools: Tools = []): CanonicalBlock => ({ role: "tools", json: JSON.stringify(tools) });

export function messageBlocks(message: ModelMessage): readonly CanonicalBlock[] {
  const { role } = message;
  const options = withoutBreakpoint(message.providerOptions);
  const own = options === undefined ? "" : JSON.stringify(options);
  if (role === "system") return [{ role, json: JSON.stringify(message.content) + own }];
  return message.content.map((part) => ({ role, json: JSON.stringify(part) + own }));
}

/** Link k is the hash of link k-1, the role and the bytes of block k. */
const linkOf = (before: string, { role, json }: CanonicalBlock): string => sha256(`${before}\n${role}\n${json}`);

export function chainOf(blocks: readonly CanonicalBlock[]): readonly string[] {
  const chain = new Chain();
  for (const block of blocks) chain.add(block);
  return chain.links;
}

/** A chain that grows, with the length of what it names. */
export class Chain {
  readonly links: string[] = [];
  /** UTF-16 units of the blocks. */
  chars: number;
  #last: string;

  /** Goes on where `before` ends, without changing it; its own links are the later ones only. */
  constructor(before: Chain | null = null) {
    this.chars = before === null ? 0 : before.chars;
    this.#last = before === null ? "" : before.#last;
  }

  add(block: CanonicalBlock): void {
    this.#last = linkOf(this.#last, block);
    this.links.push(this.#last);
    this.chars += block.json.length;
  }

  addMessage(message: ModelMessage): void {
    for (const block of messageBlocks(message)) this.add(block);
  }
}

/** The last link: names the whole request, and the prefix of every later one. */
export const fingerprint = (chain: readonly string[]): string => chain.at(-1) ?? sha256("");
