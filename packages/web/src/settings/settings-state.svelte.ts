import type { ErrorBody } from "@varve/protocol";
import type { Api, SettingsBody } from "../api/api.ts";

export class SettingsState {
  body: SettingsBody | null = $state.raw(null);
  error: ErrorBody | null = $state.raw(null);
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async load(): Promise<void> {
    this.#take(await this.#api.settings());
  }

  async change(values: Readonly<Record<string, unknown>>): Promise<void> {
    this.#take(await this.#api.changeSettings(values));
  }

  #take(result: Awaited<ReturnType<Api["settings"]>>): void {
    if (result.ok) this.body = result.body;
    this.error = result.ok ? null : result.error;
  }
}
