import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { follow, type Model, search, settle } from "./search.ts";

/** A walk on a grid, from the corner: one step right or down at a time. */
interface Place {
  readonly x: number;
  readonly y: number;
}
type Step = "right" | "down";
const grid = (size: number, bad: (place: Place) => boolean = () => false): Model<Place, Step> => ({
  initial: { x: 0, y: 0 },
  acts: ({ x, y }) => [...(x < size - 1 ? (["right"] as const) : []), ...(y < size - 1 ? (["down"] as const) : [])],
  take: ({ x, y }, step) => ({ state: step === "right" ? { x: x + 1, y } : { x, y: y + 1 }, problem: null }),
  key: ({ x, y }) => `${x},${y}`,
  problem: (place) => (bad(place) ? `at ${place.x},${place.y}` : null),
});
const same = (a: Step, b: Step): boolean => a === b;

describe("the search", () => {
  test("[SIM-30] visits each state once and says that it has seen them all", () => {
    const end = search(grid(5), 1000);
    expect(end).toEqual({ states: 25, steps: 40, depth: 8, exhausted: true, violation: null });
  });
  test("[SIM-30] with too many states it says that it has not", () => {
    expect(search(grid(50), 100)).toMatchObject({ states: 100, exhausted: false, violation: null });
  });
  test("[SIM-31] the first violation is one of the shortest, and its trace leads to it", () => {
    fc.assert(
      fc.property(fc.nat(6), fc.nat(6), (x, y) => {
        const model = grid(7, (place) => place.x >= x && place.y >= y);
        const { violation } = search(model, 1000);
        expect(violation?.trace).toHaveLength(x + y);
        expect(violation?.problem).toBe(`at ${x},${y}`);
        expect(follow(model, violation?.trace ?? [], same).problem).toBe(`at ${x},${y}`);
      }),
    );
  });
  test("[SIM-31] what is wrong about a step is found although its end is known by another way", () => {
    const plain = grid(3);
    const model: Model<Place, Step> = {
      ...plain,
      take: (place, step) => ({
        state: plain.take(place, step).state,
        problem: step === "right" && place.x === 0 && place.y === 2 ? "that way" : null,
      }),
    };
    expect(search(model, 100).violation).toEqual({ trace: ["down", "down", "right"], problem: "that way" });
  });
  test("[SIM-31] acts that cannot be done where they stand are left out of a trace", () => {
    expect(follow(grid(2), ["right", "right", "down"], same)).toEqual({ state: { x: 1, y: 1 }, problem: null });
  });
  test("[SIM-32] settling does the allowed acts until none is left, and tells when that never ends", () => {
    const may = (step: Step): boolean => step === "down";
    expect(settle(grid(4), { x: 1, y: 0 }, { may, stepsMax: 10 })?.state).toEqual({ x: 1, y: 3 });
    expect(settle(grid(40), { x: 1, y: 0 }, { may, stepsMax: 10 })).toBeNull();
  });
});
