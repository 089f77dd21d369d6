import { idPattern } from "@varve/protocol";
import { expect, test } from "vitest";
import { createFakeIds, createSeededIds } from "./fake-ids.ts";

test("counting ids count over all kinds and are legal", () => {
  const ids = createFakeIds();
  expect([ids.tab(), ids.chunk(), ids.turn()]).toEqual(["id-000001", "id-000002", "id-000003"]);
  expect(createFakeIds("row").log()).toBe("row-000001");
  expect(ids.client()).toMatch(idPattern);
});

test("seeded ids are UUIDv7 of the given time and repeat for a seed", () => {
  const make = (seed: number) => {
    const ids = createSeededIds(seed, () => Date.UTC(2026, 0, 1));
    return [ids.chunk(), ids.chunk()];
  };
  expect(make(1)).toEqual(make(1));
  expect(make(1)).not.toEqual(make(2));
  expect(new Set(make(1)).size).toBe(2);
  for (const id of make(1)) expect(id).toMatch(/^019b76da-a800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
