import type { BlobHash } from "@varve/protocol";
import { SvelteMap } from "svelte/reactivity";
import type { Api } from "../api/api.ts";

export type BlobImage =
  | { readonly kind: "loading" }
  | { readonly kind: "failed" }
  | { readonly kind: "ready"; readonly url: string };

/** Pictures kept in memory; past this the one loaded first is let go. */
const IMAGES_MAX = 60;

/** Pictures need the second key in a header, which `<img src>` cannot send: they are fetched and shown from memory. */
export class BlobImages {
  readonly #images = new SvelteMap<BlobHash, BlobImage>();
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  get(hash: BlobHash): BlobImage {
    return this.#images.get(hash) ?? { kind: "loading" };
  }

  async load(hash: BlobHash): Promise<void> {
    const known = this.#images.get(hash);
    if (known && known.kind !== "failed") return;
    this.#images.set(hash, { kind: "loading" });
    const result = await this.#api.blob(hash);
    this.#images.set(hash, result.ok ? { kind: "ready", url: URL.createObjectURL(result.body) } : { kind: "failed" });
    this.#evict();
  }

  #evict(): void {
    for (const [hash, image] of this.#images) {
      if (this.#images.size <= IMAGES_MAX) return;
      if (image.kind === "ready") URL.revokeObjectURL(image.url);
      this.#images.delete(hash);
    }
  }
}
