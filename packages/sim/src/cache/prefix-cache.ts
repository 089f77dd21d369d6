import { type CacheBlock, type CacheModel, cacheModel, estimateTokens, tokensOf } from "./cache-model.ts";

export interface PrefixCacheOptions {
  readonly minPrefixTokens: number;
  /** A match counts in whole steps of so many tokens. */
  readonly stepTokens: number;
  readonly lifeMs: number;
  /** Whether a request that begins with all of a kept one reads all of it, whatever the step. */
  readonly wholeUnits: boolean;
  /** Whether what was generated is kept too. */
  readonly keepsAnswer: boolean;
  /** How many inputs are kept; the one that was not used for the longest time gives way. */
  readonly slots: number;
}

/** OpenAI before GPT-5.6: by itself, in steps of 128 tokens from 1024 on. Nothing is billed for writing. */
export const olderOpenaiCache: PrefixCacheOptions = {
  minPrefixTokens: 1024,
  stepTokens: 128,
  lifeMs: 5 * 60_000,
  wholeUnits: false,
  keepsAnswer: false,
  slots: Number.POSITIVE_INFINITY,
};

/** Gemini's implicit caching. The vendor promises nothing; this is what its documents lead one to expect. */
export const geminiCache: PrefixCacheOptions = {
  ...olderOpenaiCache,
  minPrefixTokens: 4096,
  stepTokens: 1,
  wholeUnits: true,
};

/** DeepSeek's disk: whole units that end where an input or an answer ended, and at fixed distances; for hours. */
export const deepseekCache: PrefixCacheOptions = {
  minPrefixTokens: 64,
  stepTokens: 1024,
  lifeMs: 2 * 60 * 60_000,
  wholeUnits: true,
  keepsAnswer: true,
  slots: Number.POSITIVE_INFINITY,
};

/** A local server with one slot: token for token, prompt and answer, until another prompt takes the slot. */
export const localSlotCache: PrefixCacheOptions = {
  minPrefixTokens: 0,
  stepTokens: 1,
  lifeMs: Number.POSITIVE_INFINITY,
  wholeUnits: true,
  keepsAnswer: true,
  slots: 1,
};

interface Kept {
  readonly scope: string;
  readonly texts: readonly string[];
  expiresMs: number;
}

/**
 * A cache that works by itself: the longest common beginning with something that is kept and alive. What could be read
 * at best is the same without a limit of slots.
 */
export function createPrefixCache(options: PrefixCacheOptions): CacheModel {
  const all: Kept[] = [];
  const slots: Kept[] = [];
  return cacheModel(({ scope, blocks, nowMs }) => {
    const texts = blocks.map(({ text }) => text);
    const isOurs = (kept: Kept): boolean => kept.scope === scope && kept.expiresMs > nowMs;
    const readFrom = (kept: readonly Kept[]): number =>
      Math.max(0, ...kept.filter(isOurs).map((one) => matched(one.texts, blocks, options)));
    const read = readFrom(slots);
    const attainable = readFrom(all);
    for (const kept of all) {
      if (isOurs(kept) && extendsTexts(texts, kept.texts)) kept.expiresMs = nowMs + options.lifeMs;
    }
    const own: Kept = { scope, texts, expiresMs: nowMs + options.lifeMs };
    return {
      figures: { read, write5m: 0, write1h: 0, fresh: tokensOf(blocks) - read, attainable },
      firstEvent() {
        for (const list of [all, slots]) {
          // What the new one goes on from is part of it; where units are matched whole it stays a unit of its own.
          if (!options.wholeUnits || options.slots === 1) dropCovered(list, own);
          list.push(own);
        }
        while (slots.length > options.slots) slots.shift();
      },
      ended(answer) {
        if (!options.keepsAnswer) return;
        // A vendor with whole units keeps both: what ended with the input, and what ended with the answer.
        const longer = { ...own, texts: [...texts, ...answer] };
        for (const list of [all, slots]) {
          const at = list.indexOf(own);
          if (at !== -1 && options.slots === 1) list[at] = longer;
          else if (at !== -1) list.push(longer);
        }
      },
    };
  });
}

function dropCovered(list: Kept[], own: Kept): void {
  const left = list.filter((kept) => kept.scope !== own.scope || !extendsTexts(own.texts, kept.texts));
  list.splice(0, list.length, ...left);
}

function extendsTexts(longer: readonly string[], shorter: readonly string[]): boolean {
  return shorter.length <= longer.length && shorter.every((text, index) => longer[index] === text);
}

function matched(kept: readonly string[], blocks: readonly CacheBlock[], options: PrefixCacheOptions): number {
  const same = blocks.findIndex(({ text }, index) => kept[index] !== text);
  const whole = same === -1 ? blocks.length : same;
  const tokens = tokensOf(blocks.slice(0, whole));
  const isUnit = options.wholeUnits && whole === kept.length;
  const partly = isUnit ? tokens : tokens + commonTokens(kept[whole] ?? "", blocks[whole]?.text ?? "");
  const counted = isUnit ? tokens : Math.floor(partly / options.stepTokens) * options.stepTokens;
  return counted < options.minPrefixTokens ? 0 : counted;
}

function commonTokens(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at === 0 ? 0 : estimateTokens(a.slice(0, at)) - 1;
}
