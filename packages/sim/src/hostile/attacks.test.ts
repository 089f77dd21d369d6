import { expect, test } from "vitest";
import { attacks } from "./attacks.ts";

test("[SIM-75] there are more than sixty attacks, each under a name and a text of its own, and half of them name the evil host", () => {
  const all = attacks("http://evil.example");
  expect(all.length).toBeGreaterThan(60);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(new Set(all.map(({ text }) => text)).size).toBe(all.length);
  expect(all.filter(({ text }) => text.includes("evil.example")).length).toBeGreaterThan(25);
});
