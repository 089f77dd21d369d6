/** The generated table of prices and limits, decoded. Written by `npm run models`, never by hand. */
import { assert } from "@varve/protocol";
import file from "./models.gen.json" with { type: "json" };
import { retiredModels } from "./retired.ts";
import type { Rate, TableRow, TableTier } from "./row.ts";

const tables: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>> = file.providers;

export const tableSource: string = file.source;
export const tableColumns: readonly string[] = file.columns;

/** The row of exactly this id, or null. `table` is a provider, or a vendor with a table of its own. */
export function tableRow(table: string, id: string): TableRow | null {
  const row = own(own(tables, table), id);
  return row === undefined ? (own(own(retiredModels, table), id) ?? null) : decodeRow(row);
}

/** Names come from outside: "constructor" is no table. */
function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

export const tableIds = (table: string): readonly string[] => Object.keys(tables[table] ?? {});

function decodeRow(row: unknown): TableRow {
  assert(Array.isArray(row) && row.length >= 6, "a row of the model table has six columns or more");
  const [context, most, input, output, read, write, tiers] = row;
  const rates = [rate(context), rate(most), rate(input), rate(output), rate(read), rate(write)] as const;
  if (tiers === undefined) return rates;
  assert(Array.isArray(tiers), "tiers are a list");
  return [...rates, tiers.map(decodeTier)];
}

function decodeTier(tier: unknown): TableTier {
  assert(Array.isArray(tier) && typeof tier[0] === "number", "a tier begins above a number of tokens");
  return [tier[0], rate(tier[1]), rate(tier[2]), rate(tier[3]), rate(tier[4])];
}

function rate(value: unknown): Rate {
  assert(
    value === null || (typeof value === "number" && value >= 0),
    "a figure of the model table is a number or null",
  );
  return value;
}
