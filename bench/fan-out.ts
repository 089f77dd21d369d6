import { createFakeProvider, makeProject } from "@varve/sim";
import { Product } from "@varve/sim/e2e";
import { type BareBroadcast, isBroadcast, startBroadcast } from "./lib/bare-broadcast.ts";
import { processorUs } from "./lib/process-figures.ts";
import { numberFlag, report } from "./lib/report.ts";
import { type Crowd, gather } from "./lib/socket-crowd.ts";
import { median, rounded, thousandths } from "./lib/statistics.ts";
import { inTurns } from "./lib/turns.ts";

// What a frame to one socket costs the server's process, with 1, 50 and 200 sockets on one tab that streams, against a bare
// `ws` server that sends a text of the same size at the same rate to as many. Provider, sockets and clock are elsewhere.
// The whole ratio holds the stream itself against the bare server too (reading the provider, journal, owner); the ratio of
// what one socket more costs is the hub's alone. With more deltas than ticks, frames are made on ticks; the sockets came one
// after another, so their ticks differ. Budget: 200 sockets at 0.8 of the bare at least.

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
  const figures: Record<string, number> = {};
  try {
    for (const sockets of SOCKETS) {
      for (const rate of DELTAS_A_SECOND) {
        Object.assign(figures, await measure({ provider, product, bare, cwd: project.dir }, { sockets, rate }));
        if (sockets > 1) Object.assign(figures, oneMore(figures, sockets, rate));
      }
    }
  } finally {
    bare.close();
  }
  report({ name: "fan-out", counts: { sockets: SOCKETS, rates: DELTAS_A_SECOND, rounds: ROUNDS }, figures });
}

interface World {
  readonly provider: Awaited<ReturnType<typeof createFakeProvider>>;
  readonly product: Product;
  readonly bare: BareBroadcast;
  readonly cwd: string;
}

async function measure(
  { provider, product, bare, cwd }: World,
  { sockets, rate }: { readonly sockets: number; readonly rate: number },
): Promise<Record<string, number>> {
  provider.add({ blocks: [{ type: "text", text: "Here it comes. " }], holdAfter: 1 });
  const { id } = await product.api.newTab({ cwd, model: "anthropic/claude-test", permissions: "allow" });
  const gate = provider.gate();
  await product.api.send(id, "go");
  await gate.started;
  await gate.step(1);
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
  await inTurns(ROUNDS, [
    () => window(own, rate, () => gate.emit(WORDS)),
    // At the rate and the size at which frames left the other side.
    () => window(other, own.rates.at(-1) ?? rate, () => bare.send("x".repeat(Math.round(own.sizes.at(-1) ?? 200)))),
  ]);
  gate.release();
  own.crowd.close();
  other.crowd.close();
  return figuresOf(nameOf(sockets, rate), own, other);
}

const nameOf = (sockets: number, rate: number): string => `${sockets} sockets, ${rate} deltas/s`;

/** What each socket beyond the first adds to a delta: what the stream costs by itself is in both. */
function oneMore(figures: Readonly<Record<string, number>>, sockets: number, rate: number): Record<string, number> {
  const added = (what: string): number => {
    const all = figures[`${nameOf(sockets, rate)}: ${what}`] ?? Number.NaN;
    const one = figures[`${nameOf(1, rate)}: ${what}`] ?? Number.NaN;
    return (all * sockets - one) / (sockets - 1);
  };
  const ratio = added("bare us a frame") / added("us a frame");
  return { [`${nameOf(sockets, rate)}: ratio of one socket more`]: thousandths(ratio) };
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

function figuresOf(name: string, own: Side, other: Side): Record<string, number> {
  return {
    [`${name}: us a frame`]: rounded(median(own.costs)),
    [`${name}: bare us a frame`]: rounded(median(other.costs)),
    [`${name}: ratio`]: thousandths(median(other.costs) / median(own.costs)),
    [`${name}: frames/s a socket`]: rounded(median(own.rates)),
    [`${name}: bytes a frame`]: rounded(median(own.sizes)),
  };
}

if (!isBroadcast()) await main();
