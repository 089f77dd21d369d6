/** The bill of a recording as a person reads it on a terminal. */
import { basename } from "node:path";
import type { BillBody, LedgerSum, Shortfall } from "@varve/protocol";
import { printable, table } from "./table.ts";

/** The dearest shortfalls that are printed; `--json` has more. */
const shownMax = 10;
const formats: Readonly<Record<BillBody["format"], string>> = { pi: "pi", "claude-code": "Claude Code" };

export function ledgerText(bill: BillBody): string {
  const sections = [head(bill), sums(bill), totals(bill), again(bill), dearest(bill)];
  return sections.filter((section) => section !== "").join("\n");
}

function head(bill: BillBody): string {
  const { untold } = bill.sum;
  const lines = [
    `${printable(basename(bill.path))}: ${plural(bill.sum.requests, "request")}, recorded by ${formats[bill.format]}`,
  ];
  if (untold > 0)
    lines.push(`${plural(untold, "request")} broke off before a token was told; that cost is not in here.`);
  if (bill.unreadable > 0) lines.push(`${plural(bill.unreadable, "line")} could not be read and are not in here.`);
  return `${lines.join("\n")}\n`;
}

function sums(bill: BillBody): string {
  const columns = ["model", "requests", "fresh", "read", "written", "output", "cost"];
  const rows = bill.models.map(({ model, sum }) => sumRow(printable(model), sum));
  const total = rows.length > 1 ? [sumRow("all", bill.sum)] : [];
  return table([columns, ...rows, ...total], ["left", "right", "right", "right", "right", "right", "right"]);
}

function sumRow(name: string, sum: LedgerSum): readonly string[] {
  const { requests, fresh, read, write5m, write1h, output } = sum;
  return [name, ...[requests, fresh, read, write5m + write1h, output].map(count), costOf(sum)];
}

/** Requests that told nothing are said above; others without a price make the sum a lower bound. */
function costOf({ price, unpriced, untold, requests }: LedgerSum): string {
  if (unpriced > untold) return price === 0 ? "unknown" : `at least ${money(price)}`;
  return unpriced === requests ? "unknown" : money(price);
}

function totals({ told, sum }: BillBody): string {
  const lines = [];
  if (told !== null) lines.push(`The recording itself says ${money(told)}; the cost above is at today's list prices.`);
  else lines.push("The cost is at today's list prices.");
  if (sum.attainable > 0)
    lines.push(`Read ${percent(sum.attained / sum.attainable)} of what could have been read from the cache.`);
  if (sum.saved !== 0)
    lines.push(
      `The cache ${sum.saved > 0 ? "saved" : "cost"} ${money(Math.abs(sum.saved))} against sending everything fresh.`,
    );
  return `${lines.join("\n")}\n`;
}

function again({ rewritten, causes }: BillBody): string {
  if (causes.length === 0) return "Nothing was paid for twice: each request read what the one before it left.\n";
  const share = rewritten.share === null ? "" : `, ${percent(rewritten.share)} of the bill`;
  const more =
    rewritten.price === null ? "at an unknown price" : `for ${money(rewritten.price)} more than reading them${share}`;
  const rows = causes.map(({ kind, requests, tokens, price }) => [
    causeNames[kind],
    count(requests),
    count(tokens),
    moneyOr(price),
  ]);
  return [
    `Paid for again: ${count(rewritten.tokens)} tokens that had been sent before, ${more}.\n`,
    table([["why", "requests", "tokens", "more"], ...rows], ["left", "right", "right", "right"]),
  ].join("");
}

function dearest({ shortfalls }: BillBody): string {
  if (shortfalls.length === 0) return "";
  const rows = shortfalls
    .slice(0, shownMax)
    .map(({ request, at, model, attainable, read, price, cause }) => [
      `#${request + 1}`,
      new Date(at).toISOString().replace("T", " ").slice(0, 19),
      printable(model),
      `${count(read)} of ${count(attainable)}`,
      moneyOr(price),
      whyOf(cause),
    ]);
  const columns = ["request", "time (UTC)", "model", "read", "more", "why"];
  return `The dearest:\n${table([columns, ...rows], ["left", "left", "left", "right", "right", "left"])}`;
}

/** What a recording can tell: it has no rows, and says nothing of the prompt that its tool made. */
const causeNames: Readonly<Record<Shortfall["kind"], string>> = {
  expired: "the cache expired",
  model: "another model",
  options: "another thinking level",
  prefix: "system prompt or tools changed",
  compaction: "earlier turns were summed up",
  guard: "earlier text changed",
  provider: "not explained by the recording",
};

function whyOf({ kind, idleMs }: Shortfall): string {
  return idleMs === undefined ? causeNames[kind] : `${causeNames[kind]}: ${duration(idleMs)} of silence`;
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} days`;
}

const count = (tokens: number): string => tokens.toLocaleString("en-US");
const money = (usd: number): string =>
  `$${usd.toLocaleString("en-US", { minimumFractionDigits: 4, maximumFractionDigits: 4 })}`;
const moneyOr = (usd: number | null): string => (usd === null ? "unknown" : money(usd));
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const plural = (number: number, noun: string): string => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
