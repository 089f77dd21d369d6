/** Texts of errors without secrets: providers and gateways like to repeat a key in the error about it. */
import type { Secrets } from "./known-secrets.ts";
import { secretMark } from "./matcher.ts";

/** Shapes of keys that are secrets whether we know them or not. In other texts than errors they would mangle examples. */
const shapes: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /(?<=\b(?:Bearer|x-api-key:?|api[_-]?key["']?\s*[:=]\s*["']?)\s*)[A-Za-z0-9._~+/=-]{16,}/gi,
];

export const redactError = (text: string, secrets: Secrets): string =>
  shapes.reduce((rest, shape) => rest.replace(shape, secretMark), secrets.text(text));
