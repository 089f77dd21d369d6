/** A `fetch` that can change one request on its way out: what the wire itself never does is tried here. */
import { isObject, type JsonObject, parseJson } from "../json.ts";

export interface Edit {
  body?(body: JsonObject): JsonObject;
  headers?(headers: Headers): void;
}

export class EditedFetch {
  /** The next POST's; it is used up by that one. */
  next: Edit | null = null;
  /** The body of the last POST, as it was sent. */
  lastBody: JsonObject = {};
  readonly #fetch: typeof globalThis.fetch;

  constructor(fetch: typeof globalThis.fetch) {
    this.#fetch = fetch;
  }

  readonly fetch: typeof globalThis.fetch = (input, init) => {
    const parsed = typeof init?.body === "string" ? parseJson(init.body) : null;
    if (init?.method !== "POST" || typeof init.body !== "string" || !isObject(parsed)) return this.#fetch(input, init);
    const edit = this.next;
    this.next = null;
    this.lastBody = edit?.body?.(parsed) ?? parsed;
    const headers = new Headers(init.headers);
    edit?.headers?.(headers);
    // An untouched body goes out as it came, byte for byte.
    const body = edit?.body === undefined ? init.body : JSON.stringify(this.lastBody);
    return this.#fetch(input, { ...init, headers, body });
  };
}
