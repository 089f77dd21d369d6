/** The forms in which a secret shows up in texts. Pure. */

/** A shorter secret is left alone: replacing it everywhere would mangle plain words. */
export const secretCharsMin = 8;
/** Of a longer one the lines are known, and not the whole. */
export const secretCharsMax = 4_096;
/** Lines of one secret that are known each by itself: a key file in a variable is printed with another indentation. */
const linesMax = 200;
const lineCharsMin = 16;

/** What people type where a server of their own wants no key at all. These are words, and no secrets. */
const placeholders: ReadonlySet<string> = new Set([
  "lm-studio",
  "llama.cpp",
  "not-needed",
  "not-required",
  "no-key-needed",
  "no-key-required",
  "sk-no-key-required",
  "placeholder",
  "anything",
  "dummy-key",
  "your-api-key",
  "your_api_key",
]);

/** All forms of a value that are looked for; none when it cannot be told from plain words. */
export function formsOf(value: string): readonly string[] {
  const forms = partsOf(value.trim()).flatMap((part) => [
    part,
    encodeURIComponent(wellFormed(part)),
    JSON.stringify(part).slice(1, -1),
    ...base64Forms(part),
  ]);
  return [...new Set(forms)].filter((form) => form.length >= secretCharsMin);
}

function partsOf(value: string): readonly string[] {
  if (value.length < secretCharsMin || placeholders.has(value.toLowerCase())) return [];
  const whole = value.length <= secretCharsMax ? [value] : [];
  if (!value.includes("\n")) return whole;
  const lines = value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= lineCharsMin && line.length <= secretCharsMax && !line.startsWith("-----"));
  return [...whole, ...lines.slice(0, linesMax)];
}

/**
 * In base64 a value that stands anywhere in longer bytes looks one of three ways; the characters that its neighbours have
 * a say in are left out. Once for the usual alphabet and once for the one of addresses.
 */
function base64Forms(value: string): readonly string[] {
  const bytes = new TextEncoder().encode(value);
  return [0, 1, 2].flatMap((before) => {
    const shifted = new Uint8Array(before + bytes.length);
    shifted.set(bytes, before);
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor((shifted.length * 8) / 6);
    const core = base64(shifted).slice(from, to);
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

const wellFormed = (text: string): string => new TextDecoder().decode(new TextEncoder().encode(text));
