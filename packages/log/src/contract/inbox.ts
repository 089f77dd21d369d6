import { limits } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import type { Claim, InboxRecord, InboxWrite, Log } from "../log.ts";
import { accept, claimed, ids, type OpenLog, refusalOf, said, sealed, sound, startMs, userText } from "./fixtures.ts";

const at = ["t1", 0] as const;
const queued = async (log: Log, claim: Claim, state: "queued" | "held" = "queued") => {
  const id = ids.chunk();
  await sealed(log, claim, { inbox: [accept(id, state)] });
  return id;
};
/** Brings a message into a state by legal steps. */
const messageIn = async (log: Log, claim: Claim, state: InboxRecord["state"] | "unknown") => {
  const id = state === "unknown" ? ids.chunk() : await queued(log, claim, state === "held" ? "held" : "queued");
  if (state === "dropped") await sealed(log, claim, { inbox: [{ write: "drop", id }] });
  if (state === "sealed")
    await sealed(log, claim, { rows: [userText(at, "hello", id)], inbox: [{ write: "seal", id }] });
  return id;
};

/** The life of messages: queue, idempotency and tombstones. */
export function describeInbox(open: OpenLog): void {
  describe("inbox", () => {
    test("[LOG-45] the tabs in which messages wait are known, and no others", async () => {
      await using opened = await open();
      const { log } = opened;
      const waiting: string[] = [];
      for (const state of ["queued", "sealed", "held", "dropped", "unknown"] as const) {
        const claim = await claimed(log);
        await messageIn(log, claim, state);
        if (state === "queued" || state === "held") waiting.push(claim.tabId);
      }
      expect(await log.tabsWithWaiting()).toEqual(waiting);
    });

    test("[LOG-16] a message is accepted, and kept as it came", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const id = ids.chunk();
      const attachments = [
        {
          blob: sound(await log.blobs.put(new Uint8Array([1]), "image/png")).blob,
          mediaType: "image/png",
          name: "a.png",
        },
      ];
      const write = {
        ...accept(id),
        delivery: "steer",
        data: { text: "x\ud800", attachments },
        by: "c-9",
        at: 12.5,
      } as const;
      const committed = await sealed(log, claim, { inbox: [write] });
      const record = {
        id,
        tabId: claim.tabId,
        position: 1,
        version: 1,
        state: "queued",
        delivery: "steer",
        data: { text: "x\uFFFD", attachments },
        by: "c-9",
        at: 12.5,
        sealed: null,
      };
      expect(committed.inbox).toEqual([record]);
      expect(await log.message(id)).toStrictEqual(committed.inbox[0]);
      expect(await log.message(ids.chunk())).toBeNull();
    });

    const writes: Readonly<
      Record<string, (id: InboxRecord["id"]) => { rows: ReturnType<typeof userText>[]; inbox: InboxWrite[] }>
    > = {
      "accept queued": (id) => ({ rows: [], inbox: [accept(id)] }),
      "accept sealed": (id) => ({ rows: [userText(at, "hello", id)], inbox: [accept(id, "sealed")] }),
      change: (id) => ({ rows: [], inbox: [{ write: "change", id, version: 1, state: "held" }] }),
      seal: (id) => ({ rows: [userText(at, "hello", id)], inbox: [{ write: "seal", id }] }),
      drop: (id) => ({ rows: [], inbox: [{ write: "drop", id }] }),
    };
    test.each([
      [
        "accept queued",
        { unknown: "queued", queued: "id-taken", held: "id-taken", sealed: "id-taken", dropped: "id-taken" },
      ],
      [
        "accept sealed",
        { unknown: "sealed", queued: "id-taken", held: "id-taken", sealed: "id-taken", dropped: "id-taken" },
      ],
      [
        "change",
        { unknown: "unknown-message", queued: "held", held: "held", sealed: "stale-version", dropped: "stale-version" },
      ],
      [
        "seal",
        {
          unknown: "unknown-message",
          queued: "sealed",
          held: "sealed",
          sealed: "id-taken",
          dropped: "unknown-message",
        },
      ],
      [
        "drop",
        {
          unknown: "unknown-message",
          queued: "dropped",
          held: "dropped",
          sealed: "unknown-message",
          dropped: "unknown-message",
        },
      ],
    ] as const)("[LOG-16] %s, from every state: sealed and dropped are final", async (name, expected) => {
      for (const state of ["unknown", "queued", "held", "sealed", "dropped"] as const) {
        await using opened = await open();
        const { log } = opened;
        const claim = await claimed(log);
        const id = await messageIn(log, claim, state);
        const before = await log.message(id);
        const outcome = await log.commit(claim, writes[name]?.(id) ?? { rows: [] });
        const after = await log.message(id);
        if (outcome.kind === "committed") {
          expect(after?.state, `${name} of ${state}`).toBe(expected[state]);
          expect(outcome.inbox).toEqual([after]);
        } else {
          expect(outcome, `${name} of ${state}`).toMatchObject({ kind: "refused", fault: { code: expected[state] } });
          expect(outcome.kind === "refused" ? (outcome.current ?? null) : null).toEqual(before);
          expect(after).toEqual(before);
        }
      }
    });

    test("[LOG-17] an id accepted twice makes nothing; another tab's id is refused and not shown", async () => {
      await using opened = await open();
      const { log } = opened;
      const [claim, other] = [await claimed(log), await claimed(log)];
      const id = await queued(log, claim);
      const record = await log.message(id);
      for (const state of ["queued", "held"] as const) {
        expect(await log.commit(claim, { rows: [], inbox: [accept(id, state, "other text")] })).toMatchObject({
          kind: "refused",
          current: record,
        });
        const foreign = await log.commit(other, { rows: [], inbox: [accept(id, state)] });
        expect(foreign).toMatchObject({ kind: "refused", fault: { code: "id-taken" } });
        expect(foreign).not.toHaveProperty("current");
      }
      const sealedThere = { rows: [userText(at, "x", id)], inbox: [accept(id, "sealed")] };
      expect(await log.commit(other, sealedThere)).not.toHaveProperty("current");
      for (const write of [
        { write: "drop", id },
        { write: "change", id, version: 1 },
      ] as const)
        expect(await refusalOf(log, other, { inbox: [write] })).toBe("unknown-message");
      expect(await log.message(id)).toEqual(record);
      expect([(await log.tab(claim.tabId))?.tail, (await log.tab(other.tabId))?.tail]).toEqual([0, 0]);
    });

    test("[LOG-17] the id of a row is no id for a message", async () => {
      await using opened = await open();
      const claim = await claimed(opened.log);
      const row = said(at, "x");
      await sealed(opened.log, claim, { rows: [row] });
      expect(await refusalOf(opened.log, claim, { inbox: [accept(row.id)] })).toBe("id-taken");
    });

    test("[LOG-18] each change raises the version by one; a stale one is refused with the record as it is", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const id = await queued(log, claim);
      const changes = [
        { data: { text: "ONE" } },
        { delivery: "steer" },
        { state: "held" },
        { position: 7.25 },
        {},
      ] as const;
      for (const [before, change] of changes.entries()) {
        const { inbox } = await sealed(log, claim, {
          inbox: [{ write: "change", id, version: before + 1, ...change }],
        });
        expect(inbox).toMatchObject([{ version: before + 2, ...change }]);
      }
      const record = await log.message(id);
      expect(record).toMatchObject({
        version: 6,
        data: { text: "ONE" },
        delivery: "steer",
        state: "held",
        position: 7.25,
      });
      for (const version of [5, 7]) {
        const stale = await log.commit(claim, { rows: [], inbox: [{ write: "change", id, version, state: "queued" }] });
        expect(stale).toMatchObject({ kind: "refused", fault: { code: "stale-version" }, current: record });
      }
    });

    test("[LOG-19] a message becomes its row in one transaction, under its own id", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const id = await queued(log, claim);
      const { rows, inbox } = await sealed(log, claim, {
        rows: [said(at, "x"), userText(at, "hello", id)],
        inbox: [{ write: "seal", id }],
      });
      expect(inbox).toMatchObject([{ id, state: "sealed", sealed: { logId: claim.logId, seq: 2 } }]);
      expect(rows[1]?.id).toBe(id);
      const atOnce = ids.chunk();
      const second = await sealed(log, claim, {
        rows: [userText(at, "hi", atOnce)],
        inbox: [accept(atOnce, "sealed")],
      });
      expect(second.inbox).toMatchObject([{ id: atOnce, state: "sealed", version: 1, sealed: { seq: 3 } }]);
    });

    test("[LOG-19] a row without its message, or a message without its row, is a mistake that writes nothing", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const id = await queued(log, claim);
      const mistakes = [
        { rows: [userText(at, "hello", id)] },
        { rows: [], inbox: [{ write: "seal", id }] },
        { rows: [], inbox: [accept(ids.chunk(), "sealed")] },
      ] as const;
      for (const batch of mistakes) await expect(log.commit(claim, batch)).rejects.toThrow();
      expect(await log.message(id)).toMatchObject({ state: "queued", version: 1 });
      expect((await log.tab(claim.tabId))?.tail).toBe(0);
    });

    test("[LOG-20] a new message stands behind all others, wherever they were moved", async () => {
      await using opened = await open();
      const { log } = opened;
      const claim = await claimed(log);
      const [a, b, c] = [await queued(log, claim), await queued(log, claim), await queued(log, claim)];
      await sealed(log, claim, { inbox: [{ write: "change", id: a, version: 1, position: 10.5 }] });
      const d = await queued(log, claim);
      await sealed(log, claim, { inbox: [{ write: "change", id: d, version: 1, position: 2.5 }] });
      const order = async () => sound(await log.claim(claim.tabId, startMs)).waiting.map((record) => record.id);
      expect(await order()).toEqual([b, d, c, a]);
    });

    test("[LOG-21] as many wait as the limit says; one more is refused, one sealed at once is not", async () => {
      await using opened = await open();
      const { log } = opened;
      const [claim, other] = [await claimed(log), await claimed(log)];
      const all = Array.from({ length: limits.queueMax }, () => ids.chunk());
      await sealed(log, claim, { inbox: all.map((id, index) => accept(id, index % 2 === 0 ? "queued" : "held")) });
      for (const state of ["queued", "held"] as const)
        expect(await refusalOf(log, claim, { inbox: [accept(ids.chunk(), state)] })).toBe("queue-full");
      const atOnce = ids.chunk();
      await sealed(log, claim, { rows: [userText(at, "x", atOnce)], inbox: [accept(atOnce, "sealed")] });
      await queued(log, other);
      const [first = atOnce] = all;
      await sealed(log, claim, { inbox: [{ write: "drop", id: first }, accept(ids.chunk())] });
    });
  });
}
