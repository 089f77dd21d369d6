/**
 * The canonical bytes of a request, block by block, and the chain of hashes over them: link k names everything up to
 * block k. One request extends another exactly when the other's last link is a link of its own.
 */
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { withoutBreakpoint } from "./breakpoints.ts";
import { sha256 } from "./digest.ts";
import type { List } from "./list.ts";
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

/**
 * Options of a system message are always a breakpoint: the fold itself gives it none. Those of the assistant's messages are one,
 * or say once more what its parts say.
 */
export function messageBlocks(message: ModelMessage): readonly CanonicalBlock[] {
  const { role } = message;
  if (role === "system") return [{ role, json: JSON.stringify(message.content) }];
  const options = role === "assistant" ? undefined : withoutBreakpoint(message.providerOptions);
  const own = options === undefined ? "" : JSON.stringify(options);
  return message.content.map((part) => ({ role, json: JSON.stringify(part) + own }));
}

/** Link k is the hash of link k-1, the role and the bytes of block k. */
export function chainOf(blocks: readonly CanonicalBlock[]): readonly string[] {
  const chain = new Chain();
  for (const block of blocks) chain.add(block);
  return chain.own;
}

/** Links of a chain, read like an array's. */
export type Links = List<string> & Pick<readonly string[], "lastIndexOf">;

/** A chain that grows, with the length of what it names. */
export class Chain implements Links {
  /** The links behind those of `before`. */
  readonly own: string[] = [];
  /** UTF-16 units of the blocks. */
  chars: number;
  readonly #before: Chain | null;
  readonly #count: number;
  #last: string;

  /** Goes on where `before` ends now; what either of them adds later is not the other's. */
  constructor(before: Chain | null = null) {
    this.#before = before;
    this.#count = before === null ? 0 : before.length;
    this.chars = before === null ? 0 : before.chars;
    this.#last = before === null ? "" : before.#last;
  }

  get length(): number {
    return this.#count + this.own.length;
  }

  at(index: number): string | undefined {
    const place = index < 0 ? this.length + index : index;
    if (place < 0) return undefined;
    return place < this.#count ? this.#before?.at(place) : this.own[place - this.#count];
  }

  lastIndexOf(link: string): number {
    const own = this.own.lastIndexOf(link);
    if (own >= 0) return this.#count + own;
    const before = this.#before === null ? -1 : this.#before.lastIndexOf(link);
    return before < this.#count ? before : -1;
  }

  /** All links, as they are now. */
  links(): readonly string[] {
    return this.#before === null ? this.own.slice() : this.#before.links().slice(0, this.#count).concat(this.own);
  }

  add({ role, json }: CanonicalBlock): void {
    this.#last = sha256(`${this.#last}\n${role}\n${json}`);
    this.own.push(this.#last);
    this.chars += json.length;
  }

  addMessage(message: ModelMessage): void {
    for (const block of messageBlocks(message)) this.add(block);
  }
}

/** The last link: names the whole request, and the prefix of every later one. */
export const fingerprint = (chain: Links): string => chain.at(-1) ?? sha256("");
