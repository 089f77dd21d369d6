/** The real world of a command: this process. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Clock } from "@varve/protocol";
import manifest from "../package.json" with { type: "json" };
import { keepHeapLean } from "./lean-heap.ts";
import type { World } from "./world.ts";

declare const __VARVE_BUILD__: string | undefined;

const clock: Clock = {
  now: () => Date.now(),
  setTimer: (ms, fire) => {
    const timer = setTimeout(fire, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** `base`: the URL of the bundle, beside which the built page lies. */
export function nodeWorld(base: string): World {
  const webRoot = fileURLToPath(new URL("../web/", base));
  return {
    env: process.env,
    userHome: homedir(),
    cwd: process.cwd(),
    platform: process.platform,
    pid: process.pid,
    clock,
    randomBytes: (into) => void crypto.getRandomValues(into),
    random: Math.random,
    fetch: (input, init) => globalThis.fetch(input, init),
    out: (line) => void process.stdout.write(line),
    err: (line) => void process.stderr.write(line),
    unread: unreadSignal(),
    input: () => text(process.stdin),
    webRoot: existsSync(webRoot) ? webRoot : null,
    version: manifest.version,
    build: typeof __VARVE_BUILD__ === "string" ? __VARVE_BUILD__ : "dev",
    openBrowser: (url) => openBrowser(url, process.platform),
    strayErrors: (tell) => void process.on("unhandledRejection", tell),
    listening: keepHeapLean,
    ending: endingSignal(),
  };
}

/** The first signal asks to end well; the second one ends at once. */
function endingSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(1);
      controller.abort();
    });
  }
  return controller.signal;
}

/** A reader that leaves (`varve tail ... | head`) is no error: the command ends, and a server goes on without its words. */
function unreadSignal(): AbortSignal {
  const controller = new AbortController();
  process.stdout.on("error", () => controller.abort());
  return controller.signal;
}

function openBrowser(url: string, platform: string): void {
  const program = platform === "darwin" ? "open" : platform === "win32" ? "explorer.exe" : "xdg-open";
  const child = spawn(program, [url], { stdio: "ignore", detached: true });
  // No such program: the link stands on the terminal.
  child.on("error", () => undefined);
  child.unref();
}
