/** Plans that once broke a rule, made small. They are replayed before anything else is tried. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { faultActs, type Plan, personActs, scopeNames, tabActs } from "./plan.ts";

const planSchema = z.object({
  seed: z.number().int(),
  scope: z.enum(scopeNames),
  devices: z.number().int().min(1).max(4),
  tabs: z.number().int().min(1).max(3),
  storage: z.enum(["memory", "sqlite"]),
  asks: z.boolean(),
  turnDeadlineMs: z.number().optional(),
  steps: z.array(
    z.object({
      afterMs: z.number().nonnegative(),
      act: z.enum([...personActs, ...tabActs, ...faultActs]),
      who: z.number().int(),
      tab: z.number().int(),
      pick: z.number().int(),
    }),
  ),
});
const entrySchema = z.object({
  /** The rule that was broken, and how it looked. */
  rule: z.string(),
  message: z.string(),
  plan: planSchema,
});

export interface CorpusEntry {
  readonly name: string;
  readonly rule: string;
  readonly message: string;
  readonly plan: Plan;
}

export function readCorpus(folder: string): readonly CorpusEntry[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => ({
    name: name.slice(0, -".json".length),
    ...entrySchema.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))),
  }));
}

/** The path of the file that was written. */
export function keepInCorpus(folder: string, { name, ...entry }: CorpusEntry): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.json`);
  writeFileSync(path, `${JSON.stringify(entry, null, 2)}\n`);
  return path;
}
