import type { SyncClient } from "@varve/client";
import type { Clock, ErrorBody, NewTabBody, TabId, TabPatch } from "@varve/protocol";
import { createContext } from "svelte";
import type { Api } from "../api/api.ts";
import { ComposerState } from "../composer/composer-state.svelte.ts";
import { TabLedger } from "../ledger/tab-ledger.svelte.ts";
import type { Access } from "./access.svelte.ts";
import { BlobImages } from "./blobs.svelte.ts";
import type { Drafts } from "./drafts.ts";
import { Models } from "./models.svelte.ts";
import type { OpenTab } from "./open-tab.svelte.ts";
import type { Router } from "./route.svelte.ts";
import type { Senders } from "./senders.ts";
import { type Reloads, type StaleChoice, staleChoice } from "./stale-page.ts";
import { Workspace } from "./workspace.svelte.ts";

export type SettingsPage = "models" | "devices" | "reach" | "browser" | "paths" | "trash";

export interface AppPorts {
  readonly api: Api;
  readonly access: Access;
  readonly router: Router;
  readonly drafts: Drafts;
  readonly senders: Senders;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly connect: (key: string) => SyncClient;
  readonly reload: () => void;
  readonly reloads: Reloads;
  /** A field holds typed text that nothing keeps over a reload. */
  readonly typing: () => boolean;
}

/** What all parts of the page share, given by context. Made once; `enter` runs when the person is known. */
export class App {
  readonly api: Api;
  readonly access: Access;
  readonly router: Router;
  readonly drafts: Drafts;
  readonly senders: Senders;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly reload: () => void;
  readonly #reloads: Reloads;
  readonly #typing: () => boolean;
  readonly models: Models;
  readonly images: BlobImages;
  workspace: Workspace | null = $state.raw(null);
  settings: SettingsPage | null = $state(null);
  /** The drawer of the phone layout. */
  drawerOpen = $state(false);
  /** One line at the foot of the page: a failed act that has no better place. */
  alert: ErrorBody | null = $state.raw(null);
  readonly #connect: (key: string) => SyncClient;
  readonly #composers = new WeakMap<OpenTab, ComposerState>();
  readonly #ledgers = new WeakMap<OpenTab, TabLedger>();

  constructor(ports: AppPorts) {
    this.api = ports.api;
    this.access = ports.access;
    this.router = ports.router;
    this.drafts = ports.drafts;
    this.senders = ports.senders;
    this.clock = ports.clock;
    this.newId = ports.newId;
    this.reload = ports.reload;
    this.#reloads = ports.reloads;
    this.#typing = ports.typing;
    this.#connect = ports.connect;
    this.models = new Models(ports.api);
    this.images = new BlobImages(ports.api);
  }

  async start(code: string | null): Promise<void> {
    await this.access.start(code);
    this.enter();
  }

  async signIn(codeOrLink: string): Promise<void> {
    if (await this.access.signIn(codeOrLink)) this.enter();
  }

  /** Looks again whether this browser is signed in, and connects anew if it is. */
  async checkAccess(): Promise<void> {
    await this.access.check();
    this.enter();
  }

  enter(): void {
    const { state } = this.access;
    if (state.kind !== "signed-in") return;
    this.workspace?.close();
    this.workspace = new Workspace(this.#connect(state.key));
    void this.models.load();
  }

  /** What is to be done about a page that the server has another build of. */
  staleChoice(): StaleChoice {
    return staleChoice({
      reloadedBefore: this.#reloads.before,
      uploading: this.api.uploading,
      typing: this.drafts.unkept || (this.workspace?.losesMessages ?? false) || this.#typing(),
    });
  }

  reloadStale(): void {
    if (this.#reloads.note()) this.reload();
  }

  composer(tab: OpenTab): ComposerState {
    const known = this.#composers.get(tab);
    if (known) return known;
    const composer = new ComposerState(tab, this.api, this.drafts);
    this.#composers.set(tab, composer);
    return composer;
  }

  ledger(tab: OpenTab): TabLedger {
    const known = this.#ledgers.get(tab);
    if (known) return known;
    const ledger = new TabLedger(tab.handle.tabId, this.api, this.clock);
    this.#ledgers.set(tab, ledger);
    return ledger;
  }

  /** Makes a tab and shows it. */
  async newTab(body: NewTabBody): Promise<ErrorBody | null> {
    const result = await this.api.newTab(body);
    if (!result.ok) return result.error;
    this.router.go({ view: "tab", id: result.body.id });
    return null;
  }

  /** Whether the server took the change; why not stands in the alert. */
  async changeTab(id: TabId, patch: TabPatch): Promise<boolean> {
    const result = await this.api.changeTab(id, patch);
    this.#report(result);
    return result.ok;
  }

  async trashTab(id: TabId): Promise<void> {
    const result = await this.api.trashTab(id);
    this.#report(result);
    if (result.ok) this.router.go({ view: "home" });
  }

  async clearTab(id: TabId): Promise<void> {
    this.#report(await this.api.clearTab(id));
  }

  async forkTab(id: TabId, seq: number): Promise<void> {
    const result = await this.api.forkTab(id, seq);
    this.#report(result);
    if (result.ok) this.router.go({ view: "tab", id: result.body.id });
  }

  async resend(id: TabId, seq: number, text: string): Promise<ErrorBody | null> {
    const result = await this.api.resend(id, { seq, id: this.newId(), text });
    return result.ok ? null : result.error;
  }

  #report(result: { readonly ok: true } | { readonly ok: false; readonly error: ErrorBody }): void {
    this.alert = result.ok ? null : result.error;
  }
}

export const [getApp, setApp] = createContext<App>();
