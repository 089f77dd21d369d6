import { expect, test } from "vitest";
import { SharedEdge } from "./shared-tick.ts";

const endOfTask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("[HUB-14] all that go at the end of the task go in the order in which they asked, once each", async () => {
  const edge = new SharedEdge();
  const gone: string[] = [];
  edge.wait(() => gone.push("a"));
  edge.wait(() => {
    gone.push("b");
    edge.wait(() => gone.push("again"));
  });
  expect(gone).toEqual([]);
  await endOfTask();
  expect(gone).toEqual(["a", "b", "again"]);
});

test("[HUB-14] one that breaks keeps none of the others waiting", async () => {
  const gone: string[] = [];
  const thrown: unknown[] = [];
  const seen = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => thrown.push(error));
  try {
    const edge = new SharedEdge();
    edge.wait(() => gone.push("a"));
    edge.wait(() => {
      throw new Error("broken reader");
    });
    edge.wait(() => gone.push("c"));
    await endOfTask();
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of seen) process.on("uncaughtException", listener);
  }
  expect(gone).toEqual(["a", "c"]);
  expect(thrown).toEqual([new Error("broken reader")]);
});
