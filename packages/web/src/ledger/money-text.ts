/** Money as a person reads it. What is not known is said to be unknown, never shown as 0. */

/** US dollars, with four decimals where two would say nothing. */
export function moneyText(usd: number): string {
  if (usd < 0) return `−${moneyText(-usd)}`;
  if (usd === 0) return "$0.00";
  if (usd < 0.0001) return "under $0.0001";
  if (usd < 0.1) return `$${usd.toFixed(4)}`;
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

export const moneyOr = (usd: number | null): string => (usd === null ? "unknown" : moneyText(usd));

export interface Cost {
  readonly price: number;
  readonly unpriced: number;
}

/** A sum that leaves out requests without a known price says so. */
export function costText({ price, unpriced }: Cost): string {
  if (unpriced === 0) return moneyText(price);
  return price === 0 ? "unknown" : `at least ${moneyText(price)}`;
}

/** What `costText` leaves out, in words; "" when it leaves out nothing. */
export function unpricedText({ unpriced }: Pick<Cost, "unpriced">): string {
  if (unpriced === 0) return "";
  return unpriced === 1 ? "1 request has no known price" : `${unpriced} requests have no known price`;
}

export const addCost = (a: Cost, b: Cost): Cost => ({ price: a.price + b.price, unpriced: a.unpriced + b.unpriced });
