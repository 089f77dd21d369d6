import { createFakeProvider, makeProject } from "@varve/sim";
import { Product } from "@varve/sim/e2e";
import { MemoryProbe } from "./lib/memory-probe.ts";
import { numberFlag, report } from "./lib/report.ts";
import { gather } from "./lib/socket-crowd.ts";
import { rounded } from "./lib/statistics.ts";

// What a server holds: when it is ready, with a hundred tabs that each had a turn, right behind it and once they are at rest,
// with sockets on one of them, and with blocks that grow. After a collection, heap and buffers; resident beside it. Slopes, so
// that what is there anyway is out: as many tabs before have brought in what the engine compiles, which is no tab's.
// Budget: resident under 90 MiB when ready; idle tabs cost next to nothing.

const TABS = numberFlag("--tabs", 100);
const SOCKETS = numberFlag("--sockets", 200);
const BLOCKS = numberFlag("--blocks", 10);
const BLOCK_CHARS = 100_000;
const kib = 1024;
/** A tab that is left alone comes to rest after a minute. */
const restMs = 65_000;

async function main(): Promise<void> {
  const piece = "A block that grows and is not sealed. ".repeat(10);
  await using provider = await createFakeProvider({ reply: () => ({ blocks: [{ type: "text", text: "Done." }] }) });
  await using project = await makeProject("tasks");
  await using probe = await MemoryProbe.make();
  await using product = await Product.start({ provider, env: probe.env() });
  const { api, pid } = product;
  const held = () => probe.held(pid);
  const ready = await held();
  const body = { cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" } as const;

  const turn = async (): Promise<void> => {
    const { id } = await api.newTab(body);
    await api.send(id, "Say something.");
    while ((await api.head(id)).status.lastSealed === null) await pause(20);
  };
  for (let made = 0; made < TABS; made++) await turn();
  await pause(restMs);
  const before = await held();
  for (let made = 0; made < TABS; made++) await turn();
  const atWork = await held();
  await pause(restMs);
  const withTabs = await held();

  const { id } = await api.newTab(body);
  const says = [
    { type: "hello", v: [1], client: "bench" },
    { type: "sub", re: 1, tab: id, have: null, focus: true },
  ];
  const url = `${product.url.replace("http", "ws")}/api/ws`;
  const crowd = await gather({ url, count: SOCKETS, headers: { authorization: `Bearer ${api.token}` }, says });
  const withSockets = await held();
  crowd.close();

  const beforeBlocks = await held();
  for (let made = 0; made < BLOCKS; made++) {
    provider.add({ blocks: [], holdAfter: 0 });
    const gate = provider.gate();
    await api.send((await api.newTab(body)).id, "Say much.");
    await gate.started;
    for (let said = 0; said < BLOCK_CHARS; said += piece.length) gate.emit(piece);
  }
  await pause(500);
  const withBlocks = await held();

  report({
    name: "memory",
    counts: { tabs: TABS, sockets: SOCKETS, blocks: BLOCKS, blockChars: BLOCK_CHARS },
    figures: {
      "ready MiB": rounded(ready.residentMiB),
      "ready heap MiB": rounded(ready.heapMiB),
      "KiB a tab behind its turn": rounded(((atWork.heldMiB - before.heldMiB) * kib) / TABS),
      "KiB an idle tab": rounded(((withTabs.heldMiB - before.heldMiB) * kib) / TABS),
      "after idle tabs MiB": rounded(withTabs.residentMiB),
      "KiB a socket": rounded(((withSockets.heldMiB - withTabs.heldMiB) * kib) / SOCKETS),
      "KiB an open block": rounded(((withBlocks.heldMiB - beforeBlocks.heldMiB) * kib) / BLOCKS),
    },
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

await main();
