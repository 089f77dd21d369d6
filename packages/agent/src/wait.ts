/** Waiting that a signal ends at once. */
import type { Clock } from "@varve/protocol";

/** Resolves when the signal aborts, at once if it has. Never rejects. `done` takes the listener away. */
export function aborted(signal: AbortSignal): { readonly promise: Promise<"aborted">; readonly done: () => void } {
  if (signal.aborted) return { promise: Promise.resolve("aborted"), done: () => undefined };
  let listener: () => void = () => undefined;
  const promise = new Promise<"aborted">((resolve) => {
    listener = () => resolve("aborted");
    signal.addEventListener("abort", listener, { once: true });
  });
  return { promise, done: () => signal.removeEventListener("abort", listener) };
}

/** What the work answers, or "aborted" when the signal comes first: the work then goes on unheard, its fault too. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | "aborted"> {
  const abort = aborted(signal);
  work.catch(() => undefined); // Heard below unless the signal won; then nobody is left to tell.
  try {
    return await Promise.race([work, abort.promise]);
  } finally {
    abort.done();
  }
}

/** Waits so many milliseconds, or until the signal aborts. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const abort = aborted(signal);
  await new Promise<void>((resolve) => {
    const timer = clock.setTimer(ms, resolve);
    void abort.promise.then(() => {
      timer.cancel();
      resolve();
    });
  });
  abort.done();
}
