import { createFakeProvider, type Gate, makeProject } from "@varve/sim";
import { Product } from "@varve/sim/e2e";
import { type AdapterBroadcast, isAdapterBroadcast, startAdapterBroadcast } from "./lib/adapter-broadcast.ts";
import { type BareBroadcast, isBroadcast, startBroadcast } from "./lib/bare-broadcast.ts";
import { processorUs } from "./lib/process-figures.ts";
import { numberFlag, report } from "./lib/report.ts";
import { type Crowd, gather } from "./lib/socket-crowd.ts";
import { median, rounded, thousandths } from "./lib/statistics.ts";
import { inTurns } from "./lib/turns.ts";

// What a frame to one socket costs the server's process, with 1, 50 and 200 sockets on one tab that streams, against two
// others that send as many bytes as often to as many: a bare `ws` server that is handed its text, and one that reads the same
// stream through the same provider adapter, which keeps nothing of it. Provider, sockets and clock are elsewhere. The ratio
// against the second says what our owner, journal and hub cost; that of what one socket more costs is the hub's alone. With
// more deltas than ticks, frames are made on ticks. Budget: 200 sockets at 0.8 of the bare at least.

const SOCKETS = [1, 50, 200];
const DELTAS_A_SECOND = [20, 100];
const ROUNDS = numberFlag("--rounds", 5);
const SECONDS = numberFlag("--seconds", 3);
const WORDS = "four words of text ";

interface Side {
  readonly pid: number;
  readonly crowd: Crowd;
  readonly costs: number[];
  readonly rates: number[];
  readonly sizes: number[];
}

async function main(): Promise<void> {
  await using provider = await createFakeProvider({ script: [] });
  await using project = await makeProject("tasks");
  await using product = await Product.start({ provider });
  const bare = await startBroadcast();
  const reader = await startAdapterBroadcast(provider.url);
  const figures: Record<string, number> = {};
  try {
    for (const sockets of SOCKETS) {
      for (const rate of DELTAS_A_SECOND) {
        Object.assign(figures, await measure({ provider, product, bare, reader, cwd: project.dir }, { sockets, rate }));
        if (sockets > 1) Object.assign(figures, oneMore(figures, { sockets, rate }));
      }
    }
  } finally {
    bare.close();
    reader.close();
  }
  report({ name: "fan-out", counts: { sockets: SOCKETS, rates: DELTAS_A_SECOND, rounds: ROUNDS }, figures });
}

interface World {
  readonly provider: Awaited<ReturnType<typeof createFakeProvider>>;
  readonly product: Product;
  readonly bare: BareBroadcast;
  readonly reader: AdapterBroadcast;
  readonly cwd: string;
}

interface Scale {
  readonly sockets: number;
  readonly rate: number;
}

async function measure(
  { provider, product, bare, reader, cwd }: World,
  { sockets, rate }: Scale,
): Promise<Record<string, number>> {
  const { id } = await product.api.newTab({ cwd, model: "anthropic/claude-test", permissions: "allow" });
  const gate = await begun(provider, () => product.api.send(id, "go"));
  const read = await begun(provider, () => reader.read());
  const hello = { type: "hello", v: [1], client: "bench" };
  const own = sideOf(
    product.pid,
    await gather({
      url: `${product.url.replace("http", "ws")}/api/ws`,
      count: sockets,
      headers: { authorization: `Bearer ${product.api.token}` },
      says: [hello, { type: "sub", re: 1, tab: id, have: null, focus: true }],
    }),
  );
  const other = sideOf(bare.pid, await gather({ url: bare.url, count: sockets }));
  const adapter = sideOf(reader.pid, await gather({ url: reader.url, count: sockets }));
  await inTurns(ROUNDS, [
    () => window(own, rate, () => gate.emit(WORDS)),
    // At the rate and the size at which frames left the first side.
    () => window(other, own.rates.at(-1) ?? rate, () => bare.send("x".repeat(Math.round(own.sizes.at(-1) ?? 200)))),
    () => window(adapter, rate, () => read.emit(WORDS)),
  ]);
  gate.release();
  read.release();
  for (const { crowd } of [own, other, adapter]) crowd.close();
  return figuresOf(nameOf({ sockets, rate }), { own, other, adapter });
}

/** A stream of which the first words have come, and which goes on as its gate is told. */
async function begun(provider: World["provider"], ask: () => unknown): Promise<Gate> {
  provider.add({ blocks: [{ type: "text", text: "Here it comes. " }], holdAfter: 1 });
  const gate = provider.gate();
  await ask();
  await gate.started;
  await gate.step(1);
  return gate;
}

const nameOf = ({ sockets, rate }: Scale): string => `${sockets} sockets, ${rate} deltas/s`;

/** What each socket beyond the first adds to a delta: what the stream costs by itself is in both. */
function oneMore(figures: Readonly<Record<string, number>>, scale: Scale): Record<string, number> {
  const { sockets, rate } = scale;
  const added = (what: string): number => {
    const all = figures[`${nameOf(scale)}: ${what}`] ?? Number.NaN;
    const one = figures[`${nameOf({ sockets: 1, rate })}: ${what}`] ?? Number.NaN;
    return (all * sockets - one) / (sockets - 1);
  };
  const ratio = added("bare us a frame") / added("us a frame");
  return { [`${nameOf(scale)}: ratio of one socket more`]: thousandths(ratio) };
}

const sideOf = (pid: number, crowd: Crowd): Side => ({ pid, crowd, costs: [], rates: [], sizes: [] });

/** Some seconds of one side's sending, and what became of it. */
async function window(side: Side, rate: number, send: () => void): Promise<void> {
  const before = { us: processorUs(side.pid), frames: side.crowd.frames(), bytes: side.crowd.bytes() };
  await atRate(rate, send);
  // What was sent last has arrived, and whatever the sending left behind is done.
  await pause(100);
  const frames = side.crowd.frames() - before.frames;
  side.costs.push((processorUs(side.pid) - before.us) / frames);
  side.rates.push(frames / SECONDS / side.crowd.count);
  side.sizes.push((side.crowd.bytes() - before.bytes) / frames);
}

async function atRate(rate: number, send: () => void): Promise<void> {
  const start = performance.now();
  for (let sent = 0; sent < rate * SECONDS; sent++) {
    const due = start + (sent * 1000) / rate;
    if (due > performance.now()) await pause(due - performance.now());
    send();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function figuresOf(
  name: string,
  { own, other, adapter }: Readonly<Record<"own" | "other" | "adapter", Side>>,
): Record<string, number> {
  const [cost, bare, beside] = [median(own.costs), median(other.costs), median(adapter.costs)];
  return {
    [`${name}: us a frame`]: rounded(cost),
    [`${name}: bare us a frame`]: rounded(bare),
    [`${name}: adapter and bare us a frame`]: rounded(beside),
    [`${name}: ratio`]: thousandths(bare / cost),
    [`${name}: ratio beside the adapter`]: thousandths(beside / cost),
    [`${name}: frames/s a socket`]: rounded(median(own.rates)),
    [`${name}: bytes a frame`]: rounded(median(own.sizes)),
  };
}

if (!isBroadcast() && !isAdapterBroadcast()) await main();
