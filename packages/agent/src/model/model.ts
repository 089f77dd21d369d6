/**
 * CONTRACT. The model port: one streamed request. Over a provider's `doStream` (spec V3); failures are values.
 *
 * It never throws and never hangs: the iteration ends after exactly one of `finish`, `failure` or `cancelled`. A stream that
 * ends without a clean finish is a `failure` with code `provider-cut`, whatever the provider package makes of it.
 */
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from "@ai-sdk/provider";
import type { Credential, ErrorCode, Fault, ModelInfo, ModelsBody, NewCredential } from "@varve/protocol";
import type { WireTarget } from "@varve/wire";
import type { ModelFacts, PriceOverrides } from "./facts.ts";

export interface ModelFailure {
  readonly code: ErrorCode;
  /** Clear, secrets removed. */
  readonly message: string;
  readonly statusCode?: number;
  /** Whether the same request may be sent again; with what the provider asked to wait, in ms. */
  readonly retry: { readonly afterMs: number | null } | null;
  readonly hint?: string;
}

export type ModelPart =
  | (Exclude<LanguageModelV3StreamPart, { type: "error" }> & {
      /** A secret was taken out of this text block: no token that came with it vouches for it any more. */
      readonly redacted?: true;
    })
  | { readonly type: "failure"; readonly failure: ModelFailure }
  | { readonly type: "cancelled" };

/** A resolved model: what the fold aims at and what streams. */
export interface ResolvedModel {
  readonly info: ModelInfo;
  /** What is known of it without asking anybody. */
  readonly facts: ModelFacts;
  readonly target: WireTarget;
  stream(options: LanguageModelV3CallOptions): AsyncIterable<ModelPart>;
  /** One request that is not streamed: keep-warm. Never throws; a failure is a value. */
  generate(options: LanguageModelV3CallOptions): Promise<Generated>;
}

export type Generated =
  | { readonly kind: "generated"; readonly text: string; readonly usage: LanguageModelV3Usage }
  | { readonly kind: "failed"; readonly failure: ModelFailure }
  | { readonly kind: "cancelled" };

export type ProviderFactory = (credential: KnownCredential) => Promise<(modelId: string) => LanguageModelV3>;

/** A credential with its secret, inside the process only. */
export interface KnownCredential {
  readonly id: string;
  readonly provider: Credential["provider"];
  readonly key: string | null;
  readonly baseUrl: string | null;
  readonly source: Credential["source"];
}

/** The models of a server: environment, stored credentials (which win), local servers, the demo. */
export interface ModelRegistry {
  list(): Promise<ModelsBody>;
  /** `unknown-model` or `model-unavailable` with a hint. */
  resolve(modelId: string): Promise<ResolvedModel | Fault>;
  credentials(): readonly Credential[];
  /** What a person says about prices and limits: wins over the table. Keys are model names `<credential>/<model>`. */
  setOverrides(overrides: PriceOverrides): void;
  /** Replaces the stored ones (decrypted by the server). */
  setStored(credentials: readonly KnownCredential[]): void;
  /** One cheap call: null when the provider accepts it. */
  check(credential: NewCredential & { readonly id: string }): Promise<Fault | null>;
  /** Loopback servers that answer on their usual ports, within 500 ms. */
  localServers(): Promise<
    readonly { readonly kind: string; readonly baseUrl: string; readonly models: readonly string[] }[]
  >;
  /** Names of environment variables that credentials were taken from. */
  readonly secretEnv: readonly string[];
  /** Replaces every known secret in a text. */
  redact(text: string): string;
}
