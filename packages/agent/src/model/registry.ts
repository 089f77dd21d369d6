/** The models of a server: environment, stored credentials (which win), the demo. Nothing is loaded or asked before use. */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { Clock, Credential, Fault, ModelInfo, ModelsBody, NewCredential, ProviderName } from "@varve/protocol";
import { fault, isFault } from "@varve/protocol";
import { chooseProfile, wireTarget } from "@varve/wire";
import { KnownSecrets } from "../secrets/known-secrets.ts";
import { redactError } from "../secrets/redact.ts";
import { isLoopback } from "./base-url.ts";
import { createDemoModel, demoFacts, demoInfo } from "./demo-model.ts";
import { baseUrlOf, dialectOf, sellerOf } from "./dialect.ts";
import { credentialsOf } from "./environment.ts";
import { providerFactories } from "./factories.ts";
import type { ModelFacts, PriceOverrides } from "./facts.ts";
import { factsOf } from "./facts-of.ts";
import { generateModel } from "./generate-model.ts";
import type { JsonPorts } from "./http-json.ts";
import { byPreference, knownModels, labelOf } from "./known-models.ts";
import { findLocalServers } from "./local-servers.ts";
import type { KnownCredential, ModelRegistry, ResolvedModel } from "./model.ts";
import { listModels, refusedKey } from "./model-lists.ts";
import { streamModel } from "./provider-model.ts";

export interface RegistryOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
  /** Learns every key that is read or tried here. Default: its own. */
  readonly secrets?: KnownSecrets;
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

export function createModelRegistry(options: RegistryOptions): ModelRegistry {
  return new Registry(options);
}

