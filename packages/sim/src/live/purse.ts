/** What a run has used and may still use. Asked before each request, told after it. */
import type { ModelPrices, Rates } from "@varve/agent";
import { ratesFor } from "@varve/agent";
import { LimitReached } from "./failures.ts";

export interface PurseLimits {
  readonly requestsMax: number;
  readonly tokensMax: number;
  /** US dollars. */
  readonly moneyMax: number;
}

export interface Ahead {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars at the dearest; null: the price is unknown. */
  readonly money: number | null;
}

export class Purse {
  readonly #limits: PurseLimits;
  #requests = 0;
  #tokens = 0;
  #money = 0;
  #isPriced = true;

  constructor(limits: PurseLimits) {
    this.#limits = limits;
  }

  get requests(): number {
    return this.#requests;
  }
  get tokens(): number {
    return this.#tokens;
  }
  /** US dollars of what has a price. */
  get money(): number {
    return this.#money;
  }
  /** False once something was sent whose price nobody knows. */
  get isPriced(): boolean {
    return this.#isPriced;
  }

  /** Counts the request; throws `LimitReached` when it might pass a limit. */
  take(ahead: Ahead): void {
    const { requestsMax, tokensMax, moneyMax } = this.#limits;
    const { inputTokens, outputTokens, money } = ahead;
    if (this.#requests >= requestsMax) throw new LimitReached(`${requestsMax} requests are made`);
    if (this.#tokens + inputTokens + outputTokens > tokensMax) throw new LimitReached(`${tokensMax} tokens are used`);
    if (money !== null && this.#money + money > moneyMax) {
      throw new LimitReached(`one more request might pass $${moneyMax} (used: $${this.#money.toFixed(4)})`);
    }
    this.#requests += 1;
  }

  /** `money` null: what was billed has no known price. */
  book(tokens: number, money: number | null): void {
    this.#tokens += tokens;
    if (money === null) this.#isPriced = false;
    else this.#money += money;
  }
}

/** US dollars of one request at the dearest: nothing is read, all is written. Null where a rate is unknown. */
export function dearest(
  prices: ModelPrices | null,
  { inputTokens, outputTokens }: Omit<Ahead, "money">,
  isLong: boolean,
): number | null {
  if (prices === null) return null;
  const rates = ratesFor(prices, inputTokens);
  const input = dearestInput(rates, isLong);
  return input === null || rates.output === null ? null : (inputTokens * input + outputTokens * rates.output) / 1e6;
}

function dearestInput({ input, write5m, write1h }: Rates, isLong: boolean): number | null {
  if (input === null) return null;
  return Math.max(input, write5m ?? 0, isLong ? (write1h ?? 0) : 0);
}
