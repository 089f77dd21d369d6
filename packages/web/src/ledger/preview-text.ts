/** What an act would cost, before it is done. All of it is an estimate and says so. */
import type { Preview } from "@varve/protocol";
import { countText } from "../tab/usage.ts";
import { moneyText } from "./money-text.ts";

export const aboutMoney = (usd: number | null): string =>
  usd === null ? "a price that is not known" : usd > 0 && usd < 0.0001 ? moneyText(usd) : `about ${moneyText(usd)}`;

/** What the next request would do with the context: read it, write it again, or pay for it as new. */
export function previewTokens({ tokens, read, written, fresh }: Preview): string {
  if (tokens === 0) return "Nothing has been sent yet, so nothing is sent again.";
  const parts = [
    read > 0 ? `about ${countText(read)} are read from the cache` : "nothing is read from the cache",
    ...(written > 0 ? [`about ${countText(written)} are written to it`] : []),
    ...(fresh > 0 ? [`about ${countText(fresh)} are neither`] : []),
  ];
  return `Of about ${countText(tokens)} tokens ${parts.join(", ")}.`;
}

/** The price against that of changing nothing. */
export function previewPrice({ price, priceNow }: Preview): string {
  const next = `The next request costs ${aboutMoney(price)} before its own message and answer`;
  if (priceNow === null || price === null) return `${next}.`;
  const more = price - priceNow;
  if (Math.abs(more) < 0.0001) return `${next}, the same as without the change.`;
  return `${next}; without the change ${aboutMoney(priceNow)}.`;
}
