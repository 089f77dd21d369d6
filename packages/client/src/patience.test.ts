import type { Command, Frame } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { Patience, passesByItself, patienceFirstMs, patienceMaxMs } from "./patience.ts";
import { Peer, StillClock, turns } from "./test-kit/net.ts";
import { Owner } from "./test-kit/owner.ts";

/** Refuses commands of one type with a code until it is told not to. */
function refusing(peer: Peer, type: Command["type"], code: string): { stop(): void } {
  peer.intercept = (command: Command, reply: (frame: Frame) => void): boolean => {
    if (command.type !== type || !("re" in command)) return false;
    reply({ type: "err", re: command.re, code, message: "No." });
    return true;
  };
  return {
    stop: () => {
      peer.intercept = () => false;
    },
  };
}
const count = (peer: Peer, type: string): number => peer.commands.filter((command) => command.type === type).length;

describe("a subscription that is refused", () => {
  test.each(["disk-full", "log-unavailable", "shutting-down", "internal"])(
    "[CLIENT-120] with %s is asked for again until it is granted, and the outbox goes out behind it",
    async (code) => {
      const owner = new Owner();
      const peer = new Peer("A", owner);
      const refusal = refusing(peer, "sub", code);
      await peer.settle();
      const id = peer.handle.send({ text: "typed while the disk was full" });
      expect(peer.handle.snapshot()).toMatchObject({ ready: false, pending: [{ id, state: "waiting" }] });
      peer.clock.advance(patienceFirstMs);
      await peer.settle();
      expect(count(peer, "sub")).toBe(2);
      refusal.stop();
      peer.clock.advance(2 * patienceFirstMs);
      await peer.settle();
      expect(count(peer, "sub")).toBe(3);
      expect(peer.handle.snapshot()).toMatchObject({ ready: true, pending: [], rows: [{ id }] });
    },
  );

  test("[CLIENT-120] for good is not asked for again, and a tab that was let go asks no more", async () => {
    const peer = new Peer("A", new Owner());
    refusing(peer, "sub", "unknown-tab");
    await peer.settle();
    peer.clock.advance(60_000);
    await turns();
    expect(count(peer, "sub")).toBe(1);

    const other = new Peer("B", new Owner());
    refusing(other, "sub", "disk-full");
    await other.settle();
    other.handle.close();
    other.clock.advance(patienceMaxMs);
    await turns();
    expect(count(other, "sub")).toBe(1);
  });
});

test("[CLIENT-121] a message that the server could not look up goes out again by itself", async () => {
  const owner = new Owner();
  const peer = new Peer("A", owner);
  await peer.settle();
  const refusal = refusing(peer, "send", "log-unavailable");
  const id = peer.handle.send({ text: "once" });
  await peer.settle();
  expect(peer.handle.snapshot().pending).toMatchObject([{ id, state: "waiting" }]);
  refusal.stop();
  peer.clock.advance(patienceFirstMs);
  await peer.settle();
  expect(peer.handle.snapshot()).toMatchObject({ pending: [], rows: [{ id }] });
});

describe("patience", () => {
  test("[CLIENT-120] waits twice as long each time up to its bound, once at a time, and begins anew when something was granted", () => {
    const clock = new StillClock();
    const asked: number[] = [];
    const patience = new Patience(clock, () => {
      asked.push(clock.now() - begun);
      if (asked.length < 7) patience.refused();
    });
    const begun = clock.now();
    patience.refused();
    patience.refused();
    expect(clock.waiting).toBe(1);
    clock.advance(200_000);
    expect(asked).toEqual([1_000, 3_000, 7_000, 15_000, 30_000, 45_000, 60_000]);
    patience.granted();
    patience.refused();
    patience.stop();
    clock.advance(60_000);
    expect(asked).toHaveLength(7);
  });

  test("[CLIENT-120] only what passes by itself is worth a wait", () => {
    expect(["disk-full", "internal"].every((code) => passesByItself({ code }))).toBe(true);
    expect(["unknown-tab", "bad-request", "tab-trashed", "queue-full"].some((code) => passesByItself({ code }))).toBe(
      false,
    );
  });
});
