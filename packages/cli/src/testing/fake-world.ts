/** A world for one command in this process: what it prints is kept, and the test says when it ends. */
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPrng } from "@varve/sim";
import type { World } from "../world.ts";

export const temporaryFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "varve-cli-")));

export interface FakeWorld extends World {
  /** All that was printed so far. */
  printed(): string;
  complained(): string;
  /** Resolves once the printed text fits. */
  prints(pattern: RegExp): Promise<RegExpExecArray>;
  end(): void;
  readonly opened: readonly string[];
}

let seed = 100;

export function fakeWorld(home: string, given: Partial<World> = {}): FakeWorld {
  const prng = createPrng(++seed);
  const ending = new AbortController();
  const opened: string[] = [];
  const waiting = new Set<() => void>();
  let [out, err] = ["", ""];
  return {
    env: { VARVE_HOME: home, VARVE_PORT: "0" },
    userHome: home,
    cwd: home,
    platform: "linux",
    pid: process.pid,
    clock: {
      now: () => Date.now(),
      setTimer(ms, fire) {
        const timer = setTimeout(fire, ms);
        return { cancel: () => clearTimeout(timer) };
      },
    },
    randomBytes: (into) => prng.fill(into),
    random: () => 0.5,
    fetch: globalThis.fetch,
    out: (text) => {
      out += text;
      for (const look of waiting) look();
    },
    err: (text) => {
      err += text;
    },
    unread: new AbortController().signal,
    input: async () => "from standard input",
    webRoot: null,
    version: "1.2.3",
    build: "test",
    openBrowser: (url) => void opened.push(url),
    strayErrors: () => undefined,
    listening: () => undefined,
    ending: ending.signal,
    ...given,
    printed: () => out,
    complained: () => err,
    prints: (pattern) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = pattern.exec(out);
          if (found === null) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    end: () => ending.abort(),
    opened,
  };
}
