/**
 * Cuts growing Markdown into blocks, so that a finished block is never parsed again.
 *
 * A block is one top-level token of the lexer with the blank lines behind it. It is final when it ends in a blank line and
 * at least two more blocks follow: only then can no later text change where it ends (a list, a table or a lazy paragraph
 * line may still reach over the border of the block before). The final blocks of a text and a fresh reading of the rest
 * are together what a full reading gives. Reference links that are defined later than their use are the one exception:
 * they resolve when the text is sealed and read once as a whole.
 *
 * Raw HTML is not Markdown here: the two HTML rules are switched off, so a tag is text like any other.
 */
import { Lexer, type Links, type Token, Tokenizer, type Tokens } from "marked";

/** Quotes and lists inside each other; what goes deeper stays text. Nobody writes so, and each level costs a reading. */
const DEPTH_MAX = 40;
/** Emphasis is looked for in so many characters of one reading, all searches together; marks beyond stay text. */
const EMPHASIS_CHARS_MAX = 20_000_000;
/** A run of so many characters without a blank or a mark is no address: looking for one in it takes its square. */
const LONG_RUN = /^[^\s[\]<>\\`*]{1000,}/;

/** Bounds what one text can cost: the rules of Markdown alone let a few thousand characters stop a page. */
class PlainTokenizer extends Tokenizer {
  #depth = 0;
  #emphasisChars = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.#deeper(() => super.blockquote(src));
  }
  override list(src: string): Tokens.List | undefined {
    return this.#deeper(() => super.list(src));
  }
  override emStrong(src: string, masked: string, before = ""): Tokens.Em | Tokens.Strong | undefined {
    if (!/^[*_]/.test(src) || this.#emphasisChars > EMPHASIS_CHARS_MAX) return undefined;
    this.#emphasisChars += src.length;
    return super.emStrong(src, masked, before);
  }
  /** The last rule before plain text: what it takes, that rule does not search. */
  override url(src: string): Tokens.Link | undefined {
    const run = LONG_RUN.exec(src)?.[0];
    if (run === undefined) return super.url(src);
    // The lexer puts any token where a rule gave one; its type for this rule knows links alone.
    return { type: "text", raw: run, text: run, escaped: false } as unknown as Tokens.Link;
  }
  #deeper<T>(read: () => T): T | undefined {
    if (this.#depth >= DEPTH_MAX) return undefined;
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
  override html(): undefined {
    return undefined;
  }
  override tag(): undefined {
    return undefined;
  }
}

export interface MarkdownBlock {
  /** The exact source, with the blank lines behind it. Line ends are `\n`. */
  readonly raw: string;
  readonly tokens: readonly Token[];
}

export interface SplitState {
  /** All of the text so far, line ends normalised. */
  readonly text: string;
  readonly final: readonly MarkdownBlock[];
  /** Length of the text that the final blocks cover. */
  readonly finalLength: number;
  /** Blocks of the rest: read again with each update. */
  readonly tail: readonly MarkdownBlock[];
  readonly links: Links;
  /** Characters given to the parser so far: what the work costs. */
  readonly parsed: number;
}

const BLOCKS_BEHIND_FINAL = 2;
const ENDS_IN_BLANK_LINE = /\n[ \t]*\n$/;

export const emptySplit: SplitState = { text: "", final: [], finalLength: 0, tail: [], links: {}, parsed: 0 };

export const normaliseLines = (text: string): string => (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);

/** Reads on. Text that does not extend what was read before is read from the start. */
export function splitMore(before: SplitState, raw: string): SplitState {
  const text = normaliseLines(raw);
  if (text === before.text) return before;
  const known = text.startsWith(before.text.slice(0, before.finalLength)) ? before : emptySplit;
  const rest = text.slice(known.finalLength);
  const { blocks, links } = readBlocks(rest, known.links);
  const cut = finalCount(blocks);
  const fresh = blocks.slice(0, cut);
  return {
    text,
    final: cut === 0 ? known.final : [...known.final, ...fresh],
    finalLength: known.finalLength + fresh.reduce((sum, block) => sum + block.raw.length, 0),
    tail: blocks.slice(cut),
    links: cut === 0 ? known.links : links,
    parsed: known.parsed + rest.length,
  };
}

/** Reads the whole text once: for sealed text. */
export function splitWhole(raw: string): readonly MarkdownBlock[] {
  return readBlocks(normaliseLines(raw), {}).blocks;
}

function readBlocks(text: string, links: Links): { blocks: readonly MarkdownBlock[]; links: Links } {
  const lexer = new Lexer({ gfm: true, tokenizer: new PlainTokenizer() });
  Object.assign(lexer.tokens.links, links);
  const tokens = lexer.lex(text);
  return { blocks: groupTokens(text, tokens), links: { ...tokens.links } };
}

/**
 * Blank lines belong to the block before them; leading ones to the first block. The source is cut by the tokens' lengths:
 * the lexer tidies the white space in some of its `raw` texts, yet never their length.
 */
function groupTokens(text: string, tokens: readonly Token[]): readonly MarkdownBlock[] {
  const blocks: { from: number; to: number; tokens: Token[] }[] = [];
  let at = 0;
  for (const token of tokens) {
    const to = at + token.raw.length;
    const last = blocks.at(-1);
    if (token.type !== "space") blocks.push({ from: last ? at : 0, to, tokens: [token] });
    else if (last) last.to = to;
    at = to;
  }
  if (blocks.length === 0 && at > 0) blocks.push({ from: 0, to: at, tokens: [] });
  return blocks.map((block) => ({ raw: text.slice(block.from, block.to), tokens: block.tokens }));
}

function finalCount(blocks: readonly MarkdownBlock[]): number {
  for (let i = blocks.length - 1 - BLOCKS_BEHIND_FINAL; i >= 0; i--) {
    const block = blocks[i];
    if (block && ENDS_IN_BLANK_LINE.test(block.raw)) return i + 1;
  }
  return 0;
}
