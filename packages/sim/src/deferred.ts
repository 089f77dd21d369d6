/** A promise that is settled from outside. A rejection that nobody awaits is not reported as unhandled. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

export function deferred<T>(): Deferred<T> {
  let settle: { resolve: (value: T) => void; reject: (error: Error) => void } | null = null;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Whoever awaits the promise sees the rejection; without this line one that nobody awaits would end the process.
  promise.catch(() => undefined);
  return {
    promise,
    resolve: (value) => settle?.resolve(value),
    reject: (error) => settle?.reject(error),
  };
}
