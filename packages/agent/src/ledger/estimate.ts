/** How many tokens a text will be, before anybody has billed it. */
import { estimateTokenCount } from "tokenx";

/** By rules of thumb for its script: within a tenth or two. */
export const estimateTokens = (text: string): number => estimateTokenCount(text);

/** As many tokens for each UTF-16 unit as in a request that was billed. Without one: four units a token. */
export function calibrated(billed: { readonly tokens: number; readonly chars: number } | null, chars: number): number {
  if (billed === null || billed.chars <= 0) return Math.ceil(chars / charsOfToken);
  return Math.round((billed.tokens * chars) / billed.chars);
}

const charsOfToken = 4;
