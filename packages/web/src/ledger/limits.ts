/** What the forms of this room begin with and allow. The server has the last word. */
export const warmDefaults = { countMax: 6, moneyMax: 0.5 } as const;
export const warmCountMax = 50;
export const compactShares = [0.5, 0.6, 0.7, 0.8, 0.9] as const;
export const compactDefaultShare = 0.8;
/** Requests of one turn when nothing else is set. */
export const stepsDefault = 200;
/** Spans that the chart can show, in days. */
export const usageSpans = [7, 30, 90] as const;
/** Earlier blocks of a request that one click brings. */
export const earlierBlocks = 100;
