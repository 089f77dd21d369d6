import { describe, expect, test } from "vitest";
import { type BrowserSurroundings, browserFacts } from "./browser-facts.ts";
import { copyError } from "./copy-error.ts";

const best: BrowserSurroundings = {
  secure: true,
  clipboard: true,
  notifications: "default",
  standalone: false,
  locks: true,
  outbox: { kind: "kept" },
};
const plain: BrowserSurroundings = { ...best, secure: false, clipboard: false, notifications: "denied", locks: false };
const told = (around: BrowserSurroundings, name: string) => browserFacts(around).find((fact) => fact.name === name);

describe("over plain http from another machine", () => {
  test.each(["Installing", "Notifications"])("%s is off and says why", (name) => {
    expect(told(plain, name)).toMatchObject({ works: false, text: expect.stringMatching(/^Off: .*plain http/) });
  });

  test("the way on is named once: https, localhost or a tunnel", () => {
    expect(told(plain, "Address")?.text).toMatch(/https .*localhost .*tunnel/);
  });

  test("copying and unsent messages work, and say how", () => {
    expect(told(plain, "Copying")).toMatchObject({ works: true, text: expect.stringContaining("selecting") });
    expect(told(plain, "Unsent messages")).toMatchObject({ works: true, text: expect.stringContaining("lease") });
  });

  test("a failed copy names the reason and the way on", () => {
    const error = copyError("insecure");
    expect(error.message).toContain("plain http");
    expect(error.hint).toMatch(/by key or by a long press.*https/);
    expect(copyError("refused").message).toBe("The browser did not allow copying.");
  });
});

test.each<[string, boolean, string, Partial<BrowserSurroundings>]>([
  ["Address", true, "nothing is turned off", {}],
  ["Copying", true, "Works.", {}],
  ["Installing", true, "menu of the browser", {}],
  ["Installing", true, "an app of its own", { standalone: true }],
  ["Notifications", false, "Not sent by this version", { notifications: "granted" }],
  ["Notifications", false, "blocked", { notifications: "denied" }],
  ["Notifications", false, "has none", { notifications: "missing" }],
  ["Unsent messages", true, "Kept in this browser", {}],
  ["Unsent messages", false, "Lost with it.", { outbox: { kind: "memory", message: "Lost with it." } }],
])("%s (works: %s): %s", (name, works, part, around) => {
  expect(told({ ...best, ...around }, name)).toMatchObject({ works, text: expect.stringContaining(part) });
});
