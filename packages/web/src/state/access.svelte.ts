import type { ErrorBody } from "@varve/protocol";
import type { Api } from "../api/api.ts";
import type { KeyStore } from "../api/key-store.ts";
import { codeFrom } from "./access-code.ts";

export type AccessState =
  | { readonly kind: "checking" }
  | { readonly kind: "signed-out"; readonly error?: ErrorBody }
  | { readonly kind: "unreachable"; readonly error: ErrorBody }
  | { readonly kind: "signed-in"; readonly key: string };

/** Who may see anything. The code of a sign-in link works once; the key that it buys is kept. */
export class Access {
  state: AccessState = $state.raw({ kind: "checking" });
  readonly #api: Api;
  readonly #keys: KeyStore;
  #key: string | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(api: Api, keys: KeyStore) {
    this.#api = api;
    this.#keys = keys;
  }

  /** Sent with every request; undefined before sign-in. */
  get key(): string | undefined {
    return this.#key;
  }

  /** With a code: signs in. Without: looks whether this browser still is. */
  start(code: string | null): Promise<void> {
    return this.#inTurn(async () => {
      this.#key = (await this.#keys.read()) ?? undefined;
      if (code === null || !(await this.#signIn(code))) await this.#check();
    });
  }

  check(): Promise<void> {
    return this.#inTurn(() => this.#check());
  }

  /** Accepts a code or a whole sign-in link. */
  signIn(codeOrLink: string): Promise<boolean> {
    return this.#inTurn(() => this.#signIn(codeOrLink));
  }

  /** One question to the server at a time: an answer from before a sign-in must not undo it. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act, act);
    this.#last = done;
    return done;
  }

  async #check(): Promise<void> {
    const me = await this.#api.me();
    if (me.ok && me.body.signedIn && this.#key !== undefined) this.state = { kind: "signed-in", key: this.#key };
    else if (me.ok || isRefusal(me.error)) this.#signedOut();
    else this.state = { kind: "unreachable", error: me.error };
  }

  async #signIn(codeOrLink: string): Promise<boolean> {
    const answer = await this.#api.signIn(codeFrom(codeOrLink));
    if (!answer.ok) {
      this.state = { kind: "signed-out", error: answer.error };
      return false;
    }
    this.#key = answer.body.key;
    await this.#keys.write(answer.body.key);
    this.state = { kind: "signed-in", key: answer.body.key };
    return true;
  }

  #signedOut(): void {
    // The reason of a failed sign-in stays on screen.
    if (this.state.kind !== "signed-out") this.state = { kind: "signed-out" };
  }
}

const isRefusal = (error: ErrorBody): boolean => error.code === "unauthorized" || error.code === "second-key-missing";
