import type { ContextBody } from "@varve/protocol";
import { unreachable } from "@varve/protocol";
import { clockText } from "./expiry-text.ts";
import { moneyText } from "./money-text.ts";

type Warm = ContextBody["warm"];

const timesText = (count: number): string => (count === 1 ? "once" : `${count} times`);

export function warmState(warm: Warm, now: number): string {
  const done = warm.count === 0 ? "" : ` Refreshed ${timesText(warm.count)} for ${moneyText(warm.price)}.`;
  switch (warm.state) {
    case "off":
      return `Off.${done}`;
    case "unsupported":
      return "This kind of model has no way to keep its cache warm.";
    case "waiting":
      return warm.nextAt === null
        ? `On; it begins when the tab is idle and something is cached.${done}`
        : `On; the next refresh comes in ${clockText(Math.max(0, Math.ceil((warm.nextAt - now) / 1000)))}.${done}`;
    case "over":
      return `The allowance is used up, so the cache will expire.${done}`;
    case "running":
      return `Refreshing now.${done}`;
    default:
      return unreachable(warm.state);
  }
}

/** What one refresh costs against one miss; null where either is not known. */
export function breakEvenText({ refreshPrice, missPrice, breakEven }: Warm): string | null {
  if (refreshPrice === null || missPrice === null) return null;
  const costs = `A refresh costs about ${moneyText(refreshPrice)}, a miss about ${moneyText(missPrice)} more than a read`;
  return breakEven === null ? `${costs}.` : `${costs}: ${breakEven} refreshes cost as much as one miss.`;
}
