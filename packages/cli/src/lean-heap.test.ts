import { getHeapSpaceStatistics } from "node:v8";
import { expect, test } from "vitest";
import { keepHeapLean } from "./lean-heap.ts";

const heap = (): number => getHeapSpaceStatistics().reduce((bytes, space) => bytes + space.space_used_size, 0);

test("what the start left behind is collected at once", () => {
  let left: unknown[] | null = Array.from({ length: 200_000 }, (_, at) => ({ at, text: `left behind ${at}` }));
  expect(left).toHaveLength(200_000);
  left = null;
  const before = heap();
  keepHeapLean();
  expect(before - heap()).toBeGreaterThan(4 * 1024 * 1024);
});
