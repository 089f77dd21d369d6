/** The command line of a run. Pure. */
import type { CacheTtl } from "@varve/protocol";
import { allChecks, liveProviders } from "./catalogue.ts";
import type { LiveProvider } from "./check.ts";
import { liveLimits } from "./live-limits.ts";

export interface LiveArguments {
  /** Null: every provider whose key is there. */
  readonly provider: LiveProvider | null;
  readonly model: string | null;
  readonly other: string | null;
  readonly only: string | null;
  readonly ttl: CacheTtl;
  readonly isConfirmed: boolean;
  readonly isPatient: boolean;
  readonly moneyMax: number;
}

export const usage = [
  "npm run live -- [PROVIDER] [--model M] [--other M] [--only CHECK] [--ttl 5m|1h] [--max-money USD] [--patient] [--yes]",
  `Providers: ${liveProviders.join(", ")}. Checks: ${allChecks.map(({ name }) => name).join(", ")}.`,
].join("\n");

const flags = ["--model", "--other", "--only", "--ttl", "--max-money"] as const;
const switches = ["--yes", "--patient"] as const;

/** A text is what is wrong with the line. */
export function liveArguments(argv: readonly string[]): LiveArguments | string {
  const values = new Map<string, string>();
  const set = new Set<string>();
  const words: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (flags.some((flag) => flag === word)) {
      at += 1;
      const value = argv[at];
      if (value === undefined || value.startsWith("--")) return `${word} needs a value.`;
      values.set(word, value);
    } else if (switches.some((one) => one === word)) set.add(word);
    else if (word.startsWith("-")) return `${word} is no flag.`;
    else words.push(word);
  }
  if (words.length > 1) return "Name one provider, or none for all whose keys are there.";
  return checked(words[0] ?? null, values, set);
}

function checked(
  word: string | null,
  values: ReadonlyMap<string, string>,
  set: ReadonlySet<string>,
): LiveArguments | string {
  const provider = liveProviders.find((name) => name === word) ?? null;
  if (word !== null && provider === null) return `${word} is no provider of this program.`;
  const model = values.get("--model") ?? null;
  const other = values.get("--other") ?? null;
  if (provider === null && (model !== null || other !== null)) return "A model needs the name of its provider.";
  const only = values.get("--only") ?? null;
  const check = allChecks.find(({ name }) => name === only);
  if (only !== null && check === undefined) return `${only} is no check.`;
  if (provider !== null && check?.providers.includes(provider) === false) return `${only} is no check of ${provider}.`;
  const ttl = values.get("--ttl") ?? "5m";
  if (ttl !== "5m" && ttl !== "1h") return "--ttl is 5m or 1h.";
  const moneyMax = Number(values.get("--max-money") ?? liveLimits.moneyDefault);
  const isMoney = Number.isFinite(moneyMax) && moneyMax > 0 && moneyMax <= liveLimits.moneyMax;
  if (!isMoney) return `--max-money is US dollars, above 0 and at most ${liveLimits.moneyMax}.`;
  return {
    provider,
    model,
    other,
    only,
    ttl,
    isConfirmed: set.has("--yes"),
    isPatient: set.has("--patient"),
    moneyMax,
  };
}
