/**
 * The REST routes that the page uses, typed. The server serves this page's own build, so bodies are trusted to have the
 * shapes of the protocol: `decode` is the one place where an unknown body becomes a typed one.
 */
import type {
  BillBody,
  BlobHash,
  CacheTtl,
  ContextBody,
  Credential,
  Effort,
  LedgerBody,
  LogChunk,
  ModelsBody,
  NewCredential,
  NewTabBody,
  PreviewBody,
  Recording,
  SentRequestBody,
  TabId,
  TabPatch,
  TabRecord,
  UsageBody,
} from "@varve/protocol";
import type { Http, Method, Result, UploadedBlob } from "./http.ts";

export interface SignInBody {
  readonly key: string;
  readonly build: string;
}
export interface MeBody {
  readonly signedIn: boolean;
  readonly build: string;
}
export interface DirectoryEntry {
  readonly name: string;
  readonly path: string;
  readonly git: boolean;
}
export interface DirectoryBody {
  readonly path: string;
  readonly parent: string | null;
  readonly entries: readonly DirectoryEntry[];
  readonly recent: readonly string[];
}
export interface LocalServer {
  readonly kind: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
}
export interface SettingsBody {
  readonly paths: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether commands can be sandboxed on the server's machine, and why not. */
  readonly sandbox?: { readonly available: boolean; readonly reason?: string };
}
export interface LogEntry {
  readonly logId: string;
  /** The log whose rows up to `parentSeq` are its own too; null without one. */
  readonly parentId: string | null;
  readonly parentSeq: number;
  readonly tail: number;
  readonly createdAt: number;
  readonly current: boolean;
}

/** What may be changed between two turns at the price of a cache. */
export interface TabChange {
  readonly model?: string;
  readonly effort?: Effort;
  readonly cacheTtl?: CacheTtl;
}

export class Api {
  readonly #http: Http;
  #uploads = 0;

  constructor(http: Http) {
    this.#http = http;
  }

