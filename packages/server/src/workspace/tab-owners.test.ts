import { type Log, memoryLog } from "@varve/log";
import { isFault } from "@varve/protocol";
import { expect, test } from "vitest";
import { idle, says, send } from "./testing/acts.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

/** Answers to one kind of act wait until they are let through; what they say was read before. */
function slowAnswers(
  log: Log,
  act: "claim" | "point" | "changeTab",
): { readonly log: Log; readonly letThrough: () => void } {
  let letThrough = (): void => undefined;
  const open = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  const slow = new Proxy(log, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== act) return value.bind(target);
      return async (...asked: readonly unknown[]) => {
        const answer: unknown = await Reflect.apply(value, target, asked);
        await open;
        return answer;
      };
    },
  });
  return { log: slow, letThrough };
}

test("[TAB-130] a tab that comes out of the trash while it is opened takes messages, and has its new mode", async () => {
  const { log, letThrough } = slowAnswers(memoryLog(), "claim");
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

/** What the log's own list says of the tab, and what its owner says. */
async function both(rig: Rig): Promise<readonly [unknown, unknown]> {
  const stored = (await rig.log.tabs()).find(({ id }) => id === rig.tab);
  const record = rig.workspace.get(rig.tab);
  if (isFault(record) || stored === undefined) throw new Error("the tab is gone");
  const { logId, title, permissions, trashedAt, tail } = record;
  const { logId: storedLog, title: storedTitle, permissions: mode, trashedAt: at, tail: last } = stored;
  return [
    { logId, title, permissions, trashedAt, tail },
    { logId: storedLog, title: storedTitle, permissions: mode, trashedAt: at, tail: last },
  ];
}

test("[TAB-130] a change of fields that is answered while the tab is being cleared holds behind it", async () => {
  const { log, letThrough } = slowAnswers(memoryLog(), "point");
  await using rig = await makeRig({ log, script: [says("hello"), says("again")] });
  await send(rig, "m1", "go");
  await rig.until("the turn ended", idle(rig));
  await rig.workspace.patch(rig.tab, { trashed: true });
  const clearing = rig.workspace.clear(rig.tab);
  await rig.workspace.patch(rig.tab, { trashed: false, title: "new", permissions: "ask" });
  letThrough();
  await clearing;
  const [owner, stored] = await both(rig);
  expect(owner).toEqual(stored);
  expect(owner).toMatchObject({ title: "new", permissions: "ask", trashedAt: null, tail: 0 });
  expect(await send(rig, "m2", "go")).toMatchObject({ state: "sealed" });
});

test("[TAB-130] a change of fields that is answered behind a clear leaves the tab on its new log", async () => {
  const { log, letThrough } = slowAnswers(memoryLog(), "changeTab");
  await using rig = await makeRig({ log, script: [says("hello"), says("again")] });
  await send(rig, "m1", "go");
  await rig.until("the turn ended", idle(rig));
  const changing = rig.workspace.patch(rig.tab, { title: "new" });
  await rig.until("the change is written", async () => (await log.tabs()).some(({ title }) => title === "new"));
  await rig.workspace.clear(rig.tab);
  letThrough();
  await changing;
  const [owner, stored] = await both(rig);
  expect(owner).toEqual(stored);
  expect(owner).toMatchObject({ title: "new", tail: 0 });
  expect(await rig.workspace.ledger(rig.tab, {})).toMatchObject({ steps: [] });
  expect(await send(rig, "m2", "go")).toMatchObject({ state: "sealed" });
});
