/**
 * A proxy between real pages and a real server that does to bytes what networks do: delays them, stops taking them, takes
 * them and tells nobody, cuts in the middle of a frame, refuses. It knows nothing of HTTP but whether a connection asks for
 * the socket. It sets timers on the given clock alone, and only for rules that name a time.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { assert, type Clock } from "@varve/protocol";
import { type Flow, Line } from "./line.ts";

export type Direction = "up" | "down";
/** Both directions of a connection: `up` to the server, `down` to the page. */
export type Flows = Readonly<Partial<Record<Direction, Flow>>>;

export interface FaultProxyOptions {
  /** Where the server listens, as `http://127.0.0.1:4477`. Asked for at each new connection. */
  readonly target: () => string;
  readonly clock: Clock;
}

export interface Proxied {
  /** From 1, in order of arrival. */
  readonly number: number;
  /** `socket`: it asks for `/api/ws`; "" until something was asked. */
  readonly kind: "socket" | "http" | "";
  readonly passed: Readonly<Record<Direction, number>>;
  /** Bytes were thrown away: only a cut helps. */
  readonly broken: boolean;
  set(flows: Flows): void;
  /** Resets both sides. */
  cut(): void;
}

export interface FaultProxy extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Open connections, oldest first. */
  connections(kind?: Proxied["kind"]): readonly Proxied[];
  /** How many connections there were in all. */
  made(): number;
  /** What new connections begin with; open ones stay as they are. */
  setDefault(flows: Flows): void;
  /** New connections are reset at once. */
  refuse(refusing: boolean): void;
  /** Ends every fault: new connections pass, open ones pass on, and those that have lost bytes are cut. */
  heal(): void;
  /** Resolves when the next connection of that kind is there. */
  next(kind: "socket" | "http"): Promise<Proxied>;
}

const passing: Flows = { up: { kind: "pass" }, down: { kind: "pass" } };
const asksForSocket = /^GET \/api\/ws[? ]/;

export async function createFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new ListeningProxy(options);
  await proxy.listen();
  return proxy;
}

class ListeningProxy implements FaultProxy {
  readonly #options: FaultProxyOptions;
  readonly #server: Server;
  readonly #open = new Set<Connection>();
  readonly #awaited: { readonly kind: string; readonly found: (connection: Proxied) => void }[] = [];
  #default: Flows = passing;
  #refusing = false;
  #made = 0;

  constructor(options: FaultProxyOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#serve(socket));
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", resolve);
    });
  }

  get url(): string {
    const address = this.#server.address();
    assert(typeof address === "object" && address !== null, "the proxy listens");
    return `http://127.0.0.1:${address.port}`;
  }

  connections(kind?: Proxied["kind"]): readonly Proxied[] {
    return [...this.#open].filter((connection) => kind === undefined || connection.kind === kind);
  }

  made(): number {
    return this.#made;
  }

  setDefault(flows: Flows): void {
    this.#default = { ...passing, ...flows };
  }

  refuse(refusing: boolean): void {
    this.#refusing = refusing;
  }

  heal(): void {
    this.#default = passing;
    this.#refusing = false;
    for (const connection of this.#open) {
      if (connection.broken) connection.cut();
      else connection.set(passing);
    }
  }

  next(kind: "socket" | "http"): Promise<Proxied> {
    return new Promise((found) => this.#awaited.push({ kind, found }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#open) connection.cut();
    await closed;
  }

  #serve(page: Socket): void {
    this.#made += 1;
    if (this.#refusing) {
      page.on("error", () => page.destroy());
      page.resetAndDestroy();
      return;
    }
    const { hostname, port } = new URL(this.#options.target());
    const server = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const connection = new Connection({ number: this.#made, page, server, clock: this.#options.clock });
    this.#open.add(connection);
    connection.set(this.#default);
    connection.onKind = () => this.#found(connection);
    connection.onGone = () => this.#open.delete(connection);
  }

  #found(connection: Connection): void {
    const at = this.#awaited.findIndex(({ kind }) => kind === connection.kind);
    if (at >= 0) this.#awaited.splice(at, 1)[0]?.found(connection);
  }
}

interface Ends {
  readonly number: number;
  readonly page: Socket;
  readonly server: Socket;
  readonly clock: Clock;
}

class Connection implements Proxied {
  readonly number: number;
  kind: Proxied["kind"] = "";
  onKind: () => void = () => undefined;
  onGone: () => void = () => undefined;
  readonly #ends: Ends;
  readonly #up: Line;
  readonly #down: Line;
  #gone = false;

  constructor(ends: Ends) {
    const { page, server, clock } = ends;
    this.number = ends.number;
    this.#ends = ends;
    const cut = (): void => this.cut();
    // Before the line's own listener, so that the first faults of a connection can depend on what it is.
    page.once("data", (bytes: Buffer) => {
      this.kind = asksForSocket.test(bytes.toString("latin1")) ? "socket" : "http";
      this.onKind();
    });
    this.#up = new Line({ from: page, to: server, clock, cut });
    this.#down = new Line({ from: server, to: page, clock, cut });
    for (const socket of [page, server]) {
      socket.setNoDelay(true);
      socket.on("error", cut);
      socket.on("close", () => this.#closed(socket));
    }
  }

  get passed(): Readonly<Record<Direction, number>> {
    return { up: this.#up.passed, down: this.#down.passed };
  }

  get broken(): boolean {
    return this.#up.broken || this.#down.broken;
  }

  set(flows: Flows): void {
    if (flows.up !== undefined) this.#up.set(flows.up);
    if (flows.down !== undefined) this.#down.set(flows.down);
  }

  cut(): void {
    for (const socket of [this.#ends.page, this.#ends.server]) {
      if (!socket.destroyed) socket.resetAndDestroy();
    }
    this.#over();
  }

  /** One side is gone. The other hears of it, unless its line is one that tells nothing. */
  #closed(socket: Socket): void {
    const { page, server } = this.#ends;
    const [line, other] = socket === page ? [this.#up, server] : [this.#down, page];
    if (line.flow.kind === "swallow" && !other.destroyed) return;
    if (page.destroyed && server.destroyed) this.#over();
    else if (socket.errored !== null || other.writableEnded) other.destroy();
  }

  #over(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#up.close();
    this.#down.close();
    this.onGone();
  }
}
