/** The same bodies with texts in them that would like to be more than text. */
import type { ContextBody, LedgerBody, Recording, SentRequestBody } from "@varve/protocol";
import { HOSTILE } from "./fake-hostile.ts";
import { contextBody, emptySum, ledgerBody, sentRequest, step } from "./fake-ledger-bodies.ts";

const text = (at: number): string => HOSTILE[at % HOSTILE.length] ?? "";
const ALL = HOSTILE.join("\n");

export function hostileLedger(now: number): LedgerBody {
  const sum = { ...emptySum, requests: 4, untold: 4, unpriced: 4 };
  const unknown = {
    fresh: null,
    read: null,
    write5m: null,
    write1h: null,
    output: null,
    price: null,
    attainable: null,
  };
  return {
    ...ledgerBody("hostile", now, true),
    own: sum,
    whole: sum,
    children: HOSTILE.map((title, at) => ({ ...childOf(now, at), title, sum })),
    models: HOSTILE.map((model) => ({ model, sum })),
    steps: HOSTILE.map((model, at) => step(10 + at, now, { model, ...unknown })).reverse(),
  };
}

const childOf = (now: number, at: number) => ({ tab: ledgerBody(`child-${at}`, now, true).tab });

export function hostileContext(): ContextBody {
  const body = contextBody(0, false);
  const unknown = { tokens: 0, read: 0, written: 0, fresh: 0, price: null, priceNow: null, note: ALL };
  return {
    ...body,
    meter: { tokens: null, estimated: true, window: null, compactAt: null },
    cache: { ttl: null, until: null, tokens: null, lossPrice: null },
    changes: HOSTILE.map((name, at) => ({ topic: "instructions", name, change: "edited", detail: text(at + 1) })),
    tell: unknown,
    rebuild: unknown,
    compact: null,
    warm: { ...body.warm, state: "unsupported", refreshPrice: null, missPrice: null, breakEven: null },
  };
}

export function hostileRequest(now: number): SentRequestBody {
  const body = sentRequest(now, new URLSearchParams("from=0"));
  return {
    ...body,
    model: text(0),
    options: { text: ALL },
    intact: false,
    usage: null,
    blocks: HOSTILE.map((json, index) => ({ ...blockOf(body), index, json, state: "unknown" })),
  };
}

function blockOf({ blocks: [first] }: SentRequestBody) {
  if (first === undefined) throw new Error("a block was expected");
  return first;
}

export const hostileRecordings = (now: number): readonly Recording[] => [
  { id: "../etc", format: "pi", path: `/home/${text(1)}\u202egpj.exe`, title: text(0), bytes: 0, modifiedAt: now },
];
