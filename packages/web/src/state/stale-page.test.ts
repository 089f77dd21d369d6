import { describe, expect, test } from "vitest";
import type { TextStore } from "./drafts.ts";
import { BUILDS_MAX, Reloads, type StaleChoice, type StaleFacts, staleChoice } from "./stale-page.ts";

const free: StaleFacts = { reloadedBefore: false, uploading: false, typing: false };
const refuse = (): never => {
  throw new Error("storage is off");
};
function mapStore(): TextStore {
  const texts = new Map<string, string>();
  return {
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, value) => void texts.set(key, value),
    removeItem: (key) => void texts.delete(key),
  };
}

describe("a page of another build", () => {
  test.each<[StaleChoice, Partial<StaleFacts>]>([
    ["reload", {}],
    ["uploading", { uploading: true }],
    ["uploading", { uploading: true, typing: true }],
    ["typing", { typing: true }],
    ["again", { reloadedBefore: true }],
    ["again", { reloadedBefore: true, uploading: true, typing: true }],
  ])("%s with %j", (choice, part) => {
    expect(staleChoice({ ...free, ...part })).toBe(choice);
  });

  test("reloads itself once for its build, and another build of it again", () => {
    const store = mapStore();
    const first = new Reloads(store, "a");
    expect([first.before, first.note()]).toEqual([false, true]);
    expect(new Reloads(store, "a").before).toBe(true);
    expect(new Reloads(store, "b").before).toBe(false);
  });

  test("between two servers of two builds does not go round for ever", () => {
    const store = mapStore();
    const shown: string[] = [];
    for (let turn = 0; turn < 10; turn++) {
      const build = turn % 2 === 0 ? "a" : "b";
      const page = new Reloads(store, build);
      if (page.before || !page.note()) break;
      shown.push(build);
    }
    expect(shown).toEqual(["a", "b"]);
  });

  test("remembers so many builds, and forgets the oldest", () => {
    const store = mapStore();
    for (let i = 0; i <= BUILDS_MAX; i++) new Reloads(store, `b-${i}`).note();
    expect([new Reloads(store, "b-0").before, new Reloads(store, "b-1").before]).toEqual([false, true]);
  });

  test.each<[string, TextStore | null]>([
    ["no storage", null],
    ["storage that refuses", { getItem: refuse, setItem: refuse, removeItem: refuse }],
    ["damaged storage", { getItem: () => "{", setItem: () => undefined, removeItem: () => undefined }],
    ["other things in storage", { getItem: () => "{}", setItem: () => undefined, removeItem: () => undefined }],
  ])("never reloads by itself with %s", (_name, store) => {
    const reloads = new Reloads(store, "a");
    expect([reloads.before, reloads.note()]).toEqual([true, false]);
  });

  test("does not reload when it could not be remembered", () => {
    const full: TextStore = { getItem: () => null, setItem: refuse, removeItem: refuse };
    const reloads = new Reloads(full, "a");
    expect([reloads.before, reloads.note()]).toEqual([false, false]);
  });
});
