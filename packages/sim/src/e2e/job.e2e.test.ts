import { readFile } from "node:fs/promises";
import { logChunkSchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { Follower } from "./follower.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { allVendors, limitJob } from "./scripted-agent.ts";
import { copySource } from "./source-copy.ts";

const file = "packages/protocol/src/limits.ts";
const check = `grep -c '  queueMax: 101,' ${file} | tee marker`;
/** Leaves a mark, tells that it runs, and then takes longer than any test waits. */
const slowCheck = "echo run >> marker; echo working; sleep 120";

describe.each(allVendors)("a job on this repository's own source with %s", (model) => {
  test("searches, reads, edits, runs a command, and the file on disk is right", async () => {
    await using source = await copySource("packages/protocol");
    await using provider = await createFakeProvider({ reply: limitJob("queueMax", check) });
    await using product = await Product.start({ provider });
    const before = await readFile(source.path(file), "utf8");
    const tab = await product.api.newTab({ cwd: source.dir, model, permissions: "allow" });
    using follower = await Follower.on(product.api, tab.id);

    const { id } = await product.api.send(tab.id, "Raise the limit of waiting messages by one and check it.");
    await follower.untilAnswered(id);

    expect(await readFile(source.path(file), "utf8")).toBe(before.replace("queueMax: 100,", "queueMax: 101,"));
    expect(await readFile(source.path("marker"), "utf8")).toBe("1\n");
    const rows = await product.api.rows(tab.id);
    expect(logProblems(rows, [id])).toEqual([]);
    const tools = rows.flatMap((row) => (row.type === "tool_call" ? [row.data.name] : []));
    expect(tools).toEqual(["grep", "read", "edit", "bash"]);
    expect(rows.findLast((row) => row.role === "assistant")?.data).toMatchObject({ text: "The command said: 1" });
    expect(refusals(provider)).toEqual([]);
    expect(provider.calls).toHaveLength(5);
    // The follower joined the same rows from frames alone.
    expect(follower.rows()).toEqual(rows);
  });

  test("killed in the middle of its command and started again, it ends correctly with a further message", async () => {
    await using source = await copySource("packages/protocol");
    await using provider = await createFakeProvider({ reply: limitJob("queueMax", slowCheck) });
    await using product = await Product.start({ provider });
    const tab = await product.api.newTab({ cwd: source.dir, model, permissions: "allow" });
    const first = await product.api.send(tab.id, "Raise the limit of waiting messages by one.");
    {
      using follower = await Follower.on(product.api, tab.id);
      await follower.until("the command runs", () => follower.openText().includes("working"));
      await product.kill();
    }
    await product.restart();
    using follower = await Follower.on(product.api, tab.id);
    await follower.untilAnswered(first.id);
    const second = await product.api.send(tab.id, "Please go on.");
    await follower.untilAnswered(second.id);

    expect(await readFile(source.path(file), "utf8")).toContain("  queueMax: 101,");
    expect(await readFile(source.path("marker"), "utf8")).toBe("run\n");
    const rows = await product.api.rows(tab.id);
    expect(logProblems(rows, [first.id, second.id])).toEqual([]);
    const results = rows.flatMap((row) => (row.type === "tool_result" ? [row.data] : []));
    expect(results.map(({ name, isError }) => [name, isError])).toEqual([
      ["grep", false],
      ["read", false],
      ["edit", false],
      ["bash", true],
      ["bash", false],
    ]);
    expect(results[3]?.result).toContain("server restarted; the command may have run");
    expect(rows.findLast((row) => row.role === "assistant")?.data).toMatchObject({ text: "The command said: run" });
    expect(refusals(provider)).toEqual([]);
    expect(provider.calls).toHaveLength(6);
  });
});

describe("the same over the command line", () => {
  test("`varve send --new --wait` runs a job to its end and `varve tail` prints its rows", async () => {
    await using source = await copySource("packages/protocol");
    await using provider = await createFakeProvider({ reply: limitJob("queueMax", check) });
    await using product = await Product.start({ provider });
    const text = "Raise the limit of waiting messages by one and check it.";
    const where = ["--cwd", source.dir, "--model", "anthropic/claude-test", "--permissions", "allow"];

    const sent = await product.cli("send", "--new", text, ...where, "--wait");

    expect(sent).toMatchObject({ code: 0, err: "" });
    expect(sent.out).toContain("The command said: 1");
    expect(await readFile(source.path(file), "utf8")).toContain("  queueMax: 101,");
    const [tab] = await product.api.tabs();
    if (tab === undefined) throw new Error("the job made no tab");
    const rows = await product.api.rows(tab.id);
    const tailing = product.startCli("tail", tab.id, "--from", "0");
    const printed = tailing.out;
    await tailing.says(new RegExp(`"seq":${rows.length}[,}]`));
    tailing.signal("SIGTERM");
    await tailing.exited;
    const lines = printed().trim().split("\n");
    expect(lines.map((line) => logChunkSchema.parse(JSON.parse(line)))).toEqual(rows);
  });

  test("a tab that is not there ends a command with the code for refusals and one sentence", async () => {
    await using product = await Product.start();

    const sent = await product.cli("send", "no-such-tab", "hello");

    expect(sent).toMatchObject({ code: 4, out: "" });
    expect(sent.err).toMatch(/^varve: [^\n]+ \(unknown-tab\)\n$/);
  });
});
