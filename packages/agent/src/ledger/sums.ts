/** Sums of requests, in the shape in which the ledger's routes answer. Pure. */
import type { BillSum } from "@varve/log";
import type { LedgerSum } from "@varve/protocol";
import type { ModelPrices } from "../model/facts.ts";
import type { UsageData } from "./price.ts";
import { savedOf } from "./price.ts";

export function emptySum(): LedgerSum {
  return {
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
}

/** `prices`: of the model that made the request; only `saved` needs them. */
export function addUsage(sum: LedgerSum, usage: UsageData, prices: ModelPrices | null): LedgerSum {
  return addSums(sum, sumOfUsage(usage, prices));
}

export function addSums(a: LedgerSum, b: LedgerSum): LedgerSum {
  return {
    requests: a.requests + b.requests,
    untold: a.untold + b.untold,
    fresh: a.fresh + b.fresh,
    read: a.read + b.read,
    write5m: a.write5m + b.write5m,
    write1h: a.write1h + b.write1h,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    attainable: a.attainable + b.attainable,
    attained: a.attained + b.attained,
    price: a.price + b.price,
    unpriced: a.unpriced + b.unpriced,
    saved: a.saved + b.saved,
    warm: { requests: a.warm.requests + b.warm.requests, price: a.warm.price + b.warm.price },
  };
}

/** What the log has added up, of one model. `saved` is told at the rates of small requests: a sum has no size of its own. */
export function sumOfBill(bill: BillSum, prices: ModelPrices | null): LedgerSum {
  const { requests, untold, fresh, read, write5m, write1h, output, reasoning } = bill;
  const { attainable, attained, price, unpriced } = bill;
  const isWarm = bill.purpose === "warm";
  return {
    requests,
    untold,
    fresh,
    read,
    write5m,
    write1h,
    output,
    reasoning,
    attainable,
    attained,
    price,
    unpriced,
    saved: savedOf(bill, prices === null ? null : { ...prices, tiers: [] }),
    warm: { requests: isWarm ? requests : 0, price: isWarm ? price : 0 },
  };
}

function sumOfUsage(usage: UsageData, prices: ModelPrices | null): LedgerSum {
  const { fresh, read, write5m, write1h, output, reasoning, price, attainable } = usage;
  const told = [fresh, read, write5m, write1h, output, reasoning].some((tokens) => tokens !== null);
  const bothKnown = attainable !== null && read !== null;
  const isWarm = usage.purpose === "warm";
  return {
    requests: 1,
    untold: told ? 0 : 1,
    fresh: fresh ?? 0,
    read: read ?? 0,
    write5m: write5m ?? 0,
    write1h: write1h ?? 0,
    output: output ?? 0,
    reasoning: reasoning ?? 0,
    attainable: bothKnown ? attainable : 0,
    attained: bothKnown ? Math.min(attainable, read) : 0,
    price: price ?? 0,
    unpriced: price === null ? 1 : 0,
    saved: savedOf(usage, prices),
    warm: { requests: isWarm ? 1 : 0, price: isWarm ? (price ?? 0) : 0 },
  };
}
