/** A whole server for tests, without listening: the real doors, workspace, log in memory; a provider over loopback. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Log, memoryLog } from "@varve/log";
import { type Clock, isFault, type TabRecord } from "@varve/protocol";
import { createFakeProvider, createPrng, type FakeProvider, type ScriptItem } from "@varve/sim";
import { compose, type Parts } from "../compose.ts";
import type { StartOptions } from "../start-options.ts";
import { type Caller, memoryCaller, type Reply, type Request, socketCaller } from "./call.ts";

export const realClock: Clock = {
  now: () => Date.now(),
  setTimer(ms, fire) {
    const timer = setTimeout(fire, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** A new folder for temporary files, as a real path. */
export const temporaryFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "varve-test-")));

export interface HouseOptions {
  readonly log?: Log;
  readonly clock?: Clock;
  readonly script?: readonly ScriptItem[];
  readonly env?: Readonly<Record<string, string>>;
  readonly webRoot?: string | null;
  readonly writeLog?: (line: string) => void;
  readonly seed?: number;
  readonly home?: string;
  /** How the server is reached: names, proxies, the address for links. */
  readonly address?: Pick<Partial<StartOptions>, "host" | "allowHosts" | "trustProxies" | "publicUrl">;
}

export interface House extends AsyncDisposable {
  readonly parts: Parts;
  readonly provider: FakeProvider;
  /** `VARVE_HOME`, and a directory to work in. */
  readonly home: string;
  readonly project: string;
  /** Without a socket, as `http://127.0.0.1:4477`. */
  readonly memory: Caller;
  /** With the token. */
  call(method: string, path: string, body?: unknown): Promise<Reply>;
  /** A tab on `project`. */
  tab(body?: Readonly<Record<string, unknown>>): Promise<TabRecord>;
  /** Signs a device in: the headers that make its requests good. */
  device(caller?: Caller): Promise<{ readonly cookie: string; readonly "x-varve-key": string }>;
  /** Listens on a free port of the loopback interface. */
  listen(): Promise<Caller>;
}

export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const provider = await createFakeProvider({ script: options.script ?? [], models: ["test-model"] });
  const home = options.home ?? temporaryFolder();
  const project = temporaryFolder();
  const log = options.log ?? memoryLog();
  const parts = await compose(log, startOptions(options, { home, userHome: project, url: provider.url }));
  if (isFault(parts)) throw new Error(parts.message);
  const memory = memoryCaller(parts.doors.app, "127.0.0.1:4477");
  const call: House["call"] = (method, path, body) => memory(asToken(parts.token, method, path, body));
  return {
    parts,
    provider,
    home,
    project,
    memory,
    call,
    async tab(body = {}) {
      const made = await call("POST", "/api/tabs", { cwd: project, ...body });
      if (made.status !== 201) throw new Error(made.text);
      // The route's answer is a tab record; another test checks it against its schema.
      return made.json as TabRecord;
    },
    async device(caller = memory) {
      const signedIn = await caller({ method: "POST", path: "/api/sign-in", body: { code: parts.codes.make() } });
      const cookie = signedIn.headers["set-cookie"]?.split(";", 1)[0];
      const key: unknown = Reflect.get(Object(signedIn.json), "key");
      if (cookie === undefined || typeof key !== "string") throw new Error(`no sign-in: ${signedIn.text}`);
      return { cookie, "x-varve-key": key };
    },
    listen: () => listen(parts),
    async [Symbol.asyncDispose]() {
      await parts.workspace.close(1);
      await parts.doors.close();
      await parts.tools.close();
      await provider.close();
      for (const folder of [home, project]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const asToken = (token: string, method: string, path: string, body?: unknown): Request => ({
  method,
  path,
  headers: { authorization: `Bearer ${token}` },
  ...(body !== undefined && { body }),
});

function startOptions(
  options: HouseOptions,
  place: { readonly home: string; readonly userHome: string; readonly url: string },
): StartOptions {
  const prng = createPrng(options.seed ?? 1);
  return {
    host: "127.0.0.1",
    port: 0,
    home: place.home,
    userHome: place.userHome,
    allowHosts: [],
    env: { OPENAI_COMPATIBLE_BASE_URL: `${place.url}/v1`, VARVE_LOG: "debug", ...options.env },
    clock: options.clock ?? realClock,
    randomBytes: (into) => prng.fill(into),
    random: () => 0.5,
    fetch: globalThis.fetch,
    pid: 1,
    webRoot: options.webRoot ?? null,
    version: "0.0.0",
    build: "test-build",
    writeLog: options.writeLog ?? (() => undefined),
    demoDelayMs: 0,
    ...options.address,
  };
}

function listen({ doors }: Parts): Promise<Caller> {
  return new Promise((resolve) => {
    doors.server.listen(0, "127.0.0.1", () => {
      const address = doors.server.address();
      if (typeof address !== "object" || address === null) throw new Error("a listening server has an address");
      resolve(socketCaller(address.port));
    });
  });
}
