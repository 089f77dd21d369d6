import { isFault, type TabOptionsPatch } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { ends, idle, question, queueOf, says, send, stateOf, texts, toolRuns, works } from "./testing/acts.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

const wish = (rig: Rig, sendAfterRestart: TabOptionsPatch["sendAfterRestart"] = true) =>
  rig.workspace.patch(rig.tab, { options: { sendAfterRestart } });

/** A turn at work in a tab that wishes it, `q1` and `q2` queued behind it, `h` held by a person. */
async function atWork(options: Parameters<typeof makeRig>[0] = {}): Promise<Rig> {
  const rig = await makeRig({ script: [works("c1"), says("to one"), says("to two")], ...options });
  await wish(rig);
  await send(rig, "m1", "go");
  await toolRuns(rig);
  for (const [id, text] of [
    ["q1", "one"],
    ["q2", "two"],
    ["h", "three"],
  ] as const) {
    expect(await send(rig, id, text, "queue")).toMatchObject({ state: "queued" });
  }
  expect(await rig.workspace.patchQueued(rig.tab, rig.id("h"), { version: 1, state: "held" })).toMatchObject({
    state: "held",
  });
  return rig;
}

/** Ends as a server does that is asked to. */
async function closed(rig: Rig): Promise<void> {
  let over = false;
  void rig.workspace.close(100).then(() => {
    over = true;
  });
  await rig.until("it is closed", () => over);
}
const answered = (rig: Rig, text: string) =>
  rig.until(`answered: ${text}`, async () => (await texts(rig)).includes(`assistant:${text}`) && idle(rig)());

describe("a tab that sends what waits after a restart", () => {
  test.each([
    ["a crash", async () => undefined],
    ["an end in good order", closed],
  ] as const)(
    "[TAB-131] after %s it goes on by itself, one after the other; what a person held stays",
    async (_, end) => {
      await using first = await atWork();
      await end(first);
      expect(first.provider.calls).toHaveLength(1);
      await using rig = await first.restarted();
      await answered(rig, "to two");
      expect(await ends(rig)).toEqual(["restart", "done", "done"]);
      expect(await texts(rig)).toEqual(["user:go", "user:one", "assistant:to one", "user:two", "assistant:to two"]);
      expect(await queueOf(rig)).toEqual(["h:held:three"]);
      // Everything is sent once, also when the server is started yet again.
      await using again = await rig.restarted();
      expect(await queueOf(again)).toEqual(["h:held:three"]);
      expect(again.provider.calls).toHaveLength(3);
    },
  );

  test("[TAB-131] steers go together, before what is queued, and the tab shows that it runs", async () => {
    await using first = await makeRig({ script: [works("c1"), works("c2"), says("both"), says("last")] });
    await wish(first);
    await send(first, "m1", "go");
    await toolRuns(first);
    await send(first, "q1", "later", "queue");
    for (const id of ["s1", "s2"]) await send(first, id, id);
    await using rig = await first.restarted();
    await toolRuns(rig);
    const head = await rig.workspace.head(rig.tab);
    const [end] = (await rig.rows()).filter((row) => row.type === "system" && row.data.kind === "turn-end");
    expect(isFault(head) ? head : head.status).toMatchObject({ state: "running", lastSealed: end?.turnId });
    expect(await texts(rig)).toEqual(["user:go", "user:s1", "user:s2"]);
    rig.works.get("c2")?.end("fine");
    await answered(rig, "last");
  });

  test("[TAB-131] a turn that waits for a person goes on waiting, and what waits behind it is sent at its end", async () => {
    await using first = await makeRig({ script: [works("c1"), says("ok"), says("to one")], permissions: "ask" });
    await wish(first);
    await send(first, "m1", "go");
    await question(first);
    await send(first, "q1", "one", "queue");
    await using rig = await first.restarted();
    const askId = await question(rig);
    expect(await queueOf(rig)).toEqual(["q1:queued:one"]);
    expect(await rig.workspace.answer(rig.tab, { askId, verdict: "once" }, "x")).toBeNull();
    await toolRuns(rig);
    rig.works.get("c1")?.end("done");
    await answered(rig, "to one");
    expect(await ends(rig)).toEqual(["done", "done"]);
  });

  test("[TAB-131] any other end holds what waits, there too, and a restart behind it sends nothing", async () => {
    await using first = await atWork();
    await first.workspace.stop(first.tab, {});
    await first.until("the turn ended", idle(first));
    await using rig = await first.restarted();
    expect(await queueOf(rig)).toEqual(["q1:held:one", "q2:held:two", "h:held:three"]);
    expect(stateOf(rig)).toBe("idle");
    expect(rig.provider.calls).toHaveLength(1);
  });

  test("[TAB-131] in the trash nothing is sent, and what was queued is held", async () => {
    await using first = await atWork();
    // Trashed by the server that was killed then, before it had held anything.
    expect(isFault(await first.log.changeTab(first.tab, { trashedAt: 1 }))).toBe(false);
    await using rig = await first.restarted();
    expect(await queueOf(rig)).toEqual(["q1:held:one", "q2:held:two", "h:held:three"]);
    expect(await ends(rig)).toEqual(["restart"]);
    expect(rig.provider.calls).toHaveLength(1);
  });

  test("[TAB-131] taken back, the option holds again; a fork takes it over", async () => {
    await using first = await atWork();
    const fork = await first.workspace.fork(first.tab, 2);
    expect(fork).toMatchObject({ options: { sendAfterRestart: true } });
    expect(await wish(first, null)).toMatchObject({ options: {} });
    await using rig = await first.restarted();
    expect(await queueOf({ ...rig, tab: first.tab })).toEqual(["q1:held:one", "q2:held:two", "h:held:three"]);
    expect(rig.provider.calls).toHaveLength(1);
  });
});
