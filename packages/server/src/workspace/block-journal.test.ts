import { memoryLog } from "@varve/log";
import type { Frame } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { send } from "./testing/acts.ts";
import { Follower, makeRig } from "./testing/rig.ts";

const said = Array.from({ length: 120 }, (_, at) => `word${at}`).join(" ");

describe("the journal of open blocks", () => {
  test("[TAB-110] holds whatever a client is shown of an open block before it is shown, whenever that client came", async () => {
    const log = memoryLog();
    await using rig = await makeRig({
      script: [{ blocks: [{ type: "text", text: said }], chunkSize: 7, holdAfter: 0 }],
      log,
    });
    const gate = rig.provider.gate();
    const short: string[] = [];
    let compared = 0;
    const look = (frame: Frame): void => {
      if (frame.type !== "ops") return;
      for (const op of frame.ops) {
        if (op.op !== "chunk-delta") continue;
        const kept = log.journal.blocksOf(rig.tab).find(({ id }) => id === op.id)?.text ?? "";
        compared += 1;
        if (kept.length < op.offset + op.text.length) short.push(`${op.offset}+${op.text.length}: ${kept.length}`);
      }
    };
    const watch = async (): Promise<void> => {
      const sink = { send: look, buffered: () => 0, closeSlow: () => undefined };
      const subscription = await rig.workspace.subscribe({ tab: rig.tab, have: null, focus: true }, sink);
      if (isFault(subscription)) throw new Error(subscription.message);
    };
    await watch();
    const follower = await Follower.on(rig);
    await send(rig, "m1", "go");
    for (let step = 0; step < 30; step++) {
      await gate.step(2);
      // Clients that come at different times tick at different times.
      if (step === 5 || step === 11) await watch();
      await rig.until("the text comes", () => follower.openText().length >= 7 * 2 * (step + 1));
    }
    gate.release();
    expect(compared).toBeGreaterThan(60);
    expect(short).toEqual([]);
  });

  test("[TAB-110] and so of a head that is asked for by itself", async () => {
    const log = memoryLog();
    await using rig = await makeRig({
      script: [{ blocks: [{ type: "text", text: said }], chunkSize: 7, holdAfter: 0 }],
      log,
    });
    const gate = rig.provider.gate();
    await send(rig, "m1", "go");
    let seen = 0;
    for (let step = 0; step < 20; step++) {
      await gate.step(1);
      // Looked at on and on, so that some looks fall between a piece and the journal's own tick.
      for (let look = 0; look < 40 && seen < 7 * (step + 1); look++) {
        await new Promise((resolve) => setImmediate(resolve));
        const head = await rig.workspace.head(rig.tab);
        const block = isFault(head) ? undefined : head.open[0];
        if (block === undefined) continue;
        seen = block.text.length;
        const kept = log.journal.blocksOf(rig.tab).find(({ id }) => id === block.id)?.text ?? "";
        expect(kept.length).toBeGreaterThanOrEqual(seen);
      }
    }
    expect(seen).toBeGreaterThan(0);
    gate.release();
  });
});
