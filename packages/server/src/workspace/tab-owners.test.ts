import { type Log, memoryLog } from "@varve/log";
import { isFault } from "@varve/protocol";
import { expect, test } from "vitest";
import { send } from "./testing/acts.ts";
import { makeRig } from "./testing/rig.ts";

/** Answers of `claim` wait until they are let through; what they say was read before. */
function slowClaims(log: Log): { readonly log: Log; readonly letThrough: () => void } {
  let letThrough = (): void => undefined;
  const open = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  const claim: Log["claim"] = async (...asked) => {
    const answer = await log.claim(...asked);
    await open;
    return answer;
  };
  const slow = new Proxy(log, {
    get(target, name) {
      if (name === "claim") return claim;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { log: slow, letThrough };
}

test("[TAB-130] a tab that comes out of the trash while it is opened takes messages, and has its new mode", async () => {
  const { log, letThrough } = slowClaims(memoryLog());
  await using rig = await makeRig({ log, script: [] });
  await rig.workspace.patch(rig.tab, { trashed: true });
  const opening = rig.workspace.head(rig.tab);
  await rig.workspace.patch(rig.tab, { trashed: false, permissions: "ask" });
  letThrough();
  await opening;
  expect(await send(rig, "m1", "go")).toMatchObject({ state: "sealed" });
  const record = rig.workspace.get(rig.tab);
  expect(isFault(record) ? record : record.permissions).toBe("ask");
});
