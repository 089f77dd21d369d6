/** The secrets that a server knows, and texts without them. One per server; what becomes known holds at once. */
import type { Json } from "@varve/protocol";
import { formsOf } from "./forms.ts";
import { createMatcher, type Matcher, redactCut, redactText } from "./matcher.ts";
import { StreamRedactor } from "./stream-redactor.ts";

/** What takes secrets out of whatever a tab writes or shows. */
export interface Secrets {
  text(text: string): string;
  /** The same for a text parts of which were cut off: a beginning of a secret in front of a cut is replaced as well. */
  cutText(text: string): string;
  /** The same value with clean texts in it, also as names of fields; the very same one where nothing was to do. */
  data<T extends Json>(value: T): T;
  stream(): StreamRedactor;
}

/** Values of one source at most; further ones are not known. Far above what any source is allowed to hold. */
const valuesMax = 500;
/** Values that were tried and not kept: the oldest are forgotten. */
const triedMax = 50;

export class KnownSecrets implements Secrets {
  readonly #sources = new Map<string, readonly string[]>();
  #tried: readonly string[] = [];
  #matcher: Matcher | null = null;

  /** Everything that this source holds now. What it held before and lacks now stays known until the server ends. */
  know(source: string, values: readonly string[]): void {
    const before = this.#sources.get(source) ?? [];
    const added = values.filter((value) => !before.includes(value));
    if (added.length === 0) return;
    this.#sources.set(source, [...added, ...before].slice(0, valuesMax));
    this.#matcher = null;
  }

  /** A value that somebody typed and that may turn out to be no key at all. */
  tried(value: string): void {
    if (this.#tried.includes(value)) return;
    this.#tried = [value, ...this.#tried].slice(0, triedMax);
    this.#matcher = null;
  }

  text(text: string): string {
    return redactText(this.#now(), text);
  }

  cutText(text: string): string {
    const matcher = this.#now();
    const clean = redactText(matcher, text);
    // Every cut of ours is marked by one of these, on the same line or on the next.
    const parts = clean.split(/(?=\n?[⟨…])/);
    return parts.map((part) => redactCut(matcher, part)).join("");
  }

  data<T extends Json>(value: T): T {
    // Only texts within it change, and names of fields by the same rule, so its shape is the same.
    return cleaned(value, (text) => this.text(text)) as T;
  }

  stream(): StreamRedactor {
    return new StreamRedactor(() => this.#now());
  }

  #now(): Matcher {
    this.#matcher ??= createMatcher([...new Set([...this.#sources.values(), this.#tried].flat().flatMap(formsOf))]);
    return this.#matcher;
  }
}

/** For places without secrets: tests, and tools of a world of their own. */
export const noSecrets: Secrets = new KnownSecrets();

function cleaned(value: Json, clean: (text: string) => string): Json {
  if (typeof value === "string") return clean(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => cleaned(item, clean));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const before = Object.entries(value);
  const after = before.map(([name, item]): [string, Json | undefined] => [
    clean(name),
    item === undefined ? undefined : cleaned(item, clean),
  ]);
  const same = after.every(([name, item], at) => name === before[at]?.[0] && item === before[at]?.[1]);
  return same ? value : Object.fromEntries(after);
}
