/** What a caller can know of a server: ids and numbers out of its answers, and words that mean something to it. */
import { isObject } from "../json.ts";
import type { Prng } from "../prng.ts";

/** The newest values of a name; older ones are forgotten. */
const keptMax = 24;
/** Of an answer so many values are looked at. */
const readMax = 400;

/** Names under which the same thing goes elsewhere. */
const others: Readonly<Record<string, string>> = {
  message: "id",
  before: "id",
  tabId: "tab",
  log: "logId",
  after: "seq",
  chunk: "seq",
  hash: "blob",
  askId: "askId",
  from: "seq",
};

type Value = string | number;

export class Known {
  readonly #values = new Map<string, Value[]>();
  readonly #words: Readonly<Record<string, readonly Value[]>>;

  /** `words`: what always counts as known, by name. */
  constructor(words: Readonly<Record<string, readonly Value[]>>) {
    this.#words = words;
  }

  add(name: string, value: Value): void {
    const values = this.#values.get(name) ?? [];
    if (values.includes(value)) return;
    values.push(value);
    if (values.length > keptMax) values.shift();
    this.#values.set(name, values);
  }

  /** A value that was told under that name, or a word for it. Undefined: nothing is known. */
  like(name: string, prng: Prng): Value | undefined {
    const same = others[name] ?? name;
    const [first, ...rest] = [...(this.#values.get(same) ?? []), ...(this.#words[same] ?? [])];
    return first === undefined ? undefined : prng.pick([first, ...rest]);
  }

  forget(): void {
    this.#values.clear();
  }

  /** Takes what an answer tells, up to a bound. */
  learn(answer: unknown): void {
    let left = readMax;
    const look = (value: unknown): void => {
      if (left-- <= 0) return;
      if (Array.isArray(value)) {
        for (const one of value) look(one);
        return;
      }
      if (!isObject(value)) return;
      for (const [name, field] of Object.entries(value)) {
        const told = typeof field === "string" ? field !== "" && field.length <= 64 : Number.isSafeInteger(field);
        if (told && (typeof field === "string" || typeof field === "number")) this.add(name, field);
        else look(field);
      }
    };
    look(answer);
  }
}
