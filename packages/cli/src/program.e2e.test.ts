import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFakeProvider, type FakeProvider } from "@varve/sim";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "./testing/fake-world.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** Inside the checkout, so that packages with native parts are found. */
const outdir = join(root, `.varve-build/program-${process.pid}`);
const program = join(outdir, "main.mjs");
const children = new Set<ChildProcess>();
let provider: FakeProvider;
let home: string;
let project: string;

beforeAll(async () => {
  mkdirSync(outdir, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: { main: "packages/cli/src/main.ts" },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["@photostructure/sqlite", "@vscode/ripgrep", "@napi-rs/keyring", "sharp", "node:sqlite"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error",
  });
  provider = await createFakeProvider({ models: ["m"] });
  [home, project] = [temporaryFolder(), temporaryFolder()];
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await provider.close();
  for (const folder of [outdir, home, project]) rmSync(folder, { recursive: true, force: true });
});

interface Running {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  /** Resolves once the output fits. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

const varve = (...args: readonly string[]): Running => varveWith({}, ...args);

function varveWith(more: Readonly<Record<string, string>>, ...args: readonly string[]): Running {
  const { PATH, HOME, TMPDIR } = process.env;
  const env = {
    PATH,
    HOME,
    TMPDIR,
    VARVE_HOME: home,
    VARVE_PORT: "0",
    OPENAI_COMPATIBLE_BASE_URL: `${provider.url}/v1`,
    ...more,
  };
  const child = spawn(process.execPath, [program, ...args], { env, cwd: project, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  let [out, err] = ["", ""];
  const waiting = new Set<() => void>();
  child.stdout?.on("data", (bytes: Buffer) => {
    out += bytes.toString("utf8");
    for (const look of waiting) look();
  });
  child.stderr?.on("data", (bytes: Buffer) => {
    err += bytes.toString("utf8");
  });
  const ended: Running["ended"] = new Promise((resolve) => {
    child.on("close", (code, signal) => {
      children.delete(child);
      resolve({ code, signal });
    });
  });
  const says: Running["says"] = (pattern) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(out);
        if (found === null) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      void ended.then(() => reject(new Error(`it ended without saying ${pattern}: ${out}${err}`)));
    });
  return { child, out: () => out, err: () => err, says, ended };
}
const listening = /^Varve listening on (http:\S+)$/m;
const done = { code: 0, signal: null };

async function ran(...args: readonly string[]): Promise<Running> {
  const running = varve(...args);
  await running.ended;
  return running;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  /** The name that is called; fetch would write its own. */
  readonly host: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function asking(port: number, { method, path, host, headers, body }: Asked) {
  const typed = body === undefined ? {} : { "content-type": "application/json" };
  return new Promise<{ status: number; text: string; cookie: string }>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path, headers: { host, ...typed, ...headers } };
    const outgoing = request(options, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      const cookie = answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text, cookie }));
    });
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A process that has ended and that nobody has waited for yet does not live. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self/stat") || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false; // There is no such process.
  }
}

