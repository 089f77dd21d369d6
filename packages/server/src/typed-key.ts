/** A key as people paste it, without what they copied along. Pure. */

/** Marks of direction and width that pages and chats put into what is copied from them. */
const invisible = /[\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF\u00AD]/g;
const assignment = /^(?:export\s+|set\s+|\$env:)?[A-Za-z_][A-Za-z0-9_]*\s*=\s*/;
const header = /^(?:authorization\s*:\s*)?bearer\s+|^x-api-key\s*:\s*|^x-goog-api-key\s*:\s*|^api-key\s*:\s*/i;
const quotes: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ["'", "'"],
  ["`", "`"],
  ["\u201C", "\u201D"],
  ["\u2018", "\u2019"],
];
/** What may stand around a key at most: an assignment of a quoted header. Then there is nothing more to take away. */
const layersMax = 6;

export function typedKey(pasted: string): string {
  let key = pasted.replace(invisible, "").trim();
  for (let layer = 0; layer < layersMax; layer++) {
    const bare = withoutLayer(key);
    if (bare === key) return key;
    key = bare;
  }
  return key;
}

function withoutLayer(key: string): string {
  const pair = quotes.find(([open, close]) => key.length >= 2 && key.startsWith(open) && key.endsWith(close));
  if (pair !== undefined) return key.slice(1, -1).trim();
  if (header.test(key)) return key.replace(header, "").trim();
  // A key may end in the signs of base64, so only what begins like a name before a sign is an assignment.
  const value = key.replace(assignment, "");
  if (value !== key && value !== "" && !/^=+$/.test(value)) return value.replace(/;$/, "").trim();
  return key;
}
