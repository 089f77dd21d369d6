/** The disk under the real server: full while an answer streams, and held by another program. */
import { execFileSync } from "node:child_process";
import { appendFile, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadEngine } from "@varve/log/engine";
import { isFault } from "@varve/protocol";
import { expect, test, vi } from "vitest";
import { Follower } from "../e2e/follower.ts";
import { logProblems, refusals } from "../e2e/log-checks.ts";
import { Product } from "../e2e/product.ts";
import { say } from "../e2e/scripted-agent.ts";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";

const model = "anthropic/claude-test";
const words = Array.from({ length: 3_000 }, (_, at) => `word${at}`).join(" ");
const echo = { reply: () => ({ blocks: [say("ok")] }) };

/** A small disk in the place of the temporary directory; null where none can be mounted. */
async function smallDisk(megabytes: number): Promise<(AsyncDisposable & { readonly path: string }) | null> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "varve-disk-")));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path], { stdio: "ignore" });
  } catch {
    await rm(path, { recursive: true });
    return null;
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      execFileSync("umount", ["--lazy", path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}

async function fill(path: string): Promise<void> {
  for (let size = 1 << 16; size >= 1; size = size >> 1) {
    for (;;) {
      try {
        await appendFile(path, Buffer.alloc(size));
      } catch {
        // No room for so much: with less, until there is none at all.
        break;
      }
    }
  }
}

test("[SIM-66] a disk that is full while an answer streams loses nothing: the tab says so, keeps the text, and goes on when there is room", async (context) => {
  await using disk = await smallDisk(12);
  if (disk === null) return context.skip("a small disk cannot be mounted here (needs root on Linux)");
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({
    script: [{ blocks: [say(words)], chunkSize: 200, holdAfter: 0 }],
    ...echo,
  });
  vi.stubEnv("TMPDIR", disk.path);
  await using product = await Product.start({ provider });
  vi.unstubAllEnvs();
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  using follower = await Follower.on(product.api, tab.id);
  const gate = provider.gate();
  const first = await product.api.send(tab.id, "tell me");
  await gate.step(20);
  await follower.until("text comes", () => follower.openText().length >= 1_000);
  const filler = join(disk.path, "filler");
  await fill(filler);
  gate.release();
  await follower.until("the tab says that the disk is full", ({ status }) => status.fault?.code === "disk-full");
  expect(follower.openText()).toBe(words);
  expect((await product.api.head(tab.id)).open.map(({ text }) => text)).toContain(words);
  const id = product.api.newId();
  const refused = await product.api.ask("POST", `/tabs/${tab.id}/messages`, { id, text: "more", delivery: "queue" });
  expect([refused.status, refused.code]).toEqual([507, "disk-full"]);

  await rm(filler);
  await follower.untilAnswered(first.id, 60_000);
  expect(follower.state.status.fault).toBeUndefined();
  await product.api.send(tab.id, "more", { id, delivery: "queue" });
  await follower.untilAnswered(id);
  const rows = await product.api.rows(tab.id);
  expect(rows.filter((row) => row.type === "text" && row.data.text === words)).toHaveLength(1);
  expect(logProblems(rows, [first.id, id])).toEqual([]);
  expect(refusals(provider)).toEqual([]);
});

test("[SIM-67] while another program holds the database, the server answers, takes what is sent, and goes on when it is free", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({
    script: [{ blocks: [say(words)], chunkSize: 200, holdAfter: 0 }],
    ...echo,
  });
  await using product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  using follower = await Follower.on(product.api, tab.id);
  const gate = provider.gate();
  const first = await product.api.send(tab.id, "tell me");
  await gate.step(5);
  await follower.until("text comes", () => follower.openText().length >= 500);
  const engine = await loadEngine();
  if (isFault(engine)) throw new Error(engine.message);
  const other = engine.open(join(product.home, "varve.db"));
  other.exec("PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE");
  let answered = false;
  const sent = product.api.send(tab.id, "meanwhile", { delivery: "queue" }).finally(() => {
    answered = true;
  });
  gate.release();
  await follower.until("the tab says why nothing moves", ({ status }) => status.fault?.code === "log-unavailable");
  await follower.until("all of the text is shown", () => follower.openText() === words);
  expect((await product.api.head(tab.id)).status.state).toBe("running");
  expect(answered).toBe(false);
  other.exec("ROLLBACK");
  other.close();

  const { id, state } = await sent;
  expect(state).toBe("queued");
  await follower.untilAnswered(first.id);
  await follower.untilAnswered(id);
  expect(follower.state.status.fault).toBeUndefined();
  expect(logProblems(await product.api.rows(tab.id), [first.id, id])).toEqual([]);
  expect(refusals(provider)).toEqual([]);
});
