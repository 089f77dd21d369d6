import { createFakeProvider, type FakeProvider, makeProject } from "@varve/sim";
import { Product } from "@varve/sim/e2e";
import { isPassThrough, startPassThrough } from "./lib/pass-through.ts";
import { numberFlag, report } from "./lib/report.ts";
import { type ClientSocket, WebSocket } from "./lib/sockets.ts";
import { quantile, thousandths } from "./lib/statistics.ts";
import { inTurns } from "./lib/turns.ts";

// How much later a provider's delta reaches a client's socket through the server than through a proxy that only hands pieces
// on. One provider and one clock; each delta is numbered and goes down one way at a time, in turns. Apart from the rest the
// first delta of an answer, behind which the request was read, folded and sent. Budgets over the floor, at 20 deltas a
// second: under 1 ms at the median, under 2 at the 95th of a hundred; the first delta under 3.

const ROUNDS = numberFlag("--rounds", 10);
const DELTAS = numberFlag("--deltas", 60);
const EVERY_MS = 50;

interface Way {
  readonly later: number[];
  readonly first: number[];
}

async function main(): Promise<void> {
  await using provider = await createFakeProvider({ script: [] });
  await using project = await makeProject("tasks");
  await using product = await Product.start({ provider });
  const proxy = await startPassThrough(provider.url);
  const ways = { own: { later: [], first: [] }, floor: { later: [], first: [] } } satisfies Record<string, Way>;
  try {
    const { id } = await product.api.newTab({
      cwd: project.dir,
      model: "anthropic/claude-test",
      permissions: "allow",
    });
    const own = await Ear.at(`${product.url.replace("http", "ws")}/api/ws`, product.api.token);
    own.say({ type: "hello", v: [1], client: "bench" });
    own.say({ type: "sub", re: 1, tab: id, have: null, focus: true });
    let messages = 0;
    await inTurns(ROUNDS, [
      async () => {
        await answer(provider, own, ways.own, () => product.api.send(id, `message ${messages++}`));
        await product.api.head(id);
      },
      async () => {
        const ear = await Ear.at(proxy.url);
        const messages = [{ role: "user", content: "go on" }];
        await answer(provider, ear, ways.floor, () =>
          ear.say({ model: "claude-test", max_tokens: 100, stream: true, messages }),
        );
        ear.close();
      },
    ]);
    own.close();
  } finally {
    proxy.close();
  }
  report({ name: "latency", counts: { answers: ROUNDS, deltas: ROUNDS * DELTAS }, figures: figuresOf(ways) });
}

function figuresOf({ own, floor }: { readonly own: Way; readonly floor: Way }): Record<string, number> {
  const figures: Record<string, number> = {};
  const put = (name: string, of: (way: Way) => number): void => {
    figures[`${name} ms`] = thousandths(of(own));
    figures[`${name} floor ms`] = thousandths(of(floor));
    figures[`${name} added ms`] = thousandths(of(own) - of(floor));
  };
  put("p50", ({ later }) => quantile(later, 0.5));
  put("p95", ({ later }) => quantile(later, 0.95));
  put("first delta p50", ({ first }) => quantile(first, 0.5));
  return figures;
}

/** One answer of numbered deltas, each said when the one before has had its time. */
async function answer(provider: FakeProvider, ear: Ear, way: Way, ask: () => unknown): Promise<void> {
  provider.add({ blocks: [], holdAfter: 0 });
  const gate = provider.gate();
  await ask();
  await gate.started;
  // What the request itself told the client is over an interval ago, as it is where a model thinks before it speaks.
  await pause(EVERY_MS * 2);
  for (let number = 0; number < DELTAS; number++) {
    const mark = `<${ear.next++}>`;
    const heard = ear.hears(mark);
    const start = performance.now();
    gate.emit(`word ${mark} `);
    const ms = (await heard) - start;
    if (number === 0) way.first.push(ms);
    else way.later.push(ms);
    await pause(EVERY_MS - (performance.now() - start));
  }
  gate.release();
  await provider.idle();
  // The turn's end is written and told: the next answer begins at rest.
  await pause(EVERY_MS);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

/** A socket that says when a mark came. */
class Ear {
  next = 0;
  readonly #socket: ClientSocket;
  #mark = "";
  #heard: ((at: number) => void) | null = null;

  private constructor(socket: ClientSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const at = performance.now();
      if (this.#heard === null || !String(data).includes(this.#mark)) return;
      this.#heard(at);
      this.#heard = null;
    });
  }

  static async at(url: string, token?: string): Promise<Ear> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return new Ear(socket);
  }

  say(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
  }

  hears(mark: string): Promise<number> {
    this.#mark = mark;
    return new Promise((resolve) => {
      this.#heard = resolve;
    });
  }

  close(): void {
    this.#socket.terminate();
  }
}

if (!isPassThrough()) await main();