  signIn(code: string): Promise<Result<SignInBody>> {
    return this.ask("POST", "/sign-in", { code });
  }
  me(): Promise<Result<MeBody>> {
    return this.ask("GET", "/me");
  }
  newTab(body: NewTabBody): Promise<Result<TabRecord>> {
    return this.ask("POST", "/tabs", body);
  }
  changeTab(id: TabId, patch: TabPatch): Promise<Result<TabRecord>> {
    return this.ask("PATCH", `/tabs/${id}`, patch);
  }
  trashTab(id: TabId): Promise<Result<unknown>> {
    return this.ask("DELETE", `/tabs/${id}`);
  }
  forkTab(id: TabId, seq: number): Promise<Result<TabRecord>> {
    return this.ask("POST", `/tabs/${id}/fork`, { seq });
  }
  clearTab(id: TabId): Promise<Result<unknown>> {
    return this.ask("POST", `/tabs/${id}/clear`, {});
  }
  resend(
    id: TabId,
    body: { readonly seq: number; readonly id: string; readonly text: string },
  ): Promise<Result<unknown>> {
    return this.ask("POST", `/tabs/${id}/resend`, body);
  }
  async logs(id: TabId): Promise<Result<readonly LogEntry[]>> {
    const result = await this.ask<{ readonly logs: readonly LogEntry[] }>("GET", `/tabs/${id}/logs`);
    return result.ok ? { ok: true, body: result.body.logs } : result;
  }
  pointToLog(id: TabId, logId: string): Promise<Result<unknown>> {
    return this.ask("POST", `/tabs/${id}/log`, { logId });
  }
  wholeRow(id: TabId, seq: number): Promise<Result<LogChunk>> {
    return this.ask("GET", `/tabs/${id}/chunks/${seq}`);
  }
  models(): Promise<Result<ModelsBody>> {
    return this.ask("GET", "/models");
  }
  async credentials(): Promise<Result<readonly Credential[]>> {
    const result = await this.ask<{ readonly credentials: readonly Credential[] }>("GET", "/credentials");
    return result.ok ? { ok: true, body: result.body.credentials } : result;
  }
  addCredential(body: NewCredential): Promise<Result<Credential>> {
    return this.ask("POST", "/credentials", body);
  }
  removeCredential(id: string): Promise<Result<unknown>> {
    return this.ask("DELETE", `/credentials/${encodeURIComponent(id)}`);
  }
  async localServers(): Promise<Result<readonly LocalServer[]>> {
    const result = await this.ask<{ readonly servers: readonly LocalServer[] }>("GET", "/local-servers");
    return result.ok ? { ok: true, body: result.body.servers } : result;
  }
  directory(path: string | null): Promise<Result<DirectoryBody>> {
    return this.ask("GET", path === null ? "/directories" : `/directories?path=${encodeURIComponent(path)}`);
  }
  settings(): Promise<Result<SettingsBody>> {
    return this.ask("GET", "/settings");
  }
  changeSettings(values: Readonly<Record<string, unknown>>): Promise<Result<SettingsBody>> {
    return this.ask("PATCH", "/settings", values);
  }
  /** `before`: the `usageSeq` of the oldest step that is held. */
  ledger(id: TabId, before?: number): Promise<Result<LedgerBody>> {
    return this.ask("GET", `/tabs/${id}/ledger${before === undefined ? "" : `?before=${before}`}`);
  }
  usage(days: number): Promise<Result<UsageBody>> {
    return this.ask("GET", `/usage?days=${days}`);
  }
  context(id: TabId): Promise<Result<ContextBody>> {
    return this.ask("GET", `/tabs/${id}/context`);
  }
  applyContext(id: TabId, apply: "tell" | "rebuild"): Promise<Result<unknown>> {
    return this.ask("POST", `/tabs/${id}/context`, { apply });
  }
  preview(id: TabId, change: TabChange): Promise<Result<PreviewBody>> {
    const query = new URLSearchParams({ ...change });
    return this.ask("GET", `/tabs/${id}/preview?${query}`);
  }
  compact(id: TabId): Promise<Result<unknown>> {
    return this.ask("POST", `/tabs/${id}/compact`, {});
  }
  undoCompaction(id: TabId, seq: number): Promise<Result<unknown>> {
    return this.ask("POST", `/tabs/${id}/compact/undo`, { seq });
  }
  /** `from`: the index of the first block wanted. */
  sentRequest(id: TabId, seq: number, from?: number): Promise<Result<SentRequestBody>> {
    return this.ask("GET", `/tabs/${id}/requests/${seq}${from === undefined ? "" : `?from=${from}`}`);
  }
  async recordings(): Promise<Result<readonly Recording[]>> {
    const result = await this.ask<{ readonly recordings: readonly Recording[] }>("GET", "/recordings");
    return result.ok ? { ok: true, body: result.body.recordings } : result;
  }
  bill(recording: string): Promise<Result<BillBody>> {
    return this.ask("GET", `/recordings/${encodeURIComponent(recording)}/bill`);
  }
  /** A file is on its way. */
  get uploading(): boolean {
    return this.#uploads > 0;
  }
  /** A file counts as on its way from the moment it is made ready. */
  async uploadPrepared(prepare: () => Promise<Result<Blob>>): Promise<Result<UploadedBlob>> {
    this.#uploads++;
    try {
      const prepared = await prepare();
      return prepared.ok ? decode(await this.#http.upload("/blobs", prepared.body)) : prepared;
    } finally {
      this.#uploads--;
    }
  }
  blob(hash: BlobHash): Promise<Result<Blob>> {
    return this.#http.download(`/blobs/${hash}`);
  }

  /** For routes of parts that come late; they name the shape themselves. */
  async ask<T>(method: Method, path: string, body?: unknown): Promise<Result<T>> {
    return decode(await this.#http.json(method, path, body));
  }
}

// The server that serves this page is of the same build: its bodies have the protocol's shapes.
const decode = <T>(result: Result<unknown>): Result<T> => (result.ok ? { ok: true, body: result.body as T } : result);
