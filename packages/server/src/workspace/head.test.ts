import { noSecrets } from "@varve/agent";
import { FaultError, memoryLog } from "@varve/log";
import { type ChunkId, fault, isFault, type LogId, limits, type TabId, type TurnId } from "@varve/protocol";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { capture } from "./head.ts";
import { subscribe } from "./subscribe.ts";
import { TabCore } from "./tab-core.ts";

const id = (text: string) => text as ChunkId;

async function core(): Promise<TabCore> {
  const [log, clock, ids] = [memoryLog(), createFakeClock(), createFakeIds("t")];
  const tab = { id: "tab" as TabId, title: "", cwd: "/w", model: "m", effort: "default", permissions: "ask" };
  await log.createTab({ ...tab, parentId: null, logId: "log" as LogId, options: {}, createdAt: 0 });
  const claim = await log.claim(tab.id, 1);
  if (claim === null || isFault(claim)) throw new Error("no claim");
  return new TabCore(claim, {
    log,
    clock,
    ids,
    giveWay: async () => undefined,
    secrets: noSecrets,
    sealed: () => undefined,
    changed: () => undefined,
    settled: async () => undefined,
  });
}
const message = (name: string, text: string) => ({
  ...{ op: "message-queued" as const, id: id(name), version: 1, position: 1, state: "held" as const },
  ...{ delivery: "queue" as const, data: { text }, by: "test", at: 0 },
});

describe("a head", () => {
  test("[HUB-6] never splits a surrogate pair of an open block", async () => {
    const tab = await core();
    const block = { turnId: "t" as TurnId, step: 0, index: 0, role: "assistant", type: "text", at: 0 } as const;
    tab.feed.publish({ op: "chunk-open", id: id("b"), ...block });
    tab.feed.grow(id("b"), "ab\ud83d");
    const first = capture(tab, {});
    expect(first.frame.open[0]?.text).toBe("ab");
    expect(first.start.offsets.get(id("b"))).toBe(2);
    tab.feed.grow(id("b"), "\ude00c");
    expect(capture(tab, { b: 2 }).frame.open[0]).toMatchObject({ offset: 2, text: "\ud83d\ude00c" });
  });

  test("[HUB-2] the ring of recent ops is bounded by the texts of waiting messages too", async () => {
    const { feed } = await core();
    const text = "x".repeat(200_000);
    for (let at = 0; at < 20; at++) feed.publish(message("q", text));
    expect(feed.since(feed.n - 1)).toHaveLength(1);
    expect(feed.since(feed.n - 4)).not.toBeNull();
    expect(feed.since(feed.n - Math.ceil(limits.ringBytesMax / text.length) - 1)).toBeNull();
  });

  test("[HUB-8] a subscription whose rows cannot be read leaves nothing attached", async () => {
    const tab = await core();
    const outcome = await tab.commit({
      rows: [
        {
          id: id("r"),
          turnId: "" as TurnId,
          step: 0,
          role: "system",
          type: "system",
          data: { kind: "note", topic: "x", text: "x" },
          createdAt: 0,
        },
      ],
    });
    expect(outcome.kind).toBe("committed");
    const log = new Proxy(tab.ports.log, {
      get(target, name) {
        if (name === "row") return () => Promise.reject(new FaultError(fault("log-unavailable", "No.")));
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const sink = { send: () => undefined, buffered: () => 0, closeSlow: () => undefined };
    let closed = 0;
    const ports = { log, clock: tab.ports.clock, core: tab, sink, closed: () => void closed++ };
    const have = { log: tab.fence.logId, term: 1, seq: 1 };
    expect(await subscribe(ports, { have, focus: true })).toMatchObject({ code: "log-unavailable" });
    expect(closed).toBe(1);
  });
});
