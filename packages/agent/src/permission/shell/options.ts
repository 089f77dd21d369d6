/** Reading the options of a program from its words. */
import type { ShellWord } from "./shell-word.ts";

export interface OptionForm {
  /** Letters that stand alone, and letters that take a value, attached or as the next word. */
  readonly flags: string;
  readonly valued: string;
  /** Long options, with `=` behind those that want an attached value. */
  readonly long?: readonly string[];
}

/** Index of the first word that is no option, or null when one of them is not understood. */
export function behindOptions(words: readonly ShellWord[], { flags, valued, long = [] }: OptionForm): number | null {
  let at = 1;
  for (; at < words.length; at++) {
    const value = words[at]?.value;
    if (value === null || value === undefined) return null;
    if (value === "--") return at + 1;
    if (!value.startsWith("-") || value === "-") return at;
    if (value.startsWith("--")) {
      const isKnown = long.some((name) => (name.endsWith("=") ? value.startsWith(`--${name}`) : value === `--${name}`));
      if (!isKnown) return null;
      continue;
    }
    const step = cluster(value, flags, valued);
    if (step === null) return null;
    at += step;
  }
  return at;
}

/** How many words more a cluster of letters takes, or null when a letter is unknown. */
function cluster(value: string, flags: string, valued: string): number | null {
  for (let at = 1; at < value.length; at++) {
    const letter = value[at] ?? "";
    if (valued.includes(letter)) return at === value.length - 1 ? 1 : 0;
    if (!flags.includes(letter)) return null;
  }
  return 0;
}

/** Whether a word that is not known yet could become an option. */
export const mayBeOption = ({ value, splits, sure }: ShellWord): boolean =>
  value === null && (splits || sure === "" || sure.startsWith("-"));

/** Programs take long options shortened, as long as they stay clear. */
export function isLong(text: string, names: readonly string[]): boolean {
  const [, given] = /^--([^=]+)/.exec(text) ?? [];
  return given !== undefined && names.some((name) => name.startsWith(given) || given.startsWith(`no-${name}`));
}

/** One of the letters anywhere in a cluster; what is a value behind another letter is taken for letters too. */
export const isShort = (text: string, letters: string): boolean =>
  /^-[^-]/.test(text) && [...letters].some((letter) => text.includes(letter));
