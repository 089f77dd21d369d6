import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
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
    external: ["@photostructure/sqlite", "@vscode/ripgrep", "node:sqlite"],
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

function varve(...args: readonly string[]): Running {
  const { PATH, HOME, TMPDIR } = process.env;
  const env = {
    PATH,
    HOME,
    TMPDIR,
    VARVE_HOME: home,
    VARVE_PORT: "0",
    OPENAI_COMPATIBLE_BASE_URL: `${provider.url}/v1`,
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
