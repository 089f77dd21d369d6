import type { TabRecord, WorkspaceFrame } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { logId, tabId } from "./test-kit/owner.ts";
import { takeWorkspace } from "./workspace.ts";

const record = (id: string, title = id): TabRecord => ({
  id: tabId(id),
  title,
  cwd: "/w",
  model: "demo/demo",
  effort: "default",
  permissions: "ask",
  parentId: null,
  logId: logId("log"),
  tail: 0,
  state: "idle",
  waits: 0,
  queued: 0,
  seen: 0,
  createdAt: 0,
  updatedAt: 0,
  trashedAt: null,
  options: {},
  cost: { price: 0, unpriced: 0 },
  cacheUntil: null,
});
const frame = (n: number, parts: Partial<WorkspaceFrame> = {}): WorkspaceFrame => ({
  type: "workspace",
  boot: "b1",
  n,
  full: false,
  tabs: [],
  purged: [],
  ...parts,
});
const titles = (held: ReturnType<typeof takeWorkspace>) => held?.tabs.map((tab) => tab.title);
const held = takeWorkspace(undefined, frame(5, { full: true, tabs: [record("a"), record("b")] }));

describe("the list of tabs", () => {
  test("[CLIENT-17] records replace by id, new ones follow, purged ones go", () => {
    const next = takeWorkspace(held, frame(6, { tabs: [record("b", "B"), record("c")], purged: [tabId("a")] }));
    expect(titles(next)).toEqual(["B", "c"]);
  });
  test.each([
    ["a late one", frame(5, { tabs: [record("a", "late")] })],
    ["one of another start of the server", frame(9, { boot: "b2", tabs: [record("a", "other")] })],
  ])("[CLIENT-17] %s changes nothing", (_name, next) => {
    expect(takeWorkspace(held, next)).toBe(held);
  });
  test("[CLIENT-17] a full one replaces everything, whatever its number", () => {
    expect(titles(takeWorkspace(held, frame(1, { boot: "b2", full: true, tabs: [record("z")] })))).toEqual(["z"]);
    expect(takeWorkspace(undefined, frame(3))).toBeUndefined();
  });
});
