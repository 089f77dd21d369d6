import { type ContextBody, type Fault, isFault, type SentRequestBody } from "@varve/protocol";
import type { ScriptItem } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { ends, idle, says, send, stateOf, texts, toolRuns, works } from "../workspace/testing/acts.ts";
import { makeRig, type Rig } from "../workspace/testing/rig.ts";
import { blockCharsMax } from "./sent-request.ts";

const opus = "anthropic/claude-opus-5-5";
const long = "Words that fill a turn, one after another. ".repeat(40);
const summary: ScriptItem = {
  match: { lastUserText: "write a summary" },
  reply: { blocks: [{ type: "text", text: "SUM" }] },
};

let count = 0;
async function turn(rig: Rig, text = long): Promise<void> {
  count += 1;
  await send(rig, `c${count}`, text);
  await rig.until("it is idle", idle(rig));
}
async function good<T>(answer: Promise<T | Fault>): Promise<T> {
  const value = await answer;
  return isFault(value) ? expect.fail(value.message) : value;
}
const codeOf = async (answer: Promise<unknown>): Promise<string> => {
  const value = await answer;
  return isFault(value) ? value.code : "fine";
};
const look = (rig: Rig): Promise<ContextBody> => good(rig.workspace.contexts.look(rig.tab));
const kinds = async (rig: Rig): Promise<readonly string[]> =>
  (await rig.rows()).map(({ type, data }) => (type === "system" ? data.kind : type));
const seqsOf = async (rig: Rig, kind: string): Promise<readonly number[]> =>
  (await rig.rows()).flatMap((row) => (row.type === "system" && row.data.kind === kind ? [row.seq] : []));
const bodyOf = (rig: Rig, at: number) => JSON.stringify(rig.provider.calls.at(at)?.body.messages);

describe("what changed outside", () => {
  test("[CONTEXT-2] H03 an edited file is shown, moves no byte, is told as a suffix and as a prefix after a rebuild", async () => {
    const files: Record<string, string> = { "/project/AGENTS.md": "Use tabs." };
    await using rig = await makeRig({ model: opus, files, script: [1, 2, 3, 4].map((n) => says(`answer ${n}`)) });
    await turn(rig);
    expect(await look(rig)).toMatchObject({ changes: [], tell: null, rebuild: null });
    files["/project/AGENTS.md"] = "Use spaces.";
    expect((await look(rig)).changes).toMatchObject([
      { topic: "instructions", change: "edited", detail: "+1 -1 lines" },
    ]);
    await turn(rig);
    const [first, second] = rig.provider.calls.map(({ body }) =>
      [body.system, body.tools].map((part) => JSON.stringify(part)),
    );
    expect(second).toEqual(first);
    expect(bodyOf(rig, -1)).not.toContain("Use spaces.");
    expect(await kinds(rig)).toContain("context-changed");

    await good(rig.workspace.contexts.apply(rig.tab, "tell"));
    expect((await look(rig)).changes).toEqual([]);
    await turn(rig);
    expect(JSON.stringify(rig.provider.calls.at(-1)?.body.system)).toBe(first?.[0]);
    expect(bodyOf(rig, -1)).toContain("Use spaces.");
    const usage = (await rig.rows()).findLast(({ data }) => "kind" in data && data.kind === "usage");
    expect(usage?.data).not.toHaveProperty("cause");

    files["/project/AGENTS.md"] = "Use nothing.";
    await good(rig.workspace.contexts.apply(rig.tab, "rebuild"));
    await turn(rig);
    expect(JSON.stringify(rig.provider.calls.at(-1)?.body.system)).toContain("Use nothing.");
    expect((await look(rig)).changes).toEqual([]);
  });

  test("[CONTEXT-3] nothing is applied while a turn runs or in the trash; nothing to apply writes nothing", async () => {
    const files: Record<string, string> = { "/project/AGENTS.md": "one" };
    await using rig = await makeRig({ model: opus, files, script: [works("a"), says("done")] });
    await send(rig, "busy", "work");
    await toolRuns(rig);
    files["/project/AGENTS.md"] = "two";
    for (const how of ["tell", "rebuild"] as const) {
      expect(await codeOf(rig.workspace.contexts.apply(rig.tab, how))).toBe("tab-running");
    }
    expect((await look(rig)).changes).toHaveLength(1);
    for (const work of rig.works.values()) work.end("ready");
    await rig.until("it is idle", idle(rig));
    files["/project/AGENTS.md"] = "one";
    const before = await rig.rows();
    await good(rig.workspace.contexts.apply(rig.tab, "tell"));
    expect(await rig.rows()).toEqual(before);
    files["/project/AGENTS.md"] = "two";
    await rig.workspace.patch(rig.tab, { trashed: true });
    expect(await codeOf(rig.workspace.contexts.apply(rig.tab, "tell"))).toBe("tab-trashed");
  });

  test("[CONTEXT-4] a tab without a message has nothing to tell and no size", async () => {
    await using rig = await makeRig({ model: opus, files: { "/project/AGENTS.md": "one" } });
    expect(await look(rig)).toMatchObject({
      meter: { tokens: null, window: 1_000_000 },
      cache: { until: null },
      changes: [],
      compact: null,
    });
  });

  test("[CONTEXT-4] what nobody knows is null: a model that no table has, and one that is gone", async () => {
    await using rig = await makeRig({ script: [says("one")] });
    await turn(rig);
    const { meter } = await look(rig);
    expect(meter).toMatchObject({ window: null, compactAt: null, estimated: false });
    expect((await good(rig.workspace.contexts.preview(rig.tab, {}))).preview).toMatchObject({
      price: null,
      priceNow: null,
    });
    expect(await codeOf(rig.workspace.contexts.preview(rig.tab, { model: "nobody/nothing" }))).toBe("unknown-model");
  });
});

