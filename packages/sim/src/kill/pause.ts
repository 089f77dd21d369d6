/** Waits out a drawn span. Only for when something happens (a kill, the next word of a model), never in place of an event. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
