import type { ChunkId, ErrorBody, TabId } from "@varve/protocol";
import type { Api } from "../api/api.ts";
import type { Result } from "../api/http.ts";
import {
  type AskedEntry,
  readPermissions,
  removeRule,
  type TabPermissions,
  takeBackGrant,
} from "./permission-calls.ts";

/** The rules of one tab and its questions so far, as the server last told them. */
export class PermissionView {
  body: TabPermissions | null = $state.raw(null);
  /** Newest first: what `body` brought, and the older pages that were asked for. */
  questions: readonly AskedEntry[] = $state.raw([]);
  more = $state(false);
  busy = $state(false);
  error: ErrorBody | null = $state.raw(null);
  readonly #api: Api;
  readonly #tab: TabId;

  constructor(api: Api, tab: TabId) {
    this.#api = api;
    this.#tab = tab;
  }

  async load(): Promise<void> {
    const result = await readPermissions(this.#api, this.#tab);
    this.error = result.ok ? null : result.error;
    if (!result.ok) return;
    this.body = result.body;
    this.questions = result.body.questions;
    this.more = result.body.more;
  }

  async older(): Promise<void> {
    const last = this.questions.at(-1);
    if (last === undefined || this.busy) return;
    this.busy = true;
    const result = await readPermissions(this.#api, this.#tab, last.seq);
    this.busy = false;
    this.error = result.ok ? null : result.error;
    // The list may have been read anew meanwhile: what does not join is not shown.
    if (!result.ok || this.questions.at(-1) !== last) return;
    this.questions = [...this.questions, ...result.body.questions];
    this.more = result.body.more;
  }

  removeRule = (root: string, rule: string): Promise<void> => this.#remove(removeRule(this.#api, root, rule));
  takeBack = (askId: ChunkId): Promise<void> => this.#remove(takeBackGrant(this.#api, this.#tab, askId));

  async #remove(removing: Promise<Result<unknown>>): Promise<void> {
    this.busy = true;
    const result = await removing;
    this.busy = false;
    if (result.ok) await this.load();
    else this.error = result.error;
  }
}
