import type { ErrorBody } from "@varve/protocol";
import type { Api, DirectoryBody } from "../api/api.ts";

/** Folders of the server's machine, to choose one from. The newest question wins over a slow answer to an older one. */
export class DirectoryBrowser {
  body: DirectoryBody | null = $state.raw(null);
  error: ErrorBody | null = $state.raw(null);
  busy = $state(false);
  /** As typed; need not exist. */
  path = $state("");
  readonly #api: Api;
  #asked = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  async start(): Promise<void> {
    await this.#read(null);
    const { body } = this;
    if (body !== null && this.path === "") this.path = body.recent[0] ?? body.path;
    if (body !== null && this.path !== body.path) await this.#read(this.path);
  }

  async go(path: string): Promise<void> {
    this.path = path;
    await this.#read(path);
  }

  async #read(path: string | null): Promise<void> {
    const asked = ++this.#asked;
    this.busy = true;
    const result = await this.#api.directory(path);
    if (asked !== this.#asked) return;
    this.busy = false;
    this.error = result.ok ? null : result.error;
    if (result.ok) this.body = result.body;
  }
}
