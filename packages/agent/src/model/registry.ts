/** The models of a server: environment, stored credentials (which win), the demo. Nothing is loaded or asked before use. */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { Clock, Credential, Fault, ModelInfo, ModelsBody, NewCredential } from "@varve/protocol";
import { fault, isFault } from "@varve/protocol";
import type { WireDialect } from "@varve/wire";
import { chooseProfile, wireTarget } from "@varve/wire";
import { isLoopback } from "./base-url.ts";
import { createDemoModel, demoInfo } from "./demo-model.ts";
import { credentialsOf } from "./environment.ts";
import { baseUrlOf, providerFactories } from "./factories.ts";
import type { JsonPorts } from "./http-json.ts";
import { getJson, modelIds } from "./http-json.ts";
import { anthropicModels, byPreference, contextTokensOf } from "./known-models.ts";
import { findLocalServers } from "./local-servers.ts";
import type { KnownCredential, ModelRegistry, ResolvedModel } from "./model.ts";
import { streamModel } from "./provider-model.ts";
import { redactor } from "./redact.ts";

export interface RegistryOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  /** Silence of a stream after which it counts as cut. Default 120 s. */
  readonly idleMs?: number;
  /** Pause between two deltas of the demo model. Default 12 ms; 0 in tests. */
  readonly demoDelayMs?: number;
}

/** A list of models is asked for again after this. */
const listFreshMs = 60_000;
const listTimeoutMs = 3_000;
const checkTimeoutMs = 10_000;
const idleDefaultMs = 120_000;
/** A local model reads the whole prompt before its first word, which on a small machine takes minutes. */
const localFirstMs = 900_000;
const demoDelayDefaultMs = 12;
const later = "Its models come with the next release; an OpenAI-compatible address works today.";

export function createModelRegistry(options: RegistryOptions): ModelRegistry {
  return new Registry(options);
}

type Usable = KnownCredential & { readonly provider: WireDialect };

class Registry implements ModelRegistry {
  readonly secretEnv: readonly string[];
  readonly redact: (text: string) => string;
  readonly #options: RegistryOptions;
  readonly #ports: JsonPorts;
  readonly #environment: ReturnType<typeof credentialsOf>;
  #stored: readonly KnownCredential[] = [];
  #providers = new Map<string, Promise<(modelId: string) => LanguageModelV3>>();
  #lists = new Map<string, { readonly at: number; readonly ids: Promise<readonly string[] | Fault> }>();

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#ports = { fetch: options.fetch, clock: options.clock };
    this.#environment = credentialsOf(options.env);
    this.secretEnv = this.#environment.secretEnv;
    this.redact = redactor(() =>
      [...this.#known().values(), ...this.#environment.credentials].flatMap(({ key }) => (key === null ? [] : [key])),
    );
  }

