import type { Credential, ErrorBody, ModelInfo, ModelsBody, NewCredential } from "@varve/protocol";
import type { Api, LocalServer } from "../api/api.ts";

/** Models, keys and local servers: read when the page starts, and again after each change. */
export class Models {
  body: ModelsBody | null = $state.raw(null);
  credentials: readonly Credential[] = $state.raw([]);
  localServers: readonly LocalServer[] = $state.raw([]);
  error: ErrorBody | null = $state.raw(null);
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  readonly list: readonly ModelInfo[] = $derived(this.body?.models ?? []);
  readonly demoOnly: boolean = $derived(this.body?.demoOnly ?? false);
  /** Local servers that no credential uses yet. */
  readonly offered: readonly LocalServer[] = $derived(
    this.localServers.filter((server) => !this.credentials.some((one) => sameBase(one.baseUrl, server.baseUrl))),
  );

  find(id: string): ModelInfo | undefined {
    return this.list.find((model) => model.id === id);
  }

  async load(): Promise<void> {
    await Promise.all([this.#loadModels(), this.#loadCredentials(), this.lookForServers()]);
  }

  async lookForServers(): Promise<void> {
    const result = await this.#api.localServers();
    if (result.ok) this.localServers = result.body;
  }

  /** The key is checked live by the server before it is kept. */
  async add(credential: NewCredential): Promise<ErrorBody | null> {
    const result = await this.#api.addCredential(credential);
    if (!result.ok) return result.error;
    await this.load();
    return null;
  }

  async remove(id: string): Promise<ErrorBody | null> {
    const result = await this.#api.removeCredential(id);
    if (!result.ok) return result.error;
    await this.load();
    return null;
  }

  async #loadModels(): Promise<void> {
    const result = await this.#api.models();
    if (result.ok) this.body = result.body;
    this.error = result.ok ? null : result.error;
  }

  async #loadCredentials(): Promise<void> {
    const result = await this.#api.credentials();
    if (result.ok) this.credentials = result.body;
  }
}

const bare = (url: string): string => url.replace(/\/+$/, "").replace(/\/v1$/, "");
const sameBase = (a: string | null, b: string): boolean => a !== null && bare(a) === bare(b);
