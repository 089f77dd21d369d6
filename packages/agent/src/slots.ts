/** A fixed number of places; whoever finds none free waits in line. */
export interface Slots {
  use<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(max: number): Slots {
  let used = 0;
  const line: (() => void)[] = [];
  return {
    async use(work) {
      if (used >= max) await new Promise<void>((resolve) => line.push(resolve));
      else used += 1;
      try {
        return await work();
      } finally {
        // A place goes straight to the next in line, so that nobody can slip in between.
        const next = line.shift();
        if (next === undefined) used -= 1;
        else next();
      }
    },
  };
}
