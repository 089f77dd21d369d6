/** What reading recordings may cost, however large they are. */
export const recordingLimits = {
  /** A larger file is refused: it would keep the one who reads it busy for minutes. */
  fileBytesMax: 4 * 1024 * 1024 * 1024,
  /** Read at once. */
  chunkBytes: 256 * 1024,
  /** A longer line is counted as unreadable and never held. */
  lineBytesMax: 16 * 1024 * 1024,
  /** Lines without a sign of a format after which a file is none of ours. */
  formatLinesMax: 50,
  /** Entries whose place in their chain is remembered; the older half is forgotten, and what follows it joins the newest chain. */
  tipsMax: 100_000,
  /** Requests that may still change (one is written on several lines, or once more after a resume); the older half is closed. */
  requestsOpenMax: 100_000,
  /** Ids of closed requests by which a repetition is known; the older half is forgotten. */
  requestsKnownMax: 500_000,
  /** Of an id or a model's name; a longer one is none. */
  nameCharsMax: 500,
  /** Models that are told apart; what others cost counts in the whole alone. */
  modelsMax: 500,
  /** Tokens of a request, and its US dollars; more is taken for a mistake. */
  figureMax: 1e12,
  /** The dearest shortfalls that a bill lists. */
  shortfallsMax: 50,
  /** Recordings that are listed, the newest; and what is looked at to find them. */
  foundMax: 100,
  filesMax: 20_000,
  foldersMax: 5_000,
  depthMax: 4,
  /** Of each listed recording, for its title. */
  titleBytesMax: 64 * 1024,
  titleCharsMax: 80,
} as const;
