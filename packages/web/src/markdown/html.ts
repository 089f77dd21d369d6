/**
 * Tokens to HTML text. Only tags written here can appear: everything that comes from a message is escaped, images are
 * links to click (a picture address can carry a secret away), and a link has a scheme that is on the list. The sanitiser
 * behind it (`sanitize.ts`) is the second wall, not the first.
 */

import { Parser, Renderer, type Token, type Tokens } from "marked";
import { visibleDiff } from "../tools/visible-text.ts";
import type { MarkdownBlock } from "./split.ts";

/** A block as it is shown. Fenced code at the top level is text for a component, so that it can grow without parsing. */
export type ShownBlock =
  | { readonly kind: "html"; readonly html: string }
  | { readonly kind: "code"; readonly language: string; readonly text: string };

const SAFE_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? "");

/** The address in its canonical form, or null when it is relative or its scheme is not on the list. */
export function safeAddress(href: string): string | null {
  if (!URL.canParse(href)) return null;
  const url = new URL(href);
  return SAFE_SCHEMES.has(url.protocol) ? url.href : null;
}

const anchor = (address: string, inner: string): string =>
  `<a href="${escapeHtml(address)}" target="_blank" rel="noopener noreferrer nofollow">${inner}</a>`;

class SafeRenderer extends Renderer {
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return escapeHtml(text);
  }
  override link(token: Tokens.Link): string {
    // What turns the order of letters makes a label look like another address.
    const inner = visibleDiff(this.parser.parseInline(token.tokens));
    const address = safeAddress(token.href);
    return address === null ? `<span title="${escapeHtml(token.href)}">${inner}</span>` : anchor(address, inner);
  }
  override image({ href, text }: Tokens.Image): string {
    const address = safeAddress(href);
    const label = escapeHtml(visibleDiff(text === "" ? href : text));
    return address === null ? label : anchor(address, `Image: ${label}`);
  }
  override code({ text, lang }: Tokens.Code): string {
    const language = languageOf(lang);
    const mark = language === "" ? "" : ` data-language="${escapeHtml(language)}"`;
    return `<pre${mark}><code>${escapeHtml(text)}</code></pre>`;
  }
  override codespan({ text }: Tokens.Codespan): string {
    return `<code>${escapeHtml(text)}</code>`;
  }
  override checkbox({ checked }: Tokens.Checkbox): string {
    return checked ? '<span class="task done">☑</span> ' : '<span class="task">☐</span> ';
  }
  override table(token: Tokens.Table): string {
    return `<div class="table">${super.table(token)}</div>`;
  }
  override tablecell(token: Tokens.TableCell): string {
    const tag = token.header ? "th" : "td";
    const align = token.align === null ? "" : ` align="${token.align}"`;
    return `<${tag}${align}>${this.parser.parseInline(token.tokens)}</${tag}>`;
  }
  override text(token: Tokens.Text | Tokens.Escape): string {
    if ("tokens" in token && token.tokens) return this.parser.parseInline(token.tokens);
    return escapeHtml(token.text);
  }
}

const languageOf = (lang: string | undefined): string => /^[\w+#.-]{1,32}/.exec(lang ?? "")?.[0] ?? "";

const parser = new Parser<string, string>({ gfm: true, renderer: new SafeRenderer() });

export function showBlock(block: MarkdownBlock): ShownBlock {
  const only = block.tokens.length === 1 ? block.tokens[0] : undefined;
  if (only && isFence(only)) return { kind: "code", language: languageOf(only.lang), text: only.text };
  return { kind: "html", html: parser.parse([...block.tokens]) };
}

const isFence = (token: Token): token is Tokens.Code => token.type === "code";
