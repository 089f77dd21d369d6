/** Plausible figures. */
import type {
  BillBody,
  ContextBody,
  LedgerBody,
  LedgerStep,
  LedgerSum,
  Preview,
  Recording,
  SentBlock,
  SentRequestBody,
  UsageBody,
} from "@varve/protocol";
import { parseTabId } from "@varve/protocol";
import { known, turnId } from "./fake-rows.ts";

const minute = 60_000;
const day = 86_400_000;
const opus = "anthropic/claude-opus-4-8";

export const emptySum: LedgerSum = {
  requests: 0,
  untold: 0,
  fresh: 0,
  read: 0,
  write5m: 0,
  write1h: 0,
  output: 0,
  reasoning: 0,
  attainable: 0,
  attained: 0,
  price: 0,
  unpriced: 0,
  saved: 0,
  warm: { requests: 0, price: 0 },
};
const sum = (price: number, requests: number, more: Partial<LedgerSum> = {}): LedgerSum => ({
  ...emptySum,
  requests,
  price,
  fresh: 40 * requests,
  read: 31_000 * requests,
  write5m: 1_900 * requests,
  output: 420 * requests,
  reasoning: 160 * requests,
  attainable: 31_100 * requests,
  attained: 31_000 * requests,
  saved: price * 4,
  ...more,
});

export function step(usageSeq: number, now: number, more: Partial<LedgerStep> = {}): LedgerStep {
  const read = 20_000 + usageSeq * 300;
  return {
    requestSeq: usageSeq - 3,
    usageSeq,
    turnId: turnId(`turn-${Math.floor(usageSeq / 20)}`),
    step: Math.floor((usageSeq % 20) / 4),
    purpose: "step",
    model: opus,
    startedAt: now - (60 - usageSeq) * minute,
    endedAt: now - (60 - usageSeq) * minute + 9000,
    fresh: 12,
    read,
    write5m: 1840,
    write1h: 0,
    output: 402,
    reasoning: 120,
    price: 0.0342,
    attainable: read,
    cause: null,
    causePrice: null,
    ...more,
  };
}

export function emptyLedger(id: string): LedgerBody {
  const tab = known(parseTabId(id));
  return { tab, own: emptySum, whole: emptySum, children: [], turns: [], models: [], steps: [], more: false };
}

export function ledgerBody(id: string, now: number, older: boolean): LedgerBody {
  const newest = [
    step(56, now, { purpose: "warm", output: 0, write5m: 0, price: 0.0102, turnId: turnId("") }),
    step(52, now),
    step(48, now, {
      read: 0,
      write5m: 36_200,
      price: 0.2312,
      attainable: 34_400,
      cause: { kind: "expired", tokens: 34_400, idleMs: 370_000 },
      causePrice: 0.198,
    }),
    step(44, now, {
      model: "local/qwen3",
      fresh: null,
      read: null,
      write5m: null,
      write1h: null,
      price: null,
      attainable: null,
    }),
    step(40, now, { purpose: "compaction" }),
  ];
  const old = [
    step(24, now, { cause: { kind: "provider", tokens: 900 }, causePrice: null, attainable: 28_100 }),
    step(20, now, { write1h: null, reasoning: null }),
  ];
  const own = sum(0.4131, 7, { untold: 1, unpriced: 1, warm: { requests: 1, price: 0.0102 } });
  return {
    tab: known(parseTabId(id)),
    own,
    whole: sum(0.4331, 9, { unpriced: 1 }),
    children: [{ tab: known(parseTabId("child")), title: "Search", sum: sum(0.02, 2) }],
    turns: [
      { turnId: turnId("turn-1"), startedAt: now - 40 * minute, sum: sum(0.1, 3) },
      { turnId: turnId("turn-2"), startedAt: now - 12 * minute, sum: sum(0.3, 3, { unpriced: 1 }) },
      { turnId: turnId(""), startedAt: now - 4 * minute, sum: sum(0.0102, 1) },
    ],
    models: [
      { model: opus, sum: sum(0.4131, 6) },
      { model: "local/qwen3", sum: { ...emptySum, requests: 1, untold: 1, unpriced: 1 } },
    ],
    steps: older ? old : newest,
    more: !older,
  };
}

export const preview = (price: number | null, more: Partial<Preview> = {}): Preview => ({
  tokens: 42_300,
  read: 0,
  written: 42_300,
  fresh: 0,
  price,
  priceNow: 0.0212,
  ...more,
});

