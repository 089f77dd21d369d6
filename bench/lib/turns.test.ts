import { expect, test } from "vitest";
import { inTurns } from "./turns.ts";

test("everybody runs once a round, and comes at each place equally often", async () => {
  const order: string[] = [];
  const one = (name: string) => async () => {
    order.push(name);
  };
  await inTurns(4, [one("a"), one("b"), one("c")]);
  expect(order.join("")).toBe("abcbcacababc");
});
