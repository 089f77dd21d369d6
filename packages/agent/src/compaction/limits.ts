/** Bounds of a compaction. Shares are of the model's window, or of the tab's last request where no window is known. */
export const compactionLimits = {
  /** The last turns stay as they are up to this share of the window, and never more than `keepOfBodyMax` of what there is. */
  keepShareMax: 0.2,
  keepOfBodyMax: 0.25,
  /** The person's own messages stay word for word, newest first, up to these tokens; what is left out is said. */
  userTokensMax: 20_000,
  userShareMax: 0.2,
  /** Of the rows left out that many are named; the rest is counted. */
  leftOutNamedMax: 20,
  /** A compaction that nobody asked for must win at least this share; else it is not worth its price yet. */
  gainShareMin: 0.1,
  /** One that a person asked for must win more than these: no summary is shorter. */
  gainTokensMin: 200,
  /** After one that was not worth it, the window must fill by this share more before it is looked at again. */
  lookAgainShare: 0.05,
  /** The request for the summary must fit: this share of the window is left for the question and the answer. */
  answerShare: 0.12,
  /** When even that did not fit, it is tried again over less of the tab; then the compaction has failed. */
  shrink: [1, 0.7, 0.45],
  /** Tries of the request for a summary when the provider is busy or its answer breaks off. */
  retriesMax: 3,
  /** Characters of a summary; a longer one is cut. */
  summaryCharsMax: 60_000,
} as const;

/** Tokens of a picture or file, whatever it holds. */
export const attachmentTokens = 1_600;
/** Tokens of a UTF-16 unit where no request of the tab has told yet, and the bounds for what one told. */
export const tokensPerChar = { unless: 0.3, min: 0.05, max: 1 } as const;