export function contextBody(now: number, undone: boolean): ContextBody {
  const done = { tokensBefore: 160_400, tokensAfter: 21_800, trigger: "auto", keepFrom: 7 } as const;
  return {
    meter: { tokens: 42_300, estimated: true, window: 200_000, compactAt: 160_000 },
    cache: { ttl: "5m", until: now + 200_000, tokens: 41_800, lossPrice: 0.2391 },
    changes: [
      {
        topic: "instructions",
        name: "/home/mika/code/envfile/AGENTS.md",
        change: "edited",
        detail: "3.1 KB, was 2.8 KB",
      },
      { topic: "tools", name: "recall", change: "added" },
    ],
    tell: preview(0.0281, { read: 41_800, written: 1100 }),
    rebuild: preview(0.2644, { note: "Thinking of earlier turns is kept." }),
    compact: { summary: preview(0.031, { read: 41_800, written: 400 }), after: preview(0.068, { tokens: 11_000 }) },
    compactions: [{ ...done, seq: 10, at: now - 50 * minute, undone }],
    warm: { state: "off", nextAt: null, count: 0, price: 0, refreshPrice: 0.0209, missPrice: 0.2391, breakEven: 11 },
  };
}

export function sentRequest(now: number, query: URLSearchParams): SentRequestBody {
  const from = Number(query.get("from") ?? 2);
  const block = (index: number, more: Partial<SentBlock>): SentBlock => ({
    index,
    role: "user",
    kind: "text",
    chars: 800,
    tokens: 200,
    state: "cached",
    marked: false,
    json: JSON.stringify({ type: "text", text: `Block ${index}` }, null, 2),
    clipped: false,
    ...more,
  });
  const blocks = [
    block(0, { role: "tools", kind: "tools", chars: 9000, tokens: 2400, clipped: true }),
    block(1, { role: "system", kind: "system", marked: true }),
    block(2, {}),
    block(3, { role: "assistant", kind: "thinking" }),
    block(4, { role: "assistant", kind: "call" }),
    block(5, { role: "tool", kind: "result", state: "written", marked: true }),
    block(6, { state: "fresh", marked: true }),
    block(7, { role: "user", kind: "file", state: "unknown" }),
  ];
  return {
    seq: 45,
    model: opus,
    at: now - 10 * minute,
    options: { max_tokens: 32_000, anthropic: { effort: "high" } },
    blocks: blocks.slice(from),
    skipped: from,
    tailHash: "0".repeat(64),
    intact: true,
    usage: step(48, now, { cause: { kind: "guard", tokens: 900, seq: 12 }, causePrice: 0.01 }),
  };
}

export function usageBody(now: number, count: number, dayMoneyMax: number | null): UsageBody {
  const price = (at: number): number => (at % 7 > 4 ? 0 : Math.round(((at * 37) % 11) * 53) / 100);
  const days = Array.from({ length: count }, (_, index) => {
    const at = count - 1 - index;
    const spent = sum(price(at), price(at) === 0 ? 0 : 40, at === 2 ? { unpriced: 6 } : {});
    return { day: new Date(now - at * day).toISOString().slice(0, 10), sum: price(at) === 0 ? emptySum : spent };
  });
  return {
    days,
    models: [
      { model: opus, sum: sum(38.12, 900) },
      { model: "local/qwen3", sum: { ...emptySum, requests: 12, untold: 12, unpriced: 12 } },
    ],
    tabs: [
      { tab: known(parseTabId("main")), title: "List the TODO comments and fix the first", sum: sum(0.4131, 7) },
      { tab: known(parseTabId("gone")), title: null, sum: sum(31.2, 700) },
      { tab: known(parseTabId("summed")), title: "A tab with a past", sum: sum(7.9, 200, { unpriced: 3 }) },
    ],
    today: days.at(-1)?.sum ?? emptySum,
    dayMoneyMax,
  };
}

export function recordings(now: number): readonly Recording[] {
  const home = "/home/mika";
  return [
    {
      id: "rec-1",
      format: "claude-code",
      path: `${home}/.claude/projects/-home-mika-code-envfile/5c1d.jsonl`,
      title: "Fix the release script",
      bytes: 4_812_000,
      modifiedAt: now - day,
    },
    {
      id: "broken",
      format: "pi",
      path: `${home}/.pi/agent/sessions/2026-11-20.jsonl`,
      title: "",
      bytes: 812,
      modifiedAt: now - 2 * day,
    },
  ];
}

export function billBody(now: number): BillBody {
  return {
    path: "/home/mika/.claude/projects/-home-mika-code-envfile/5c1d.jsonl",
    format: "claude-code",
    sum: sum(30.33, 453),
    told: 30.3302,
    models: [{ model: opus, sum: sum(30.33, 453) }],
    rewritten: { tokens: 1_240_000, price: 6.41, share: 0.2113 },
    causes: [
      { kind: "expired", requests: 9, tokens: 1_020_000, price: 5.31 },
      { kind: "provider", requests: 2, tokens: 220_000, price: null },
    ],
    shortfalls: [
      {
        request: 211,
        at: now - day,
        model: opus,
        attainable: 180_000,
        read: 0,
        cause: { kind: "expired", tokens: 180_000, idleMs: 1_900_000 },
        price: 0.92,
      },
    ],
    unreadable: 2,
  };
}