class Registry implements ModelRegistry {
  readonly secretEnv: readonly string[];
  readonly redact: (text: string) => string;
  readonly #secrets: KnownSecrets;
  readonly #options: RegistryOptions;
  readonly #ports: JsonPorts;
  readonly #environment: ReturnType<typeof credentialsOf>;
  #stored: readonly KnownCredential[] = [];
  #overrides: PriceOverrides = {};
  #providers = new Map<string, Promise<(modelId: string) => LanguageModelV3>>();
  #lists = new Map<string, { readonly at: number; readonly ids: Promise<readonly string[] | Fault> }>();

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#ports = { fetch: options.fetch, clock: options.clock };
    this.#environment = credentialsOf(options.env);
    this.secretEnv = this.#environment.secretEnv;
    const secrets = options.secrets ?? new KnownSecrets();
    this.#secrets = secrets;
    secrets.know("environment", [
      ...this.secretEnv.flatMap((name) => options.env[name] ?? []),
      ...this.#environment.credentials.flatMap(secretsIn),
    ]);
    this.redact = (text) => redactError(text, secrets);
  }

  async list(): Promise<ModelsBody> {
    const credentials = this.#inOrder();
    const listed = await Promise.all(credentials.map((credential) => this.#modelsOf(credential)));
    const models = listed.flatMap((entry) => entry.models);
    const first = models.find((model) => model.available);
    return {
      models: [...models, demoInfo],
      default: first?.id ?? demoInfo.id,
      // A server that lists nothing may still take any id that a person names.
      demoOnly: credentials.length === 0,
      recognised: [...this.#environment.notes, ...listed.flatMap((entry) => entry.notes)],
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
    if (baseUrlOf(credential) === null) {
      return fault("model-unavailable", `The address of "${id}" is not a web address.`, "Correct it in the settings.");
    }
    return this.#resolved(credential, model);
  }

  credentials(): readonly Credential[] {
    return [...this.#known().values()].map(({ id, provider, baseUrl, key, source }) => ({
      id,
      provider,
      baseUrl: baseUrl === null ? null : this.#secrets.text(baseUrl),
      keyHint: key === null ? null : key.slice(-4),
      source,
    }));
  }

  setStored(credentials: readonly KnownCredential[]): void {
    this.#stored = credentials;
    this.#secrets.know("stored", credentials.flatMap(secretsIn));
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
    if (known.key !== null) this.#secrets.tried(known.key);
    if (baseUrlOf(known) === null) {
      return fault(
        "bad-request",
        "The address is missing or is not a web address.",
        "It looks like http://host:port/v1.",
      );
    }
    if (known.provider !== "openai-compatible" && known.key === null) {
      const begins = keysBegin[known.provider];
      return fault(
        "credential-refused",
        "A key is needed for this provider.",
        `Paste the key that begins with ${begins}.`,
      );
    }
    const refused = (await refusedKey(this.#ports, known, checkTimeoutMs)) ?? (await this.#tryList(known));
    return refused;
  }

  setOverrides(overrides: PriceOverrides): void {
    this.#overrides = overrides;
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

  /** Providers by name, and within one the order in which its credentials came. */
  #inOrder(): readonly KnownCredential[] {
    return [...this.#known().values()].toSorted(
      (a, b) => Number(a.provider > b.provider) - Number(a.provider < b.provider),
    );
  }

  #demo(): ResolvedModel {
    const delayMs = this.#options.demoDelayMs ?? demoDelayDefaultMs;
    const model = createDemoModel({ clock: this.#options.clock, delayMs });
    return {
      info: demoInfo,
      facts: demoFacts,
      target: wireTarget(chooseProfile("openai-compatible", "demo"), "demo"),
      stream: (options) => streamModel(async () => model, options, this.#rules(false)),
      generate: (options) => generateModel(async () => model, options, this.#rules(false)),
    };
  }

  #resolved(credential: KnownCredential, model: string): ResolvedModel {
    const local = credential.provider === "openai-compatible" && isLoopback(baseUrlOf(credential) ?? "");
    const open = async (): Promise<LanguageModelV3> => (await this.#provider(credential))(model);
    return {
      info: this.#info(credential, model),
      facts: this.#facts(credential, model),
      target: wireTarget(chooseProfile(dialectOf(credential), model), model, accountOf(credential)),
      stream: (options) => streamModel(open, options, this.#rules(local)),
      generate: (options) => generateModel(open, options, this.#rules(local)),
    };
  }

  #facts(credential: KnownCredential, model: string): ModelFacts {
    const override = this.#overrides[`${credential.id}/${model}`];
    return factsOf(sellerOf(credential), model, { override, baseUrl: baseUrlOf(credential) });
  }

  #info(credential: KnownCredential, model: string): ModelInfo {
    const { contextTokens, prices } = this.#facts(credential, model);
    const note = noteOn(credential, model);
    return {
      id: `${credential.id}/${model}`,
      label: labelOf(sellerOf(credential), model),
      provider: credential.provider,
      available: true,
      ...(note === null ? {} : { note }),
      contextTokens,
      prices: prices === null ? null : ratesOf(prices),
    };
  }

  #rules(local: boolean) {
    const idleMs = this.#options.idleMs ?? idleDefaultMs;
    const firstMs = local && this.#options.idleMs === undefined ? localFirstMs : idleMs;
    return { clock: this.#options.clock, idleMs, firstMs, redact: this.redact };
  }

  #provider(credential: KnownCredential): Promise<(modelId: string) => LanguageModelV3> {
    const known = this.#providers.get(credential.id);
    if (known !== undefined) return known;
    const made = providerFactories(this.#options.fetch)[dialectOf(credential)](credential);
    this.#providers.set(credential.id, made);
    return made;
  }

  async #modelsOf(credential: KnownCredential): Promise<Listed> {
    const seller = sellerOf(credential);
    const ids = await this.#ids(credential);
    if (!isFault(ids)) {
      const named = byPreference(
        seller,
        ids.map((id) => this.#secrets.text(id)),
      );
      return { models: named.map((id) => this.#info(credential, id)), notes: [] };
    }
    const notes = [{ provider: credential.id, note: this.redact(ids.message) }];
    if (credential.provider === "openai-compatible") return { models: [], notes };
    // Its names are known without asking; whether they answer shows at the first request.
    return { models: knownModels(seller).map(({ id }) => this.#info(credential, id)), notes };
  }

  #ids(credential: KnownCredential): Promise<readonly string[] | Fault> {
    const now = this.#options.clock.now();
    const known = this.#lists.get(credential.id);
    if (known !== undefined && Math.abs(now - known.at) < listFreshMs) return known.ids;
    const ids = listModels(this.#ports, credential, listTimeoutMs);
    this.#lists.set(credential.id, { at: now, ids });
    return ids;
  }

  async #tryList(credential: KnownCredential): Promise<Fault | null> {
    const ids = await listModels(this.#ports, credential, checkTimeoutMs);
    // A server that lists nothing may still answer: any model name is passed through to it.
    if (!isFault(ids) || ids.code === "provider-refused") return null;
    return { ...ids, message: this.redact(ids.message) };
  }
}

/** The key, and the password of an address that holds one. */
function secretsIn({ key, baseUrl }: KnownCredential): readonly string[] {
  const password = baseUrl !== null && URL.canParse(baseUrl) ? new URL(baseUrl).password : "";
  return [...(key === null ? [] : [key]), ...(password === "" ? [] : [password, plainOf(password)])];
}

function plainOf(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    // A percent sign that encodes nothing stands for itself.
    return encoded;
  }
}

interface Listed {
  readonly models: readonly ModelInfo[];
  readonly notes: readonly { readonly provider: string; readonly note: string }[];
}

const keysBegin: Readonly<Record<Exclude<ProviderName, "openai-compatible">, string>> = {
  anthropic: "sk-ant-",
  openai: "sk-",
  google: "AIza",
  deepseek: "sk-",
  openrouter: "sk-or-",
};

const ratesOf = ({ input, output, read, write5m, write1h }: NonNullable<ModelFacts["prices"]>) => ({
  input,
  output,
  read,
  write5m,
  write1h,
});

/** A credential under its provider's own name is the usual account; any other name is an account of its own. */
const accountOf = ({ id, provider }: KnownCredential): string | null => (id === provider ? null : id);

/** What a person should know before they choose it. */
function noteOn(credential: KnownCredential, model: string): string | null {
  const isOld = dialectOf(credential) === "deepseek" && /^deepseek-(chat|reasoner)/.test(model);
  return isOld ? "An older name: thinking together with tools is not supported. Choose a V4 model." : null;
}
