/** All checks, in the order in which they run, and what each provider is asked with. */
import type { Check, LiveProvider } from "./check.ts";
import { anthropicChecks } from "./checks-anthropic.ts";
import { burst, modelSwitch, readRatio, replay, secondTab } from "./checks-common.ts";
import { vendorChecks } from "./checks-vendors.ts";

export const allChecks: readonly Check[] = [
  readRatio,
  replay,
  burst,
  secondTab,
  modelSwitch,
  ...anthropicChecks,
  ...vendorChecks,
];

export interface Offer {
  /** The environment variable that holds the key, the first of its names. */
  readonly keyName: string;
  readonly model: string;
  /** For the switch of models. */
  readonly other: string;
  /** Milliseconds between a write and a read: where a cache takes its time to know what it has seen. */
  readonly settleMs: number;
}

export const offers: Readonly<Record<LiveProvider, Offer>> = {
  anthropic: {
    keyName: "ANTHROPIC_API_KEY",
    model: "claude-sonnet-5-5",
    other: "claude-haiku-5-5",
    settleMs: 0,
  },
  openai: { keyName: "OPENAI_API_KEY", model: "gpt-5.6-sol", other: "gpt-5.6-luna", settleMs: 1_000 },
  google: {
    keyName: "GOOGLE_GENERATIVE_AI_API_KEY",
    model: "gemini-3.8-flash",
    other: "gemini-3.5-flash",
    settleMs: 3_000,
  },
  deepseek: { keyName: "DEEPSEEK_API_KEY", model: "deepseek-v4-pro", other: "deepseek-flash", settleMs: 3_000 },
  openrouter: {
    keyName: "OPENROUTER_API_KEY",
    model: "anthropic/claude-sonnet-5.5",
    other: "anthropic/claude-haiku-5.5",
    settleMs: 1_000,
  },
};

export const liveProviders: readonly LiveProvider[] = ["anthropic", "openai", "google", "deepseek", "openrouter"];

export const checksFor = (provider: LiveProvider, only: string | null): readonly Check[] =>
  allChecks.filter(({ name, providers }) => providers.includes(provider) && (only === null || name === only));
