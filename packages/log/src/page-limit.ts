/** Rows in one page of the log, whoever asks; more is cut to this. The doors to clients have a lower one of their own. */
export const pageRowsMax = 10_000;
