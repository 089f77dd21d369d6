import { nodeClock } from "@varve/agent";
import { expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { createFaultProxy } from "../proxy/fault-proxy.ts";
import { Api } from "./api.ts";
import { Follower } from "./follower.ts";
import { residentBytes } from "./heap.ts";
import { logProblems } from "./log-checks.ts";
import { Product } from "./product.ts";
import { say } from "./scripted-agent.ts";

const piece = "0123456789abcdef".repeat(4_096);
/** Twice so many, of 64 kB each, are streamed: first to two readers, then to one that reads and one that does not. */
const pieces = 400;

test("H16: one of two readers takes nothing while 25 MB stream: it costs the server little, the other has all, and it ends where that is", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({
    script: [{ blocks: [], holdAfter: 0 }],
    reply: () => ({ blocks: [say("ok")] }),
  });
  await using product = await Product.start({ provider });
  await using proxy = await createFaultProxy({ target: () => product.url, clock: nodeClock });
  const tab = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
  const throughProxy = new Api(proxy.url, product.api.token);
  using slow = await Follower.on(throughProxy, tab.id);
  using normal = await Follower.on(product.api, tab.id);
  const gate = provider.gate();
  const { id } = await product.api.send(tab.id, "much");
  await gate.started;
  // A turn keeps what it has said, whoever reads it: what one reader costs is what comes on top of the same stream before.
  const stream = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 1) {
      gate.emit(piece);
      if (n % 8 === 7) await normal.until("it arrives", () => received(normal) >= (n - 31) * piece.length);
    }
  };
  const first = await residentBytes(product.pid);
  await stream(0, pieces);
  const second = await residentBytes(product.pid);
  for (const connection of proxy.connections()) connection.set({ down: { kind: "stall" } });
  await stream(pieces, 2 * pieces);
  gate.release();
  await normal.untilAnswered(id, 60_000);
  const third = await residentBytes(product.pid);

  if (first !== null && second !== null && third !== null) {
    expect((third - second - (second - first)) / 1e6).toBeLessThan(64);
  }
  proxy.heal();
  const { tail } = normal.state;
  const atEnd = slow.until(
    "the slow one is there too",
    ({ status, tail: its }) => its === tail && status.turnId === null,
  );
  // Or it was closed as too slow: then it comes again, as every client does.
  using again = await atEnd.then(
    () => slow,
    () => Follower.on(throughProxy, tab.id),
  );
  // Of what it has missed it was given the newest page; what it has is what the other has.
  const rows = normal.rows();
  const differing = again.rows().filter((row) => JSON.stringify(row) !== JSON.stringify(rows[row.seq - 1]));
  expect(differing.map(({ seq }) => seq)).toEqual([]);
  expect(again.rows().at(-1)?.seq).toBe(tail);
  expect(logProblems(await product.api.rows(tab.id), [id])).toEqual([]);
}, 240_000);

/** Characters of the model that have reached it, also those of blocks that travel clipped once they are sealed. */
function received(follower: Follower): number {
  const sealed = follower.rows().filter(({ role, type }) => role === "assistant" && type === "text").length;
  return sealed * 1024 * 1024 + follower.openText().length;
}
