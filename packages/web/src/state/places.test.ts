import { parseLogId, parseTabId, type TabRecord } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { known } from "../dev/fake-rows.ts";
import { codeFrom } from "./access-code.ts";
import { DRAFT_CHARS_MAX, Drafts, type TextStore } from "./drafts.ts";
import { parseRoute, routeFragment } from "./route.ts";
import { CLIENTS_MAX, Senders } from "./senders.ts";

class MapStore implements TextStore {
  readonly texts = new Map<string, string>();
  getItem = (key: string) => this.texts.get(key) ?? null;
  setItem = (key: string, value: string) => void this.texts.set(key, value);
  removeItem = (key: string) => void this.texts.delete(key);
}
const quietTab: TabRecord = {
  id: known(parseTabId("t")),
  logId: known(parseLogId("l")),
  title: "",
  cwd: "/w",
  model: "demo/demo",
  effort: "default",
  permissions: "ask",
  parentId: null,
  tail: 0,
  seen: 0,
  state: "idle",
  waits: 0,
  queued: 0,
  createdAt: 0,
  updatedAt: 0,
  trashedAt: null,
  options: {},
  cost: { price: 0, unpriced: 0 },
  cacheUntil: null,
};
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

  test("over the limit live as long as the page, and the older text does not come back", () => {
    const store = new MapStore();
    const drafts = new Drafts(store);
    drafts.write("a", "short");
    expect(drafts.unkept).toBe(false);
    const long = "x".repeat(DRAFT_CHARS_MAX + 1);
    drafts.write("a", long);
    expect([drafts.read("a"), drafts.unkept, new Drafts(store).read("a")]).toEqual([long, true, ""]);
    drafts.write("a", "short again");
    expect([drafts.unkept, new Drafts(store).read("a")]).toEqual([false, "short again"]);
  });

  test.each([
    ["none", null],
    ["one that refuses", { getItem: refuse, setItem: refuse, removeItem: refuse }],
  ])("with a store of %s cost nothing but the reload, and say so", (_name, store) => {
    const drafts = new Drafts(store);
    expect(drafts.read("a")).toBe("");
    drafts.write("a", "text");
    expect([drafts.read("a"), drafts.unkept]).toEqual(["text", true]);
    drafts.write("a", "");
    expect([drafts.read("a"), drafts.unkept]).toEqual(["", false]);
  });
});

describe("who sent a message", () => {
  const tab = (id: string, title: string) => ({ ...quietTab, id: known(parseTabId(id)), title });
  const tabs = [tab("t-1", "Port the parser"), tab("t-2", "")];
  test.each([
    ["c-1", ""],
    ["token", "from a program"],
    ["token:ci", "from the program “ci”"],
    ["c-2", "from another device"],
    ["agent:t-1", "from the agent of “Port the parser”"],
    ["agent:t-2", "from the agent of another tab"],
    ["agent:gone", "from the agent of another tab"],
    ["t-1", "from another device"],
  ])("%s: %j", (by, words) => {
    const senders = new Senders(new MapStore());
    senders.remember("c-1");
    expect(senders.words(by, tabs)).toBe(words);
  });

  test("is known over reloads, up to a limit", () => {
    const store = new MapStore();
    for (let i = 0; i <= CLIENTS_MAX; i++) new Senders(store).remember(`c-${i}`);
    const senders = new Senders(store);
    expect([senders.words("c-0", []), senders.words("c-1", [])]).toEqual(["from another device", ""]);
  });

  test("knows the windows of this browser that were opened later, and forgets none of them", () => {
    const store = new MapStore();
    const [first, second] = [new Senders(store), new Senders(store)];
    first.remember("c-1");
    second.remember("c-2");
    expect([first.words("c-2", []), second.words("c-1", [])]).toEqual(["", ""]);
    first.remember("c-3");
    expect(new Senders(store).words("c-2", [])).toBe("");
  });

  test.each(["{", "{}", "[1]"])("is unknown with a store that says %j", (text) => {
    const store = new MapStore();
    store.setItem("varve.clients", text);
    expect(new Senders(store).words("c-0", [])).toBe("from another device");
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
