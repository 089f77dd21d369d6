/** Picking quoted texts, paths and names out of a person's sentence. Pure. */

/** Texts in quotes or backticks, in order. */
export function quoted(text: string): readonly string[] {
  const pattern = /`([^`\n]+)`|"([^"\n]+)"|“([^”\n]+)”|‘([^’\n]+)’|(?<![A-Za-z0-9])'([^'\n]+)'(?![A-Za-z0-9])/g;
  return [...text.matchAll(pattern)].map((match) => match.slice(1).find((group) => group !== undefined) ?? "");
}

/** The first word that looks like a path: it holds a slash or ends in an extension. Addresses are none. */
export function pathIn(text: string): string | null {
  const bare = [
    ...text.matchAll(
      /[A-Za-z0-9_@~.+-]*(?:\/[A-Za-z0-9_@.+-]+)+\/?|[A-Za-z0-9_@+-][A-Za-z0-9_@.+-]*\.[A-Za-z][A-Za-z0-9]{0,9}/g,
    ),
  ];
  const found = bare.find((match) => !/^(https?|e\.g|i\.e)\b/i.test(match[0]) && text[match.index - 1] !== ":");
  return found === undefined ? wellKnown(text) : found[0].replace(/[.,;:]+$/, "");
}

function wellKnown(text: string): string | null {
  return /\b(README|LICENSE|Makefile|Dockerfile|CHANGELOG)\b/i.exec(text)?.[0] ?? null;
}

const plainWords = new Set(
  `the a an this that these those is are was were be it its in on at of to for from with by and or not where which what who how find
  search look locate show me my all any every please can could you i we function class method variable constant defined
  definition declared used uses usage called occurs code file files project repository repo word text string there here
  does do comes come live lives grep line lines name named`.split(/\s+/),
);

/** What a search is about: a quoted text, else a name that looks like code, else the last word that says something. */
export function subjectIn(text: string): string | null {
  const inQuotes = quoted(text)[0];
  if (inQuotes !== undefined) return inQuotes;
  const words = text.match(/[A-Za-z_$][A-Za-z0-9_$.-]*/g) ?? [];
  const telling = words.map((word) => word.replace(/[.-]+$/, "")).filter((word) => !plainWords.has(word.toLowerCase()));
  return telling.find((word) => /[a-z][A-Z]|_|\$|\.|[A-Z]{2}/.test(word)) ?? telling.at(-1) ?? null;
}

export const escapeRegex = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
