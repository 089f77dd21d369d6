/** The real server of the product in this process, on a home in a temporary folder, without any network but loopback. */
import { randomFillSync } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, isFault } from "@varve/protocol";
import { type RunningServer, type StartOptions, startServer } from "@varve/server";
import type { Prng } from "../prng.ts";
import type { RestInput } from "./fuzz-input.ts";
import type { HttpAnswer } from "./judge.ts";

const clock: Clock = {
  now: () => Date.now(),
  setTimer(ms, fire) {
    const timer = setTimeout(fire, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Nobody is called: whoever would be answers with nonsense, or not at all. */
export const nonsenseFetch =
  (prng: Prng): typeof globalThis.fetch =>
  async () => {
    const status = prng.pick([200, 200, 400, 401, 404, 429, 500, 503]);
    const body = prng.pick([
      "",
      "{}",
      "[]",
      '{"data":[{"id":1}]}',
      '{"data":[{"id":"m\\u202e"}]}',
      "<html>",
      "null",
      '{"data":{}}',
    ]);
    if (prng.chance(0.2)) throw new TypeError("fetch failed");
    return new Response(body, {
      status,
      headers: { "content-type": prng.pick(["application/json", "text/html", ""]) },
    });
  };

export interface Place extends AsyncDisposable {
  readonly home: string;
  readonly userHome: string;
  readonly project: string;
}

/** A home that is not made yet, a user's home, and a project with a few files. */
export async function makePlace(): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "varve-fuzz-")));
  const [home, userHome, project] = [join(root, "state"), join(root, "user"), join(root, "project")];
  for (const folder of [userHome, project]) await mkdir(folder);
  await writeFile(join(project, "a.txt"), "one\ntwo TODO three\n");
  return {
    ...{ home, userHome, project },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Lines of the server's log that must not be, whatever is asked. */
export const alarms = /"(request-failed|command-failed|turn-broke|recovery-failed|log-check|stray-error)"/;

/** A server that answers on loopback, here or in a process of its own. */
export class Caller {
  readonly port: number;
  /** Headers of whoever is let in. */
  readonly token: Readonly<Record<string, string>>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 });

  constructor(port: number, token: string) {
    this.port = port;
    this.token = { authorization: `Bearer ${token}` };
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** One good request. */
  async call(method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = { ...this.token, ...(text !== "" && { "content-type": "application/json" }) };
    return this.ask({ method, path: `/api${path}`, headers, body: text });
  }

  /** Any request that a client of HTTP can make at all. The body is in Latin-1. */
  ask({ method, path, headers, body }: Omit<RestInput, "kind">): Promise<HttpAnswer> {
    // Some methods have no body by themselves: then its bytes would be taken for another request.
    const framed = body === "" ? headers : { ...headers, "content-length": String(body.length) };
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: this.port, agent: this.#agent, method, path, headers: framed };
      const outgoing = request(options, (incoming) => {
        const { statusCode: status = 0 } = incoming;
        const type = incoming.headers["content-type"] ?? "";
        const parts: Buffer[] = [];
        const done = (): void => resolve({ status, type, body: Buffer.concat(parts).toString("utf8") });
        incoming.on("data", (part: Buffer) => {
          parts.push(part);
          // A stream of events has no end: its beginning is the answer.
          if (type.startsWith("text/event-stream")) {
            done();
            outgoing.destroy();
          }
        });
        incoming.on("end", done);
        incoming.on("error", done);
      });
      outgoing.on("error", reject);
      outgoing.end(body, "latin1");
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

export class Target implements AsyncDisposable {
  readonly server: RunningServer;
  readonly caller: Caller;
  /** Log lines that tell of something broken, and are then forgotten. */
  readonly alarms: string[];

  private constructor(server: RunningServer, told: string[]) {
    this.server = server;
    this.caller = new Caller(server.port, server.token);
    this.alarms = told;
  }

  /** A fault is an answer: a home or an environment may be too broken to start on. */
  static async start(place: Place, prng: Prng, more: Partial<StartOptions> = {}) {
    const told: string[] = [];
    const server = await startServer({
      host: "127.0.0.1",
      port: 0,
      home: place.home,
      userHome: place.userHome,
      allowHosts: [],
      env: {},
      clock,
      randomBytes: (into) => void randomFillSync(into),
      random: () => prng.float(),
      fetch: nonsenseFetch(prng.fork()),
      pid: process.pid,
      webRoot: null,
      version: "0.0.0",
      build: "fuzz",
      demoDelayMs: 0,
      ...more,
      writeLog: (line) => {
        if (alarms.test(line)) told.push(line);
      },
    });
    if (isFault(server)) return server;
    if (server.kind === "elsewhere") throw new Error(`a server runs on ${place.home} already`);
    return new Target(server, told);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.caller.close();
    await this.server.stop();
  }
}
