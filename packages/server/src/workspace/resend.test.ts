import { isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { idle, logOf, says, send, texts } from "./testing/acts.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

async function talked(): Promise<{ readonly rig: Rig; readonly seq: number }> {
  const rig = await makeRig({ script: [says("one"), says("two"), says("three"), says("four")] });
  await send(rig, "m1", "first");
  await rig.until("answered", idle(rig));
  await send(rig, "m2", "second");
  await rig.until("answered", idle(rig));
  return { rig, seq: (await rig.rows()).find((row) => row.id === "m2")?.seq ?? 0 };
}
const resend = (rig: Rig, seq: number, id: string, text: string) =>
  rig.workspace.resend(rig.tab, { seq, id: rig.id(id), text }, "test");

describe("edit and resend", () => {
  test.each([
    ["blank", " \n", "bad-request"],
    ["too long", "x".repeat(300_000), "message-too-large"],
  ])("[TAB-13] one whose text is %s is refused and cuts nothing", async (_, text, code) => {
    const { rig, seq } = await talked();
    await using _rig = rig;
    const before = { log: logOf(rig), texts: await texts(rig) };
    expect(await resend(rig, seq, "m3", text)).toMatchObject({ code });
    expect({ log: logOf(rig), texts: await texts(rig) }).toEqual(before);
  });

  test("[TAB-13] one in the trash is refused and cuts nothing", async () => {
    const { rig, seq } = await talked();
    await using _rig = rig;
    const log = logOf(rig);
    await rig.workspace.remove(rig.tab);
    expect(await resend(rig, seq, "m3", "instead")).toMatchObject({ code: "tab-trashed" });
    expect(logOf(rig)).toBe(log);
  });

  test("[TAB-13] one whose answer was lost is asked again and answered with its state, and cuts nothing anew", async () => {
    const { rig, seq } = await talked();
    await using _rig = rig;
    expect(await resend(rig, seq, "m3", "instead")).toMatchObject({ state: "sealed" });
    await rig.until("answered", idle(rig));
    const log = logOf(rig);
    const sealedAt = (await rig.rows()).find((row) => row.id === "m3")?.seq ?? 0;
    for (const at of [seq, sealedAt]) {
      expect(await resend(rig, at, "m3", "instead")).toMatchObject({ id: "m3", state: "sealed" });
    }
    expect(logOf(rig)).toBe(log);
    expect(await texts(rig)).toEqual(["user:first", "assistant:one", "user:instead", "assistant:three"]);
  });

  test("[TAB-13] one under the id of another tab's message is refused and cuts nothing", async () => {
    const { rig, seq } = await talked();
    await using _rig = rig;
    const other = await rig.workspace.create({ cwd: "/project", model: "anthropic/claude-test" });
    if (isFault(other)) throw new Error(other.message);
    await rig.workspace.send(other.id, { id: rig.id("theirs"), text: "hi" }, "test");
    const log = logOf(rig);
    expect(await resend(rig, seq, "theirs", "instead")).toMatchObject({ code: "id-taken" });
    expect(logOf(rig)).toBe(log);
  });

  test("[TAB-13] one under the id of the message that it replaces is that message, sent already", async () => {
    const { rig, seq } = await talked();
    await using _rig = rig;
    const log = logOf(rig);
    expect(await resend(rig, seq, "m2", "instead")).toMatchObject({ id: "m2", state: "sealed" });
    expect(logOf(rig)).toBe(log);
    expect(await texts(rig)).toContain("user:second");
  });
});
