import type { BillSum } from "@varve/log";
import { parseTabId } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { UsageData } from "./price.ts";
import { addSums, addUsage, emptySum, sumOfBill } from "./sums.ts";

const prices = { input: 4, output: 20, read: 0.2, write5m: 5, write1h: 8, tiers: [] };
const usage = (more: Partial<UsageData> = {}): UsageData => ({
  kind: "usage",
  model: "a/m",
  fresh: 3,
  read: 1000,
  write5m: 200,
  write1h: null,
  output: 7,
  reasoning: 2,
  price: 0.5,
  attainable: 1100,
  ...more,
});
const untold = { fresh: null, read: null, write5m: null, write1h: null, output: null, reasoning: null };

describe("sums of requests", () => {
  test("[AGENT-149] add up what was told, and count what was not", () => {
    const requests = [
      usage(),
      usage({ ...untold, price: null, attainable: 1100 }),
      usage({ read: null, price: null }),
      usage({ read: 2000 }),
    ];
    const sum = requests.reduce((all, one) => addUsage(all, one, null), emptySum());
    expect(sum).toMatchObject({
      requests: 4,
      untold: 1,
      fresh: 9,
      read: 3000,
      write5m: 600,
      write1h: 0,
      output: 21,
      reasoning: 6,
      attainable: 2200,
      attained: 2100,
      price: 1,
      unpriced: 2,
      saved: 0,
    });
  });

  test("[AGENT-149] keep-warm requests are in the figures, and once more by themselves", () => {
    const sum = addUsage(addUsage(emptySum(), usage(), prices), usage({ purpose: "warm", price: 0.25 }), prices);
    expect(sum).toMatchObject({ requests: 2, price: 0.75, warm: { requests: 1, price: 0.25 } });
    const unpriced = addUsage(emptySum(), usage({ purpose: "warm", price: null }), prices);
    expect(unpriced).toMatchObject({ unpriced: 1, warm: { requests: 1, price: 0 } });
  });

  test("[AGENT-149] sums of parts are the sum of the whole, whatever the order", () => {
    const count = fc.option(fc.nat({ max: 10_000 }), { nil: null });
    const any = fc.record({ fresh: count, read: count, write5m: count, output: count, attainable: count });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 12 }), fc.nat(12), (parts, cut) => {
        const all = parts.map((part) => usage(part));
        const add = (some: readonly UsageData[]) => some.reduce((sum, one) => addUsage(sum, one, null), emptySum());
        expect(addSums(add(all.slice(0, cut)), add(all.slice(cut)))).toEqual(add(all));
        expect(addSums(add(all.slice(cut)), add(all.slice(0, cut)))).toEqual(add(all));
        expect(addSums(emptySum(), add(all))).toEqual(add(all));
      }),
    );
  });

  test("[AGENT-149] what the log added up comes to the same", () => {
    const one = usage();
    const tabId = parseTabId("t1");
    if (tabId === null) throw new Error("a tab id");
    const bill: BillSum = {
      tabId,
      model: one.model,
      purpose: "step",
      requests: 1,
      untold: 0,
      fresh: 3,
      read: 1000,
      write5m: 200,
      write1h: 0,
      output: 7,
      reasoning: 2,
      attainable: 1100,
      attained: 1000,
      price: 0.5,
      unpriced: 0,
      startedAt: 1,
    };
    expect(sumOfBill(bill, prices)).toEqual(addUsage(emptySum(), one, prices));
    expect(sumOfBill({ ...bill, purpose: "warm" }, prices).warm).toEqual({ requests: 1, price: 0.5 });
    expect(sumOfBill(bill, null).saved).toBe(0);
  });
});
