/** What a run against a real account may use at most. Whatever would pass one of these is not sent. */
export const liveLimits = {
  /** Requests to one provider, tries after a failure included. */
  requestsMax: 60,
  /** Input of one request, as estimated before it leaves. */
  inputTokensMax: 12_000,
  /** Output of one request: the vendor's own limit is set to it. */
  outputTokensMax: 2_560,
  /** Input and output of one provider together: the bound that is left where prices are unknown. */
  tokensMax: 600_000,
  /** US dollars for the whole run, unless a person says otherwise. */
  moneyDefault: 2,
  /** More than that cannot be asked for. */
  moneyMax: 50,
  /** Tries of one request after a failure that may pass. */
  retriesMax: 2,
  /** The longest that a provider's wish to wait is followed. */
  retryWaitMsMax: 60_000,
} as const;

/** Characters of one token in our own English text, on the careful side. */
export const charsPerTokenAtLeast = 3;