describe("the program as a process", () => {
  test("starts, answers a second start, ends well on SIGTERM and on SIGINT", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const server = varve("--no-open");
      const [, url] = await server.says(listening);
      const second = await ran("--no-open");
      expect(second.out()).toContain(`Varve is running already on ${url}`);
      expect(await second.ended).toEqual(done);
      server.child.kill(signal);
      expect(await server.ended).toEqual(done);
      expect(server.err()).toBe("");
      expect(existsSync(join(home, "server.json"))).toBe(false);
    }
  });

  test("an argument that is not known exits with 2, a command without a server with 3", async () => {
    expect(await (await ran("nonsense")).ended).toEqual({ code: 2, signal: null });
    expect(await (await ran("link")).ended).toEqual({ code: 3, signal: null });
  });

  test("a second device comes in by a link under a further name, a program by a named token, and both go when they are told", async () => {
    const name = "varve.example";
    const server = varve("--no-open", "--allow-host", name, "--public-url", "http://other.example");
    const [, url = ""] = await server.says(listening);
    expect(server.out()).toMatch(/^Sign in: http:\/\/other\.example\/#code=[\w-]{43}$/m);
    const { port } = new URL(url);
    const ask = (method: string, path: string, asked: { headers?: Record<string, string>; body?: unknown } = {}) =>
      asking(Number(port), { method, path, host: `${name}:${port}`, ...asked });
    const signIn = async (link: string) => {
      const origin = `http://${name}:${port}`;
      const code = link.split("#code=")[1];
      const answer = await ask("POST", "/api/sign-in", { headers: { origin }, body: { code } });
      expect(answer.status, answer.text).toBe(200);
      return { cookie: answer.cookie, "x-varve-key": String(JSON.parse(answer.text).key), origin };
    };
    const link = await ran("link");
    expect(link.out()).toMatch(/^http:\/\/other\.example\/#code=/);
    const first = await signIn(link.out().trim());
    const forSecond = JSON.parse((await ask("POST", "/api/links", { headers: first, body: {} })).text);
    expect(forSecond.url).toMatch(new RegExp(`^http://${name}:${port}/#code=`));
    const second = await signIn(forSecond.url);
    const devices = JSON.parse((await ask("GET", "/api/devices", { headers: second })).text).devices;
    expect(devices).toHaveLength(2);
    const gone = devices.find((device: { readonly current: boolean }) => !device.current).id;
    expect((await ask("DELETE", `/api/devices/${gone}`, { headers: second })).status).toBe(200);
    expect((await ask("GET", "/api/me", { headers: first })).status).toBe(401);
    expect((await ask("GET", "/api/me", { headers: second })).status).toBe(200);
    expect((await asking(Number(port), { method: "GET", path: "/", host: "evil.example" })).status).toBe(403);
    const secret = (await ran("token", "add", "ci")).out().trim();
    const program = { authorization: `Bearer ${secret}` };
    expect((await ask("GET", "/api/tabs", { headers: program })).status).toBe(200);
    expect((await ask("POST", "/api/links", { headers: program, body: {} })).status).toBe(403);
    const { id } = JSON.parse((await ran("token", "list")).out());
    expect((await ran("token", "remove", id)).out()).toBe(`${id}\n`);
    expect((await ask("GET", "/api/tabs", { headers: program })).status).toBe(401);
    server.child.kill("SIGTERM");
    expect(await server.ended).toEqual(done);
    expect(server.err()).toBe("");
  });

  test("beyond loopback without a token of one's own, or with a weak one, it ends and its port stays closed", async () => {
    for (const token of [undefined, "short", "aaaaaaaaaaaaaaaaaaaaaaaa"]) {
      const refused = varveWith(
        { ...(token !== undefined && { VARVE_TOKEN: token }) },
        "--host",
        "0.0.0.0",
        "--no-open",
      );
      expect(await refused.ended).toEqual({ code: 1, signal: null });
      expect(refused.out()).toBe("");
      expect(refused.err()).toMatch(/^varve: Varve does not listen on 0\.0\.0\.0 .+\(bad-request\)\n$/);
    }
  });

  test("killed in the middle of a command and started again: everything sealed is there, and the command is gone", async () => {
    const mark = join(project, "pid");
    const command = `echo $$ > ${mark}; exec sleep 300`;
    provider.add({ blocks: [{ type: "tool_use", name: "bash", input: { command } }] });
    const first = varve("--no-open");
    await first.says(listening);
    const waiting = varve("send", "--new", "run it", "--permissions", "allow", "--wait");
    await waiting.says(/"tool_call"/);
    while (!existsSync(mark) || readFileSync(mark, "utf8").trim() === "")
      await new Promise((resolve) => setImmediate(resolve));
    const pid = Number(readFileSync(mark, "utf8"));
    first.child.kill("SIGKILL");
    await first.ended;
    expect(isAlive(pid)).toBe(true);
    const port = String(JSON.parse(readFileSync(join(home, "server.json"), "utf8")).port);
    const second = varve("--no-open", "--port", port);
    await second.says(listening);
    expect(isAlive(pid)).toBe(false);
    expect(await waiting.ended).toEqual({ code: 5, signal: null });
    expect(waiting.err()).toContain("The server was restarted in the middle of the turn.");
    const rows = waiting.out();
    expect(rows).toContain('"kind":"turn-end","reason":"restart"');
    const tab = String(JSON.parse(rows.split("\n")[0] ?? "").tab);
    provider.add({ blocks: [{ type: "text", text: "going on" }] });
    const on = await ran("send", tab, "go on", "--wait");
    expect(await on.ended).toEqual(done);
    expect(on.out()).toContain("going on");
    const tail = varve("tail", tab);
    await tail.says(/going on/);
    tail.child.stdout?.destroy();
    provider.add({ blocks: [{ type: "text", text: "unread" }] });
    await ran("send", tab, "once more", "--wait");
    expect(await tail.ended).toEqual(done);
    expect(tail.err()).toBe("");
    second.child.kill("SIGTERM");
    expect(await second.ended).toEqual(done);
  });
});