describe("compacting by hand", () => {
  const script: readonly ScriptItem[] = [summary, ...[1, 2, 3, 4, 5].map((n) => says(`answer ${n} ${long}`))];

  test("[CONTEXT-5] an idle tab is summed up at once, as a turn that shows; undo gives the earlier body's bytes back", async () => {
    await using rig = await makeRig({ model: opus, script });
    for (const text of ["first", "second", "third"]) await turn(rig, `${text} ${long}`);
    const before = bodyOf(rig, -1) ?? "";
    expect(await good(rig.workspace.contexts.compact(rig.tab))).toEqual({ state: "started" });
    expect(stateOf(rig)).toBe("running");
    await rig.until("it is idle", idle(rig));
    expect((await ends(rig)).at(-1)).toBe("done");
    const [seq = 0] = await seqsOf(rig, "compaction");
    const { compactions } = await look(rig);
    expect(compactions).toMatchObject([{ seq, trigger: "manual", undone: false }]);
    await turn(rig, "fourth");
    expect(bodyOf(rig, -1)).toContain("SUM");

    await good(rig.workspace.contexts.undoCompaction(rig.tab, seq));
    expect((await look(rig)).compactions).toMatchObject([{ seq, undone: true }]);
    await turn(rig, "fifth");
    const plain = (text: string): string => text.replaceAll(/,"cache_control":\{[^}]*\}/g, "");
    expect(plain(bodyOf(rig, -1) ?? "").startsWith(plain(before).slice(0, -1))).toBe(true);
    expect(bodyOf(rig, -1)).not.toContain("SUM");
    // The question for a summary stands in no log, and still each request is shown as it was sent.
    const seqs = await seqsOf(rig, "request");
    const sent = await Promise.all(
      seqs.map((one) => good<SentRequestBody>(rig.workspace.contexts.sentRequest(rig.tab, one, null))),
    );
    expect(sent.map(({ intact }) => intact)).toEqual([true, true, true, true, true, true]);
    expect(sent[3]?.blocks.at(-1)?.json).toContain("Please write a summary");
  });

  test("[CONTEXT-5] what is sent meanwhile waits for its end", async () => {
    await using rig = await makeRig({ model: opus, script });
    for (const text of ["first", "second", "third"]) await turn(rig, `${text} ${long}`);
    const gate = rig.provider.gate();
    await good(rig.workspace.contexts.compact(rig.tab));
    await send(rig, "meanwhile", "and now?");
    await gate.started;
    gate.release();
    await rig.until("it is answered", async () => (await texts(rig)).at(-1)?.startsWith("assistant:answer 4") === true);
    expect(await kinds(rig)).toContain("compaction");
  });

  test("[CONTEXT-5] it can be stopped, and a server that dies in the middle of it leaves the log as it was", async () => {
    await using rig = await makeRig({ model: opus, script });
    for (const text of ["first", "second", "third"]) await turn(rig, `${text} ${long}`);
    const stopped = rig.provider.gate();
    await good(rig.workspace.contexts.compact(rig.tab));
    await stopped.started;
    await rig.workspace.stop(rig.tab, {});
    await rig.until("it is stopped", idle(rig));
    expect((await ends(rig)).at(-1)).toBe("stopped");
    const dying = rig.provider.gate();
    await good(rig.workspace.contexts.compact(rig.tab));
    await dying.started;
    await using again = await rig.restarted();
    await again.until("it is ended", async () => (await ends(again)).at(-1) === "restart");
    expect(await kinds(again)).not.toContain("compaction");
  });

  test("[CONTEXT-6] in a turn it comes at the next step boundary", async () => {
    const busy: readonly ScriptItem[] = [summary, says(long), says(long), says(long), works("a"), says("done")];
    await using rig = await makeRig({ model: opus, script: busy });
    for (const text of ["first", "second", "third"]) await turn(rig, `${text} ${long}`);
    await send(rig, "busy", "work");
    await toolRuns(rig);
    expect(await good(rig.workspace.contexts.compact(rig.tab))).toEqual({ state: "asked" });
    for (const work of rig.works.values()) work.end("ready");
    await rig.until("it is idle", idle(rig));
    expect((await kinds(rig)).filter((kind) => kind === "compaction")).toHaveLength(1);
    expect((await texts(rig)).at(-1)).toBe("assistant:done");
  });

  test("[CONTEXT-6] too little is refused before anything is sent; only the newest one in force is undone", async () => {
    await using rig = await makeRig({ model: opus, script: [says("one")] });
    expect(await codeOf(rig.workspace.contexts.compact(rig.tab))).toBe("nothing-to-compact");
    await turn(rig, "hi");
    const rows = await rig.rows();
    expect(await codeOf(rig.workspace.contexts.compact(rig.tab))).toBe("nothing-to-compact");
    expect(await codeOf(rig.workspace.contexts.undoCompaction(rig.tab, 1))).toBe("nothing-to-compact");
    expect(await rig.rows()).toEqual(rows);
  });

  test("[CONTEXT-6] a summary that never comes changes nothing and says so", async () => {
    const empty: ScriptItem = { match: { lastUserText: "write a summary" }, reply: { blocks: [] }, times: "always" };
    await using rig = await makeRig({ model: opus, script: [empty, ...script.slice(1)] });
    for (const text of ["first", "second", "third"]) await turn(rig, `${text} ${long}`);
    await good(rig.workspace.contexts.compact(rig.tab));
    await rig.until("it failed", () => stateOf(rig) === "error");
    expect(await kinds(rig)).not.toContain("compaction");
    const error = (await rig.rows()).findLast(({ type }) => type === "error");
    expect(error?.data).toMatchObject({ code: "compaction-failed" });
  });
});

