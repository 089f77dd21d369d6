/** Takes secrets out of texts: providers and gateways like to repeat a key in the error about it. */

/** A shorter secret is left alone: replacing it everywhere would mangle plain words. */
const secretCharsMin = 8;
const replacement = "[secret]";

/** Shapes of keys that are secrets whether we know them or not. */
const shapes: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /(?<=\b(?:Bearer|x-api-key:?|api[_-]?key["']?\s*[:=]\s*["']?)\s*)[A-Za-z0-9._~+/=-]{16,}/gi,
];

export function redactor(secrets: () => readonly string[]): (text: string) => string {
  return (text) => {
    const known = secrets()
      .filter((secret) => secret.length >= secretCharsMin)
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      // A secret that holds another one goes first, or its rest would stay behind.
      .toSorted((a, b) => b.length - a.length);
    const plain = known.reduce((rest, secret) => rest.replaceAll(secret, replacement), text);
    return shapes.reduce((rest, shape) => rest.replace(shape, replacement), plain);
  };
}
