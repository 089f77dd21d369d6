/** What a check is: a few requests, what is expected of them, and a verdict. */
import type { ResolvedModel } from "@varve/agent";
import type { CacheTtl, ProviderName } from "@varve/protocol";
import type { LiveTab, Step } from "./live-tab.ts";

export type LiveProvider = Exclude<ProviderName, "openai-compatible">;

export type Verdict =
  /** As the product relies on it. */
  | "ok"
  /** An open question has an answer; the product is right with either. */
  | "settled"
  /** Not as the product relies on it: something has to change. */
  | "differs"
  /** The provider refused or broke off a request. */
  | "failed"
  /** Not tried, and why. */
  | "not-run";

export interface Outcome {
  readonly verdict: Verdict;
  readonly measured: string;
  /** Read of what could have been read, from 0 to 1, where the check measures one. */
  readonly ratio: number | null;
}

/** What a check works with. */
export interface Bench {
  readonly provider: LiveProvider;
  readonly model: ResolvedModel;
  /** A second model of the same provider. */
  readonly other: ResolvedModel;
  readonly ttl: CacheTtl;
  /** Whether waits of minutes are allowed. */
  readonly isPatient: boolean;
  /** A tab with a head that no cache has seen; tabs of one check and one name share it. */
  tab(name?: string): LiveTab;
  wait(ms: number): Promise<void>;
  /** The pause that this provider's cache needs between a write and a read. */
  settle(): Promise<void>;
}

export interface Check {
  readonly name: string;
  /** Number of the open point of the wire's reference; null: a rule that the product relies on. */
  readonly point: number | null;
  readonly what: string;
  expected(provider: LiveProvider): string;
  readonly providers: readonly LiveProvider[];
  /** Requests at most, tries after a failure apart; and tabs, each of which pays for its head once. */
  readonly requests: number;
  readonly tabs: number;
  run(bench: Bench): Promise<Outcome>;
}

/** Read ratios below these mean that something has to change. Gemini promises none. */
export const ratioAtLeast: Readonly<Record<LiveProvider, number | null>> = {
  anthropic: 0.98,
  openai: 0.95,
  google: null,
  deepseek: 0.9,
  openrouter: 0.9,
};

export const isNearAll = (ratio: number | null): boolean => ratio !== null && ratio >= 0.9;
export const percent = (ratio: number | null): string => (ratio === null ? "unknown" : `${(ratio * 100).toFixed(1)} %`);

/** Against the provider's own threshold. */
export function relied(provider: LiveProvider, ratio: number | null, told: string): Outcome {
  const least = ratioAtLeast[provider];
  if (least === null) return settled(ratio, told);
  return { verdict: ratio !== null && ratio >= least ? "ok" : "differs", measured: told, ratio };
}

export const settled = (ratio: number | null, measured: string): Outcome => ({ verdict: "settled", measured, ratio });

export const ratioText = (provider: LiveProvider): string => {
  const least = ratioAtLeast[provider];
  return least === null ? "read ratio up to 1.000, but nothing is promised" : `read ratio 1.000 (at least ${least})`;
};

export const toldRead = ({ usage, before, ratio }: Step): string =>
  `read ${usage?.read ?? "unknown"} of ${before ?? "unknown"} (${percent(ratio)})`;
