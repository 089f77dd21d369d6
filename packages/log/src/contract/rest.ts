import { describe, expect, test } from "vitest";
import type { KeyEntry } from "../log.ts";
import { claimed, ids, type OpenLog, sound } from "./fixtures.ts";

/** Journal, blobs, settings, keys. */
export function describeRest(open: OpenLog): void {
  describe("journal", () => {
    test("[LOG-24] gives back what is open, in opening order, with its text whole", async () => {
      await using opened = await open();
      const { journal } = opened.log;
      const [one, two] = [await claimed(opened.log), await claimed(opened.log)];
      const [a, b, c] = [ids.chunk(), ids.chunk(), ids.chunk()];
      const meta = { step: 1, role: "assistant", type: "text" };
      const text = (tabId: typeof one.tabId, id: typeof a, offset: number, piece: string) =>
        ({ entry: "text", tabId, id, offset, text: piece }) as const;
      expect([journal.blocksOf(one.tabId), journal.tabsWithBlocks()]).toEqual([[], []]);
      journal.write([
        { entry: "open", tabId: one.tabId, logId: one.logId, id: a, meta },
        { entry: "open", tabId: two.tabId, logId: two.logId, id: c, meta },
        text(one.tabId, a, 0, "half a pair \ud83d"),
      ]);
      journal.write([
        { entry: "open", tabId: one.tabId, logId: one.logId, id: b, meta: {} },
        text(one.tabId, a, 13, "\ude00\0"),
        text(one.tabId, b, 0, ""),
      ]);
      journal.write([
        text(one.tabId, a, 15, " end"),
        text(one.tabId, a, 15, " end"),
        text(one.tabId, a, 99, "lost before it"),
      ]);
      expect(journal.blocksOf(one.tabId)).toEqual([
        { logId: one.logId, id: a, meta, text: "half a pair \u{1F600}\0 end" },
        { logId: one.logId, id: b, meta: {}, text: "" },
      ]);
      expect(journal.tabsWithBlocks()).toEqual([one.tabId, two.tabId]);
      journal.write([{ entry: "closed", tabId: one.tabId, id: a }, text(one.tabId, a, 0, "after its end")]);
      expect(journal.blocksOf(one.tabId).map((block) => block.id)).toEqual([b]);
      journal.clear(one.tabId);
      expect([journal.blocksOf(one.tabId), journal.tabsWithBlocks(), journal.faults()]).toEqual([[], [two.tabId], 0]);
    });
  });

  describe("blobs", () => {
    test("[LOG-25] bytes are found by their hash, once, as they were put", async () => {
      await using opened = await open();
      const { blobs } = opened.log;
      const bytes = new TextEncoder().encode("hello");
      const entry = sound(await blobs.put(bytes, "text/plain"));
      expect(entry).toEqual({
        blob: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        mediaType: "text/plain",
        size: 5,
      });
      bytes.fill(0);
      const again = await Promise.all([1, 2, 3].map(() => blobs.put(new TextEncoder().encode("hello"), "image/png")));
      expect(again).toEqual([entry, entry, entry]);
      const found = await blobs.get(entry.blob);
      expect([new TextDecoder().decode(found?.bytes), found?.mediaType]).toEqual(["hello", "text/plain"]);
      const empty = sound(await blobs.put(new Uint8Array(), "text/plain"));
      expect((await blobs.get(empty.blob))?.bytes.byteLength).toBe(0);
      const never = sound(await blobs.put(new Uint8Array([0, 255]), "x/y"));
      expect(never.blob).not.toBe(empty.blob);
    });
  });

  describe("settings and keys", () => {
    test("[LOG-26] a setting is what was put last; null removes it", async () => {
      await using opened = await open();
      const { log } = opened;
      expect([await log.setting("a"), await log.settings()]).toEqual([null, {}]);
      for (const value of ["1", "2", ""]) {
        expect(await log.putSetting("a", value)).toBeNull();
        expect(await log.setting("a")).toBe(value);
      }
      await log.putSetting("b", "x\ud800");
      expect(await log.settings()).toEqual({ a: "", b: "x\uFFFD" });
      await log.putSetting("a", null);
      expect(await log.settings()).toEqual({ b: "x\uFFFD" });
    });

    test("[LOG-26] a key is kept with its address, also without a secret, until it is removed", async () => {
      await using opened = await open();
      const { log } = opened;
      const key: KeyEntry = {
        keyId: "k1",
        provider: "anthropic",
        secret: "enc:1",
        baseUrl: null,
        importedAt: 1,
        updatedAt: 2,
      };
      const local: KeyEntry = {
        keyId: "k2",
        provider: "openai-compatible",
        secret: null,
        baseUrl: "http://127.0.0.1:1/v1",
        importedAt: 3,
        updatedAt: 4,
      };
      for (const entry of [local, key]) expect(await log.putKey(entry)).toBeNull();
      expect(await log.keys()).toEqual([key, local]);
      const changed = { ...local, baseUrl: null, secret: "enc:2", updatedAt: 9 };
      await log.putKey(changed);
      expect(await log.keys()).toEqual([key, changed]);
      await log.removeKey("k1");
      await log.removeKey("never there");
      expect(await log.keys()).toEqual([changed]);
    });
  });

  test("[LOG-36] a sound log passes its own check", async () => {
    await using opened = await open();
    await claimed(opened.log);
    expect(await opened.log.check()).toBeNull();
  });
}
