/** `sed` and `awk`: their scripts can run programs and write files, so that a pattern covers only scripts that surely do not. */
import { mayBeOption } from "./options.ts";
import type { Demand } from "./shell-part.ts";
import type { ShellWord } from "./shell-word.ts";

const unknown: Demand = { needs: "person", why: "an argument is not known before it runs" };
const byScript: Demand = { needs: "exact", why: "it can run other programs or write files" };

const address = String.raw`(?:\d+|\$|/[^/\\\n]*/)?(?:,(?:\d+|\$|/[^/\\\n]*/))?`;
const plainSed = new RegExp(
  String.raw`^${address}(?:[pdq=]|s([/|,#])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpI0-9]*)$`,
);

export function sedDemand(args: readonly ShellWord[]): Demand {
  if (args.some(mayBeOption)) return unknown;
  const options = args.filter(({ sure }) => sure.startsWith("-"));
  // Only these leave the first other word to be the script, and the files as they are: `-i` writes any of them.
  if (!options.every(({ value }) => value !== null && /^-[nErsuz]+$/.test(value))) return byScript;
  const script = args.find(({ sure }) => !sure.startsWith("-"))?.value;
  return script !== null && script !== undefined && plainSed.test(script) ? { needs: "rule" } : byScript;
}

export function awkDemand(args: readonly ShellWord[]): Demand {
  if (args.some(mayBeOption)) return unknown;
  let at = 0;
  while (/^-[Fv]/.test(args[at]?.sure ?? "")) at += args[at]?.sure.length === 2 ? 2 : 1;
  const script = args[at]?.value;
  if (script === null || script === undefined || script.startsWith("-")) return byScript;
  return /system|getline|[|>@]/.test(script.replaceAll("||", "").replaceAll(/>=/g, "")) ? byScript : { needs: "rule" };
}
