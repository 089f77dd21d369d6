import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { within } from "../e2e/within.ts";
import { createFakeClock, type FakeClock } from "../fake-clock.ts";
import { createFaultProxy, type FaultProxy, type Proxied } from "./fault-proxy.ts";

/** Keeps what it is sent, and says what the test wants. */
class Party {
  text = "";
  ended = false;
  gone = false;
  readonly socket: Socket;
  readonly #watchers = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    const tell = (): void => {
      for (const watch of this.#watchers) watch();
    };
    socket.setEncoding("latin1").on("data", (text: string) => {
      this.text += text;
      tell();
    });
    socket.on("end", () => {
      this.ended = true;
      tell();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.gone = true;
      tell();
    });
  }

  until(what: string, wish: () => boolean): Promise<void> {
    return within(
      what,
      new Promise((resolve) => {
        const look = (): void => {
          if (wish()) resolve();
        };
        this.#watchers.add(look);
        look();
      }),
      5_000,
    );
  }
  hears(text: string): Promise<void> {
    return this.until(`hears ${text}`, () => this.text === text);
  }
  isGone(): Promise<void> {
    return this.until("is told that it is over", () => this.gone || this.ended);
  }
}

let clock: FakeClock;
let server: Server;
let proxy: FaultProxy;
let accepted: ((party: Party) => void)[];
let parties: Party[];

beforeEach(async () => {
  clock = createFakeClock();
  accepted = [];
  parties = [];
  server = createServer((socket) => {
    const party = new Party(socket);
    parties.push(party);
    accepted.shift()?.(party);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  proxy = await createFaultProxy({ target: () => `http://127.0.0.1:${port}`, clock });
});
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  for (const { socket } of parties) socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

interface Pair {
  readonly page: Party;
  readonly server: Party;
  readonly between: Proxied;
}

/** A connection of which both ends have heard each other. */
async function pair(first = "GET /x HTTP/1.1\r\n"): Promise<Pair> {
  const there = new Promise<Party>((resolve) => accepted.push(resolve));
  const page = new Party(connect(Number(new URL(proxy.url).port), "127.0.0.1"));
  parties.push(page);
  page.socket.write(first);
  const party = await within("the server is called", there, 5_000);
  await party.hears(first);
  party.socket.write("+");
  await page.hears("+");
  party.text = "";
  page.text = "";
  const between = proxy.connections().at(-1);
  if (between === undefined) throw new Error("the proxy has no connection");
  return { page, server: party, between };
}

/** The event loop goes round often enough for bytes to cross the loopback interface, were they let through. */
async function chanceToArrive(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("the fault proxy", () => {
  test("[SIM-50] passes bytes both ways, unchanged and in order, and knows which connections are sockets", async () => {
    const [http, socket] = [await pair(), await pair("GET /api/ws HTTP/1.1\r\n")];
    expect(proxy.connections().map(({ kind }) => kind)).toEqual(["http", "socket"]);
    expect(proxy.connections("socket")).toEqual([socket.between]);
    const much = "0123456789abcdef".repeat(40_000);
    http.page.socket.write(much);
    socket.server.socket.write(much);
    await Promise.all([http.server.hears(much), socket.page.hears(much)]);
    http.page.socket.end();
    await http.server.isGone();
    expect(proxy.made()).toBe(2);
  });

  test("[SIM-50] a delayed piece arrives at its time and not before, and nothing overtakes it", async () => {
    const { page, server: far, between } = await pair();
    between.set({ up: { kind: "delay", ms: 500 } });
    page.socket.write("a");
    await chanceToArrive();
    await clock.advance(499);
    await chanceToArrive();
    expect(far.text).toBe("");
    await clock.advance(1);
    await far.hears("a");
    page.socket.write("b");
    await chanceToArrive();
    between.set({ up: { kind: "pass" } });
    page.socket.write("c");
    await far.hears("abc");
  });

  test("[SIM-50] a stalled line takes nothing until it passes again, then everything", async () => {
    const { page, server: far, between } = await pair();
    between.set({ down: { kind: "stall" } });
    far.socket.write("abc");
    page.socket.write("x");
    await far.hears("x");
    await chanceToArrive();
    expect(page.text).toBe("");
    between.set({ down: { kind: "pass" } });
    await page.hears("abc");
  });

  test("[SIM-50] a throttled line lets so many bytes through in each interval", async () => {
    const { page, server: far, between } = await pair();
    between.set({ down: { kind: "throttle", bytes: 3, everyMs: 100 } });
    far.socket.write("abcdefgh");
    await page.hears("abc");
    await chanceToArrive();
    expect(page.text).toBe("abc");
    await clock.advance(100);
    await page.hears("abcdef");
    between.set({ down: { kind: "pass" } });
    await page.hears("abcdefgh");
  });

  test("[SIM-51] a half-open connection tells neither side anything, and never passes a byte again", async () => {
    const { page, server: far, between } = await pair();
    between.set({ down: { kind: "swallow" } });
    far.socket.write("lost");
    page.socket.write("up");
    await far.hears("up");
    await chanceToArrive();
    expect([page.text, between.broken]).toEqual(["", true]);
    far.socket.end();
    await chanceToArrive();
    expect([page.ended, page.gone]).toEqual([false, false]);
    between.set({ down: { kind: "pass" } });
    await chanceToArrive();
    expect(page.text).toBe("");
    proxy.heal();
    await page.isGone();
    expect(proxy.connections()).toEqual([]);
  });

  test("[SIM-51] cuts after so many bytes, at once when asked, and refuses new connections", async () => {
    const first = await pair();
    first.between.set({ down: { kind: "cut-after", bytes: 4 } });
    first.server.socket.write("abcdefgh");
    await Promise.all([first.page.isGone(), first.server.isGone()]);
    expect("abcd".startsWith(first.page.text)).toBe(true);
    const second = await pair();
    second.between.cut();
    await Promise.all([second.page.isGone(), second.server.isGone()]);
    proxy.refuse(true);
    const refused = new Party(connect(Number(new URL(proxy.url).port), "127.0.0.1"));
    parties.push(refused);
    await refused.isGone();
    proxy.heal();
    expect((await pair()).page.gone).toBe(false);
  });

  test("[SIM-50] new connections begin with the default, and an end of stream passes", async () => {
    proxy.setDefault({ up: { kind: "stall" } });
    const page = new Party(connect(Number(new URL(proxy.url).port), "127.0.0.1"));
    parties.push(page);
    const there = new Promise<Party>((resolve) => accepted.push(resolve));
    page.socket.write("held");
    const far = await within("the server is called", there, 5_000);
    await chanceToArrive();
    expect(far.text).toBe("");
    proxy.heal();
    await far.hears("held");
    page.socket.end();
    await far.isGone();
    await page.isGone();
  });
});

test("[SIM-50] the proxy sets no timer but those of its rules", async () => {
  await pair();
  expect(clock.pending()).toBe(0);
});
