/** `node bin/varve.mjs` of this checkout as a process of its own: the real product, as a person starts it. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject } from "../json.ts";
import { within } from "./within.ts";

/** The checkout that runs here. */
export const root = checkout(dirname(fileURLToPath(import.meta.url)));
const program = join(root, "bin/varve.mjs");
const parts = ["dist/server/main.mjs", "dist/web/index.html"];

/** The checkout that this file, or the bundle that holds it, lies in. */
function checkout(dir: string): string {
  if (existsSync(join(dir, "bin/varve.mjs"))) return dir;
  if (dirname(dir) === dir) throw new Error("not inside a checkout of Varve");
  return checkout(dirname(dir));
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** All that it has said so far. */
  out(): string;
  err(): string;
  /** Resolves with the first match in what it says on standard output; rejects if the process ends without one. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
}

export interface ChildOptions {
  readonly args: readonly string[];
  /** The whole environment but for PATH, TZ and LANG. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Another build of the product than the checkout's own. */
  readonly program?: string;
}

export function startChild({ args, env, cwd, input, program: other }: ChildOptions): Child {
  const problem = other === undefined ? buildProblem() : null;
  if (problem !== null) throw new Error(`${problem}: run \`npm run build\` in the checkout.`);
  const { PATH = "", TZ = "UTC", LANG = "C.UTF-8" } = process.env;
  const child = spawn(process.execPath, [other ?? program, ...args], {
    // No test writes into the key ring of whoever runs it.
    env: { PATH, TZ, LANG, VARVE_KEYRING: "off", ...env },
    ...(cwd !== undefined && { cwd }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(input ?? "");
  return listenTo(child);
}

/** A page of one build that meets a server of another asks to be reloaded, which no test here is about. */
function buildProblem(): string | null {
  const missing = parts.filter((part) => !existsSync(join(root, part)));
  if (missing.length > 0) return `${missing.join(" and ")} not built`;
  const stamp: unknown = JSON.parse(readFileSync(join(root, "dist/.stamp"), "utf8"));
  const keyOf = (name: string): unknown => {
    const target = isObject(stamp) ? stamp[name] : undefined;
    return isObject(target) ? target.key : undefined;
  };
  return keyOf("server") === keyOf("web") ? null : "server and page are of two builds";
}

/** Runs a command to its end. */
export async function runVarve(options: ChildOptions): Promise<{ code: number | null; out: string; err: string }> {
  const child = startChild(options);
  const { code } = await within(`varve ${options.args.join(" ")} ends`, child.exited, 60_000).finally(() =>
    child.signal("SIGKILL"),
  );
  return { code, out: child.out(), err: child.err() };
}

function listenTo(child: ChildProcess): Child {
  const said = { out: "", err: "" };
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const watch of watchers) watch();
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
    tell();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said.err += text;
  });
  let ended = false;
  const exited = new Promise<Exit>((resolve, reject) => {
    child.on("error", reject);
    // Not `exit`: everything that it said is read by then.
    child.on("close", (code, signal) => {
      ended = true;
      resolve({ code, signal });
      tell();
    });
  });
  return {
    pid: child.pid ?? -1,
    exited,
    out: () => said.out,
    err: () => said.err,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(said.out);
          if (found === null && !ended) return;
          watchers.delete(look);
          if (found !== null) resolve(found);
          else reject(new Error(`varve ended without saying ${pattern}:\n${said.out}${said.err}`));
        };
        watchers.add(look);
        look();
      }),
    signal: (name) => void child.kill(name),
  };
}
