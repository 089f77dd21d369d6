/** How long an awaited event may take before a test ends with the sentence of what it waited for. */
const deadlineMs = 30_000;

/** Awaits an event of the world. The deadline is there for the message alone: nothing here waits for time to pass. */
export async function within<T>(what: string, event: Promise<T>, ms: number = deadlineMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not happen within ${ms / 1_000} s: ${what}`)), ms);
  });
  try {
    return await Promise.race([event, late]);
  } finally {
    clearTimeout(timer);
  }
}
