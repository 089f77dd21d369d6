/** Settings that belong to the server as a whole, and the plain files that belong to the person. */
import { join } from "node:path";
import {
  hiddenNamePattern,
  type ModelRegistry,
  type PriceOverrides,
  privateHostPattern,
  turnLimits,
} from "@varve/agent";
import type { Log } from "@varve/log";
import { type Fault, fault, isFault } from "@varve/protocol";
import { z } from "zod";

export interface SettingPorts {
  readonly log: Pick<Log, "settings" | "putSetting">;
  readonly models: Pick<ModelRegistry, "resolve" | "list" | "setOverrides">;
  readonly home: string;
  /** Told at the start and at each change: which environment variables no child may see. */
  readonly hidden?: (names: readonly string[]) => void;
}

const nameCharsMax = 200;
/** Models whose prices a person may set; one more is refused. */
const overridesMax = 200;
/** Names of variables, and beginnings and ends of such, that a person may hide. */
const hiddenEnvMax = 100;
/** Hosts of private networks that a person may let tools fetch from; one more is refused. */
const privateHostsMax = 100;

const rate = z.number().nonnegative().max(1_000_000).optional();
const overrideSchema = z.strictObject({
  contextTokens: z.number().int().positive().optional(),
  prices: z.strictObject({ input: rate, output: rate, read: rate, write5m: rate, write1h: rate }).optional(),
});
const modelName = z
  .string()
  .regex(/^[^/]+\/.+$/, "a model is named <credential>/<model>")
  .max(nameCharsMax);

/** What may be set, and what is legal there. Null stands for the default. */
const fields = {
  defaultModel: z.string().max(nameCharsMax),
  /** US dollars that all tabs together may cost on one day of the server's. Default: no limit. */
  dayMoneyMax: z.number().positive().max(1_000_000),
  /** Requests of one turn, where its tab sets none. */
  defaultStepsMax: z.number().int().positive().max(100_000),
  /** Prices and windows of models, by name, that win over the built-in table. */
  priceOverrides: z
    .record(modelName, overrideSchema)
    .refine((models) => Object.keys(models).length <= overridesMax, `at most ${overridesMax} models`),
  /** Environment variables that no child of a tool sees, and whose values are replaced wherever they show. */
  hiddenEnv: z
    .array(z.string().regex(hiddenNamePattern, "a name of a variable, or a part of one behind or before a *"))
    .max(hiddenEnvMax),
  /** Hosts of this machine and of private networks that `fetch` may reach. Default: none. */
  fetchPrivateHosts: z
    .array(z.string().regex(privateHostPattern, "a host, or a host and a port, in lower case"))
    .max(privateHostsMax),
};
const schema = z.object(fields).partial();
type Values = { readonly [K in keyof typeof fields]: z.infer<(typeof fields)[K]> | null };
type Name = keyof Values;

/** Under which key the log keeps each. */
const keys: Readonly<Record<Name, string>> = {
  defaultModel: "server.default-model",
  dayMoneyMax: "server.day-money-max",
  defaultStepsMax: "server.default-steps-max",
  priceOverrides: "server.price-overrides",
  hiddenEnv: "server.hidden-env",
  fetchPrivateHosts: "server.fetch-private-hosts",
};
const nothing: Values = {
  defaultModel: null,
  dayMoneyMax: null,
  defaultStepsMax: null,
  priceOverrides: null,
  hiddenEnv: null,
  fetchPrivateHosts: null,
};
const names: readonly Name[] = [
  "defaultModel",
  "dayMoneyMax",
  "defaultStepsMax",
  "priceOverrides",
  "hiddenEnv",
  "fetchPrivateHosts",
];

export class Settings {
  readonly #ports: SettingPorts;
  #values: Values;

  private constructor(ports: SettingPorts, values: Values) {
    this.#ports = ports;
    this.#values = values;
    ports.models.setOverrides(this.priceOverrides);
    ports.hidden?.(this.hiddenEnv);
  }