describe("what was sent", () => {
  const sent = (rig: Rig, seq: number, from: number | null = null): Promise<SentRequestBody> =>
    good(rig.workspace.contexts.sentRequest(rig.tab, seq, from));

  test("[CONTEXT-7] every request of the log folds to the bytes that were sent, marked by what its bill says", async () => {
    await using rig = await makeRig({ model: opus, script: [works("a"), says(`done ${long}`), says("more")] });
    await send(rig, "go", long);
    await toolRuns(rig);
    for (const work of rig.works.values()) work.end("ready");
    await rig.until("it is idle", idle(rig));
    await turn(rig);
    const seqs = await seqsOf(rig, "request");
    const bodies = await Promise.all(seqs.map((seq) => sent(rig, seq)));
    expect(bodies.map(({ intact }) => intact)).toEqual([true, true, true]);
    for (const [at, { blocks, usage, options }] of bodies.entries()) {
      const read = blocks.filter(({ state }) => state === "cached").reduce((sum, { tokens }) => sum + tokens, 0);
      expect(Math.abs(read - (usage?.read ?? 0))).toBeLessThan(60);
      expect(blocks.filter(({ state }) => state === "fresh" || state === "unknown")).toEqual([]);
      expect(blocks.at(-1)).toMatchObject({ state: "written", marked: true });
      expect(blocks.filter(({ marked }) => marked).length).toBe(at === 0 ? 2 : Math.min(4, at + 2));
      expect(options).toMatchObject({ toolChoice: { type: "auto" } });
      expect(options).not.toHaveProperty("tools");
    }
    expect(bodies[1]?.blocks.map(({ kind }) => kind)).toEqual(["tools", "system", "text", "text", "call", "result"]);
  });

  test("[CONTEXT-7] a block is clipped, blocks are paged, and a row that is no request is none", async () => {
    await using rig = await makeRig({ model: opus, script: [says("one")] });
    await turn(rig, "x".repeat(blockCharsMax * 2));
    const [seq = 0] = await seqsOf(rig, "request");
    const whole = await sent(rig, seq);
    const last = whole.blocks.at(-1);
    expect([last?.clipped, last?.json.length]).toEqual([true, blockCharsMax]);
    const tail = await sent(rig, seq, 2);
    expect(tail.skipped).toBe(2);
    expect(tail.blocks).toEqual(whole.blocks.slice(2));
    expect((await sent(rig, seq, 99)).blocks).toEqual([]);
    expect(await codeOf(rig.workspace.contexts.sentRequest(rig.tab, seq + 1, null))).toBe("unknown-row");
  });
});
