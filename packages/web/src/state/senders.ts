/**
 * Who sent a waiting message. A page has a client id of its own each time it is loaded; those that this browser had before
 * are remembered, so that what was sent before a reload is still one's own.
 */
import type { TabRecord } from "@varve/protocol";
import type { TextStore } from "./drafts.ts";

/** Client ids remembered; the oldest is forgotten first. */
export const CLIENTS_MAX = 50;
const KEY = "varve.clients";
/** Before the id of the tab whose agent sent the message. */
const AGENT = "agent:";
/** Before the name of the token that a program sent it with. */
const TOKEN = "token:";
const TITLE_CHARS_MAX = 40;

export class Senders {
  readonly #store: TextStore | null;
  #own: readonly string[];

  constructor(store: TextStore | null) {
    this.#store = store;
    this.#own = readOwn(store) ?? [];
  }

  remember(client: string): void {
    this.#own = readOwn(this.#store) ?? this.#own;
    this.#own = [...this.#own.filter((one) => one !== client), client].slice(-CLIENTS_MAX);
    try {
      this.#store?.setItem(KEY, JSON.stringify(this.#own));
    } catch {
      // Full or forbidden storage: after a reload an own message is called one of another page.
    }
  }

  /** "" for what was written in this browser. */
  words(by: string, tabs: readonly TabRecord[]): string {
    if (this.#isOwn(by)) return "";
    if (by === "token") return "from a program";
    if (by.startsWith(TOKEN)) return `from the program “${by.slice(TOKEN.length)}”`;
    if (!by.startsWith(AGENT)) return "from another device";
    const title = tabs.find((one) => one.id === by.slice(AGENT.length))?.title ?? "";
    return `from the agent of ${title === "" ? "another tab" : `“${title.slice(0, TITLE_CHARS_MAX)}”`}`;
  }

  /** A window of this browser that was opened after this one has written its id down since. */
  #isOwn(by: string): boolean {
    return this.#own.includes(by) || (readOwn(this.#store)?.includes(by) ?? false);
  }
}

/** Null when nobody can say. */
function readOwn(store: TextStore | null): readonly string[] | null {
  if (store === null) return null;
  try {
    const read: unknown = JSON.parse(store.getItem(KEY) ?? "[]");
    return Array.isArray(read) ? read.filter((one) => typeof one === "string").slice(-CLIENTS_MAX) : null;
  } catch {
    return null; // Forbidden or damaged storage: what this page knows is all there is.
  }
}
