/**
 * A page whose server has another build replaces itself, once for each build, and never at the price of something that a
 * person has put into it.
 */
import type { TextStore } from "./drafts.ts";

/** What is done about a page of another build, or what it waits for. */
export type StaleChoice =
  | "reload"
  /** It has reloaded for this reason before: a server that always differs must not make a loop. */
  | "again"
  | "uploading"
  /** A reload would lose something typed, or a message on its way. */
  | "typing";

export interface StaleFacts {
  readonly reloadedBefore: boolean;
  readonly uploading: boolean;
  readonly typing: boolean;
}

export function staleChoice({ reloadedBefore, uploading, typing }: StaleFacts): StaleChoice {
  if (reloadedBefore) return "again";
  if (uploading) return "uploading";
  return typing ? "typing" : "reload";
}

/** Builds remembered; one that was left behind so many reloads ago may be reloaded for once more. */
export const BUILDS_MAX = 20;
const KEY = "varve.reloaded";

/** The builds whose pages have reloaded themselves in this window of the browser. */
export class Reloads {
  readonly #store: TextStore | null;
  readonly #build: string;
  /** This page's build is one of them. */
  readonly before: boolean;

  constructor(store: TextStore | null, build: string) {
    this.#store = store;
    this.#build = build;
    const builds = this.#read();
    this.before = builds === null || builds.includes(build);
  }

  /** False: it could not be remembered, so that reloading might never end. */
  note(): boolean {
    const builds = this.#read();
    if (this.#store === null || builds === null) return false;
    try {
      this.#store.setItem(KEY, JSON.stringify([...builds, this.#build].slice(-BUILDS_MAX)));
      return true;
    } catch {
      return false; // Full or forbidden storage: the person reloads by the button.
    }
  }

  /** Null when nobody can say. */
  #read(): readonly string[] | null {
    if (this.#store === null) return null;
    try {
      const read: unknown = JSON.parse(this.#store.getItem(KEY) ?? "[]");
      return Array.isArray(read) ? read.filter((one) => typeof one === "string") : null;
    } catch {
      return null; // Forbidden or damaged storage: as if it had happened.
    }
  }
}
