import { parseTabId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { codeFrom } from "./access-code.ts";
import { DRAFT_CHARS_MAX, Drafts, type TextStore } from "./drafts.ts";
import { parseRoute, routeFragment } from "./route.ts";

class MapStore implements TextStore {
  readonly texts = new Map<string, string>();
  getItem = (key: string) => this.texts.get(key) ?? null;
  setItem = (key: string, value: string) => void this.texts.set(key, value);
  removeItem = (key: string) => void this.texts.delete(key);
}
const refuse = (): never => {
  throw new Error("storage is off");
};

describe("drafts", () => {
  test("are kept by tab and go when they are empty", () => {
    const store = new MapStore();
    const drafts = new Drafts(store);
    drafts.write("a", "half a tho");
    drafts.write("b", "other");
    expect(new Drafts(store).read("a")).toBe("half a tho");
    drafts.write("a", "");
    expect(drafts.read("a")).toBe("");
    expect([...store.texts.keys()]).toEqual(["varve.draft.b"]);
  });

  test("over the limit are not stored, and the older text does not come back", () => {
    const drafts = new Drafts(new MapStore());
    drafts.write("a", "short");
    drafts.write("a", "x".repeat(DRAFT_CHARS_MAX + 1));
    expect(drafts.read("a")).toBe("");
  });

  test.each([
    ["none", null],
    ["one that refuses", { getItem: refuse, setItem: refuse, removeItem: refuse }],
  ])("with a store of %s cost nothing but the reload", (_name, store) => {
    const drafts = new Drafts(store);
    drafts.write("a", "text");
    expect(drafts.read("a")).toBe("");
  });
});

describe("places", () => {
  const id = parseTabId("t-1");
  test.each([
    ["", { view: "home" }],
    ["#/", { view: "home" }],
    ["#/new", { view: "new" }],
    ["#/usage", { view: "usage" }],
    ["#/tab/t-1", { view: "tab", id }],
    ["#/tab/../x", { view: "home" }],
    ["#/tab/", { view: "home" }],
    ["#code=abc", { view: "home" }],
  ])("%j", (fragment, route) => {
    expect(parseRoute(fragment)).toEqual(route);
  });

  test.each(["#/", "#/new", "#/usage", "#/tab/t-1"])("%s is its own way back", (fragment) => {
    expect(routeFragment(parseRoute(fragment))).toBe(fragment);
  });
});

test.each([
  ["abc", "abc"],
  ["  abc \n", "abc"],
  ["http://127.0.0.1:4477/#code=abc", "abc"],
  ["#code=a%2Bb", "a+b"],
  ["#code=%", "%"],
  ["http://h/#x=1&code=abc&y=2", "abc"],
])("the code in %j is %j", (text, code) => {
  expect(codeFrom(text)).toBe(code);
});