  async list(): Promise<ModelsBody> {
    const usable = this.#usable();
    const listed = await Promise.all(usable.map((credential) => this.#modelsOf(credential)));
    const models = listed.flatMap((entry) => entry.models);
    const first = models.find((model) => model.available);
    return {
      models: [...models, demoInfo],
      default: first?.id ?? demoInfo.id,
      // A server that lists nothing may still take any id that a person names.
      demoOnly: usable.length === 0,
      recognised: [
        ...[...this.#known().values()].flatMap(({ id, provider }) =>
          provider === "openai" || provider === "google" ? [{ provider: id, note: `A key was found. ${later}` }] : [],
        ),
        ...this.#environment.notes,
        ...listed.flatMap((entry) => entry.notes),
      ],
    };
  }

  async resolve(modelId: string): Promise<ResolvedModel | Fault> {
    if (modelId === demoInfo.id) return this.#demo();
    const [id = "", ...rest] = modelId.split("/");
    const model = rest.join("/");
    const credential = this.#known().get(id);
    if (credential === undefined || model === "") {
      const names = ["demo/demo", ...[...this.#known().keys()].map((known) => `${known}/<model>`)].join(", ");
      return fault("unknown-model", `There is no model "${modelId}".`, `Choose another one: ${names}.`);
    }
    if (!isUsable(credential)) {
      return fault("model-unavailable", `The key for ${credential.provider} was found, but cannot be used yet.`, later);
    }
    if (baseUrlOf(credential) === null) {
      return fault("model-unavailable", `The address of "${id}" is not a web address.`, "Correct it in the settings.");
    }
    return this.#resolved(credential, model);
  }

  credentials(): readonly Credential[] {
    return [...this.#known().values()].map(({ id, provider, baseUrl, key, source }) => ({
      id,
      provider,
      baseUrl,
      keyHint: key === null ? null : key.slice(-4),
      source,
      ...(provider === "openai" || provider === "google" ? { note: later } : {}),
    }));
  }

  setStored(credentials: readonly KnownCredential[]): void {
    this.#stored = credentials;
    this.#providers = new Map();
    this.#lists = new Map();
  }

  async check(credential: NewCredential & { readonly id: string }): Promise<Fault | null> {
    const known: KnownCredential = {
      id: credential.id,
      provider: credential.provider,
      key: credential.key === undefined || credential.key === "" ? null : credential.key,
      baseUrl: credential.baseUrl === undefined || credential.baseUrl === "" ? null : credential.baseUrl,
      source: "stored",
    };
    if (!isUsable(known)) return null;
    if (baseUrlOf(known) === null) {
      return fault(
        "bad-request",
        "The address is missing or is not a web address.",
        "It looks like http://host:port/v1.",
      );
    }
    if (known.provider === "anthropic" && known.key === null) {
      return fault("credential-refused", "A key is needed for Anthropic.", "Paste the key that begins with sk-ant-.");
    }
    return this.#tryList(known);
  }

  localServers() {
    return findLocalServers(this.#ports, this.#options.env);
  }

  /** By id; a stored credential hides one of the same id from the environment. */
  #known(): ReadonlyMap<string, KnownCredential> {
    return new Map(
      [...this.#environment.credentials, ...this.#stored].map((credential) => [credential.id, credential]),
    );
  }

  #usable(): readonly Usable[] {
    return [...this.#known().values()].filter(isUsable).toSorted((a, b) => (a.provider < b.provider ? -1 : 1));
  }

  #demo(): ResolvedModel {
    const delayMs = this.#options.demoDelayMs ?? demoDelayDefaultMs;
    const model = createDemoModel({ clock: this.#options.clock, delayMs });
    return {
      info: demoInfo,
      target: wireTarget(chooseProfile("openai-compatible", "demo"), "demo"),
      stream: (options) => streamModel(async () => model, options, this.#rules(false)),
    };
  }

  #resolved(credential: Usable, model: string): ResolvedModel {
    const local = credential.provider === "openai-compatible" && isLoopback(baseUrlOf(credential) ?? "");
    return {
      info: infoOf(credential, model),
      target: wireTarget(chooseProfile(credential.provider, model), model),
      stream: (options) =>
        streamModel(async () => (await this.#provider(credential))(model), options, this.#rules(local)),
    };
  }

  #rules(local: boolean) {
    const idleMs = this.#options.idleMs ?? idleDefaultMs;
    const firstMs = local && this.#options.idleMs === undefined ? localFirstMs : idleMs;
    return { clock: this.#options.clock, idleMs, firstMs, redact: this.redact };
  }

  #provider(credential: Usable): Promise<(modelId: string) => LanguageModelV3> {
    const known = this.#providers.get(credential.id);
    if (known !== undefined) return known;
    const made = providerFactories(this.#options.fetch)[credential.provider](credential);
    this.#providers.set(credential.id, made);
    return made;
  }

  async #modelsOf(credential: Usable): Promise<Listed> {
    const ids = await this.#ids(credential);
    if (!isFault(ids)) return { models: byPreference(ids).map((id) => infoOf(credential, id)), notes: [] };
    const notes = [{ provider: credential.id, note: this.redact(ids.message) }];
    if (credential.provider !== "anthropic") return { models: [], notes };
    // Its names are known without asking; whether they answer shows at the first request.
    return { models: anthropicModels.map(({ id }) => infoOf(credential, id)), notes };
  }

  #ids(credential: Usable): Promise<readonly string[] | Fault> {
    const now = this.#options.clock.now();
    const known = this.#lists.get(credential.id);
    if (known !== undefined && Math.abs(now - known.at) < listFreshMs) return known.ids;
    const ids = this.#askForIds(credential, listTimeoutMs);
    this.#lists.set(credential.id, { at: now, ids });
    return ids;
  }

  async #askForIds(credential: Usable, timeoutMs: number): Promise<readonly string[] | Fault> {
    const base = baseUrlOf(credential);
    if (base === null) return fault("bad-request", `The address of "${credential.id}" is not a web address.`);
    const answer = await getJson(this.#ports, { url: `${base}/models`, headers: headersOf(credential), timeoutMs });
    if (isFault(answer)) return answer;
    if (answer.status === 401 || answer.status === 403) {
      return fault("credential-refused", `${base} refuses this key (HTTP ${answer.status}).`, "Check the key.");
    }
    if (answer.status >= 500) return fault("provider-unreachable", `${base} answered HTTP ${answer.status}.`);
    const ids = answer.status === 200 ? modelIds(answer.body) : null;
    return ids ?? fault("provider-refused", `${base} does not list its models (HTTP ${answer.status}).`);
  }

  async #tryList(credential: Usable): Promise<Fault | null> {
    const ids = await this.#askForIds(credential, checkTimeoutMs);
    // A server that lists nothing may still answer: any model name is passed through to it.
    if (!isFault(ids) || ids.code === "provider-refused") return null;
    return { ...ids, message: redactor(() => [credential.key ?? ""])(ids.message) };
  }
}

interface Listed {
  readonly models: readonly ModelInfo[];
  readonly notes: readonly { readonly provider: string; readonly note: string }[];
}

const isUsable = (credential: KnownCredential): credential is Usable =>
  credential.provider === "anthropic" || credential.provider === "openai-compatible";

function infoOf(credential: Usable, model: string): ModelInfo {
  const known = anthropicModels.find(({ id }) => id === model);
  return {
    id: `${credential.id}/${model}`,
    label: known?.label ?? model,
    provider: credential.provider,
    available: true,
    contextTokens: credential.provider === "anthropic" ? contextTokensOf(model) : null,
  };
}

function headersOf(credential: Usable): Readonly<Record<string, string>> {
  if (credential.key === null) return {};
  return credential.provider === "anthropic"
    ? { "x-api-key": credential.key, "anthropic-version": "2023-06-01" }
    : { authorization: `Bearer ${credential.key}` };
}