  static async load(ports: SettingPorts): Promise<Settings> {
    const stored = await ports.log.settings();
    return new Settings(
      ports,
      Object.assign({ ...nothing }, ...names.map((name) => readStored(name, stored[keys[name]]))),
    );
  }

  /** What a person chose; null: the best that is there. */
  get defaultModel(): string | null {
    return this.#values.defaultModel;
  }
  /** US dollars; null: no limit. */
  get dayMoneyMax(): number | null {
    return this.#values.dayMoneyMax;
  }
  get defaultStepsMax(): number {
    return this.#values.defaultStepsMax ?? turnLimits.stepsMax;
  }
  get fetchPrivateHosts(): readonly string[] {
    return this.#values.fetchPrivateHosts ?? [];
  }
  get hiddenEnv(): readonly string[] {
    return this.#values.hiddenEnv ?? [];
  }
  get priceOverrides(): PriceOverrides {
    return overridesOf(this.#values.priceOverrides ?? {});
  }

  /** The model of a tab that names none. A choice whose credential is gone gives way to what is there. */
  async modelForNewTab(): Promise<string> {
    const chosen = this.defaultModel;
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
      values: {
        ...this.#values,
        defaultStepsMax: this.defaultStepsMax,
        priceOverrides: this.priceOverrides,
        hiddenEnv: this.hiddenEnv,
        fetchPrivateHosts: this.fetchPrivateHosts,
      },
    };
  }

  /** Nothing is changed unless all of it is legal. Null puts a setting back to its default. */
  async change(values: Readonly<Record<string, unknown>>): Promise<Fault | null> {
    const strange = Object.keys(values).find((name) => !Object.hasOwn(keys, name));
    if (strange !== undefined) {
      return fault("unknown-setting", `There is no setting "${strange.slice(0, 80)}".`, "Nothing was changed.");
    }
    const parsed = schema.safeParse(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)));
    if (!parsed.success) return refused(parsed.error);
    const model = parsed.data.defaultModel;
    const resolved = model === undefined ? null : await this.#ports.models.resolve(model);
    if (isFault(resolved)) return resolved;
    for (const name of names) {
      if (!(name in values)) continue;
      const problem = await this.#keep(name, { [name]: parsed.data[name] ?? null });
      if (problem !== null) return problem;
    }
    return null;
  }

  async #keep(name: Name, value: Partial<Values>): Promise<Fault | null> {
    const kept = value[name] ?? null;
    const text = typeof kept === "string" || kept === null ? kept : JSON.stringify(kept);
    const problem = await this.#ports.log.putSetting(keys[name], text);
    if (problem !== null) return problem;
    this.#values = { ...this.#values, ...value };
    if (name === "priceOverrides") this.#ports.models.setOverrides(this.priceOverrides);
    if (name === "hiddenEnv") this.#ports.hidden?.(this.hiddenEnv);
    return null;
  }
}

/** What is stored and is not legal (a later Varve wrote it) counts as the default, and stays stored. */
function readStored(name: Name, text: string | null | undefined): Partial<Values> {
  if (text === null || text === undefined) return {};
  const parsed = schema.safeParse({ [name]: name === "defaultModel" ? text : jsonIn(text) });
  return parsed.success && parsed.data[name] !== undefined ? { [name]: parsed.data[name] } : {};
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not written by this server; it counts as the default.
    return undefined;
  }
}

/** Without the fields that are undefined: what is absent is left to the table. */
function overridesOf(models: NonNullable<Values["priceOverrides"]>): PriceOverrides {
  // The text of a JSON value has no undefined fields, and else it is the value.
  return JSON.parse(JSON.stringify(models)) as PriceOverrides;
}

function refused(error: z.ZodError): Fault {
  const issue = error.issues[0];
  const where = issue?.path.join(".") ?? "settings";
  return fault("bad-request", `${where}: ${issue?.message ?? "not legal"}.`, "Nothing was changed.");
}
