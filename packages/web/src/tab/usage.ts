import type { LogChunk, TurnId } from "@varve/protocol";

/** What a turn took, summed over its steps. Null where no step of it was told: unknown is never 0. */
export interface TurnUsage {
  readonly steps: number;
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
  readonly price: number | null;
  readonly tookMs: number;
  /** seq of the turn's last row: where a fork would begin. */
  readonly endSeq: number;
}

type Numbers = { -readonly [K in keyof TurnUsage]: TurnUsage[K] };

/** Turns that ended within the rows held, by id. */
export function usageByTurn(rows: readonly LogChunk[]): ReadonlyMap<TurnId, TurnUsage> {
  const open = new Map<TurnId, { readonly startedAt: number; readonly sums: Numbers }>();
  const ended = new Map<TurnId, TurnUsage>();
  for (const row of rows) {
    if (row.turnId === "") continue;
    const turn = open.get(row.turnId) ?? { startedAt: row.createdAt, sums: nothing() };
    open.set(row.turnId, turn);
    if (row.type !== "system") continue;
    if (row.data.kind === "usage") add(turn.sums, row.data);
    if (row.data.kind === "turn-end") {
      ended.set(row.turnId, { ...turn.sums, tookMs: row.createdAt - turn.startedAt, endSeq: row.seq });
    }
  }
  return ended;
}

type UsageData = Extract<Extract<LogChunk, { type: "system" }>["data"], { kind: "usage" }>;

const nothing = (): Numbers => ({
  steps: 0,
  input: null,
  cached: null,
  output: null,
  price: null,
  tookMs: 0,
  endSeq: 0,
});

function add(sums: Numbers, usage: UsageData): void {
  const input = plus(plus(plus(usage.fresh, usage.read), usage.write5m), usage.write1h);
  // A try that broke off is paid for, and is no step: the one after it is.
  if ((usage.purpose === undefined || usage.purpose === "step") && usage.cut !== true) sums.steps += 1;
  sums.input = plus(sums.input, input);
  sums.cached = plus(sums.cached, usage.read);
  sums.output = plus(sums.output, usage.output);
  sums.price = plus(sums.price, usage.price);
}

const plus = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : a + b);

export const countText = (n: number): string => {
  if (n < 1000) return String(n);
  if (n < 1_000_000) return `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
};

export function usageText(usage: TurnUsage): string {
  const parts = [usage.steps === 1 ? "1 step" : `${usage.steps} steps`];
  if (usage.input !== null) parts.push(`${countText(usage.input)} in`);
  if (usage.input !== null && usage.input > 0 && usage.cached !== null) {
    parts.push(`${Math.round((100 * usage.cached) / usage.input)} % from cache`);
  }
  if (usage.output !== null) parts.push(`${countText(usage.output)} out`);
  if (usage.price !== null) parts.push(`$${usage.price.toFixed(usage.price < 0.1 ? 4 : 2)}`);
  return parts.join(" · ");
}
