import { describe, expect, test } from "vitest";
import { failAt, failingPort, failOn, failWhen } from "./fail-on.ts";

describe("a plan", () => {
  test.each([
    ["every third", failOn(3), [false, false, true, false, false, true]],
    ["every", failOn(1), [true, true, true, true, true, true]],
    ["the second and fifth", failAt(2, 5), [false, true, false, false, true, false]],
    ["from the fourth on", failWhen((call) => call >= 4), [false, false, false, true, true, true]],
  ])("%s", (_name, plan, expected) => {
    expect(expected.map(() => plan.next())).toEqual(expected);
    expect(plan.calls()).toBe(6);
    expect(plan.failures()).toBe(expected.filter(Boolean).length);
  });

  test("counts from one", () => {
    expect(() => failOn(0)).toThrow("counts from 1");
  });
});

test("[SIM-12] a failing port rejects before anything is written, and only in the named methods", async () => {
  class Disk {
    readonly #kept: string[] = [];
    async write(text: string): Promise<void> {
      this.#kept.push(text);
    }
    read(): readonly string[] {
      return this.#kept;
    }
  }
  const plan = failOn(2);
  const disk = failingPort(new Disk(), ["write"], { plan });
  await disk.write("a");
  await expect(disk.write("b")).rejects.toMatchObject({ code: "ENOSPC" });
  await disk.write("c");
  expect(disk.read()).toEqual(["a", "c"]);
  expect([plan.calls(), plan.failures()]).toEqual([3, 1]);
});
