/** Settings that belong to the server as a whole, and the plain files that belong to the person. */
import { join } from "node:path";
import type { ModelRegistry } from "@varve/agent";
import type { Log } from "@varve/log";
import { type Fault, fault, isFault } from "@varve/protocol";

export interface SettingPorts {
  readonly log: Pick<Log, "setting" | "putSetting">;
  readonly models: Pick<ModelRegistry, "resolve" | "list">;
  readonly home: string;
}

const modelKey = "server.default-model";
const modelCharsMax = 200;

export class Settings {
  readonly #ports: SettingPorts;
  #defaultModel: string | null;

  private constructor(ports: SettingPorts, defaultModel: string | null) {
    this.#ports = ports;
    this.#defaultModel = defaultModel;
  }

  static async load(ports: SettingPorts): Promise<Settings> {
    return new Settings(ports, await ports.log.setting(modelKey));
  }

  /** What a person chose; null: the best that is there. */
  get defaultModel(): string | null {
    return this.#defaultModel;
  }

  /** The model of a tab that names none. A choice whose credential is gone gives way to what is there. */
  async modelForNewTab(): Promise<string> {
    const chosen = this.#defaultModel;
    if (chosen !== null && !isFault(await this.#ports.models.resolve(chosen))) return chosen;
    return (await this.#ports.models.list()).default;
  }

  body(): { readonly paths: Readonly<Record<string, string>>; readonly values: Readonly<Record<string, unknown>> } {
    const { home } = this.#ports;
    return {
      paths: {
        home,
        instructions: join(home, "AGENTS.md"),
        permissions: join(home, "permissions.json"),
        database: join(home, "varve.db"),
        files: join(home, "blobs"),
        token: join(home, "token"),
      },
      values: { defaultModel: this.#defaultModel },
    };
  }

  /** All or nothing. */
  async change(values: Readonly<Record<string, unknown>>): Promise<Fault | null> {
    for (const name of Object.keys(values)) {
      if (name !== "defaultModel") {
        return fault("unknown-setting", `There is no setting "${name.slice(0, 80)}".`, "Nothing was changed.");
      }
    }
    return "defaultModel" in values ? this.#setModel(values.defaultModel) : null;
  }

  async #setModel(model: unknown): Promise<Fault | null> {
    if (model !== null && (typeof model !== "string" || model.length > modelCharsMax)) {
      return fault("bad-request", "defaultModel: a model's name or null is expected.", "Nothing was changed.");
    }
    const resolved = model === null ? null : await this.#ports.models.resolve(model);
    if (isFault(resolved)) return resolved;
    const problem = await this.#ports.log.putSetting(modelKey, model);
    if (problem === null) this.#defaultModel = model;
    return problem;
  }
}
