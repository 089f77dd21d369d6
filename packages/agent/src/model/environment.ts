/** Which credentials the environment holds. Pure: reads the record that it is handed. */
import type { Credential } from "@varve/protocol";
import type { KnownCredential } from "./model.ts";

type Env = Readonly<Record<string, string | undefined>>;

interface Source {
  readonly provider: Credential["provider"];
  readonly keyNames: readonly string[];
  readonly urlNames: readonly string[];
  /** A server of one's own may need no key. */
  readonly keyless: boolean;
}

const sources: readonly Source[] = [
  { provider: "anthropic", keyNames: ["ANTHROPIC_API_KEY"], urlNames: ["ANTHROPIC_BASE_URL"], keyless: false },
  {
    provider: "openai-compatible",
    keyNames: ["OPENAI_COMPATIBLE_API_KEY"],
    urlNames: ["OPENAI_COMPATIBLE_BASE_URL"],
    keyless: true,
  },
  { provider: "openai", keyNames: ["OPENAI_API_KEY"], urlNames: ["OPENAI_BASE_URL"], keyless: false },
  {
    provider: "google",
    keyNames: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    urlNames: ["GOOGLE_GENERATIVE_AI_BASE_URL", "GOOGLE_BASE_URL"],
    keyless: false,
  },
  { provider: "deepseek", keyNames: ["DEEPSEEK_API_KEY"], urlNames: ["DEEPSEEK_BASE_URL"], keyless: false },
  { provider: "openrouter", keyNames: ["OPENROUTER_API_KEY"], urlNames: ["OPENROUTER_BASE_URL"], keyless: false },
];

export interface EnvironmentCredentials {
  readonly credentials: readonly KnownCredential[];
  /** Variables whose values are secrets. */
  readonly secretEnv: readonly string[];
  /** What was found and cannot be used as it stands. */
  readonly notes: readonly { readonly provider: string; readonly note: string }[];
}

export function credentialsOf(env: Env): EnvironmentCredentials {
  const found = sources.map((source) => ({ source, ...read(env, source) }));
  const usable = found.filter(({ source, key, baseUrl }) => key !== null || (source.keyless && baseUrl !== null));
  const lacksUrl = usable.filter(({ source, baseUrl }) => source.provider === "openai-compatible" && baseUrl === null);
  return {
    credentials: usable
      .filter((entry) => !lacksUrl.includes(entry))
      .map(({ source, key, baseUrl }) => ({
        id: source.provider,
        provider: source.provider,
        key,
        baseUrl,
        source: "environment",
      })),
    secretEnv: sources.flatMap((source) => source.keyNames).filter((name) => textOf(env, name) !== null),
    notes: lacksUrl.map(({ source }) => ({
      provider: source.provider,
      note: "OPENAI_COMPATIBLE_API_KEY is set; set OPENAI_COMPATIBLE_BASE_URL as well to use it.",
    })),
  };
}

function read(env: Env, source: Source): { readonly key: string | null; readonly baseUrl: string | null } {
  const first = (names: readonly string[]): string | null =>
    names.map((name) => textOf(env, name)).find((value) => value !== null) ?? null;
  return { key: first(source.keyNames), baseUrl: first(source.urlNames) };
}

/** An empty variable counts as unset. */
function textOf(env: Env, name: string): string | null {
  const value = env[name]?.trim() ?? "";
  return value === "" ? null : value;
}
