/** Asks a running server, from outside, what it holds: it collects its garbage first and answers into a file. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { residentMiB } from "./process-figures.ts";

/** Loaded into the server before anything of its own. A signal asks; with BENCH_SNAPSHOT set it also writes the heap. */
const probe = `
import { writeFileSync, renameSync } from "node:fs";
import { setFlagsFromString, writeHeapSnapshot } from "node:v8";
import { runInNewContext } from "node:vm";
let asked = 0;
process.on("SIGUSR2", () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  gc(); gc();
  const path = process.env.BENCH_PROBE;
  if (process.env.BENCH_SNAPSHOT) writeHeapSnapshot(process.env.BENCH_SNAPSHOT + "-" + asked + ".heapsnapshot");
  asked += 1;
  writeFileSync(path + ".new", JSON.stringify({ asked, ...process.memoryUsage() }));
  renameSync(path + ".new", path);
});
`;
const askEveryMs = 50;
const answerWithinMs = 30_000;

export interface Held {
  /** After a collection, in MiB. */
  readonly heapMiB: number;
  /** Heap and buffers outside of it. */
  readonly heldMiB: number;
  /** Resident, in MiB, before the collection: what the machine sees. */
  readonly residentMiB: number;
}

export class MemoryProbe implements AsyncDisposable {
  readonly #folder: string;
  #asked = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<MemoryProbe> {
    const folder = await mkdtemp(join(tmpdir(), "varve-probe-"));
    await writeFile(join(folder, "probe.mjs"), probe);
    return new MemoryProbe(folder);
  }

  /** What the server is started with, so that it answers. */
  env(): Readonly<Record<string, string>> {
    const snapshot = process.env.BENCH_SNAPSHOT;
    return {
      NODE_OPTIONS: `--import ${pathToFileURL(join(this.#folder, "probe.mjs")).href}`,
      BENCH_PROBE: this.#answer,
      ...(snapshot !== undefined && { BENCH_SNAPSHOT: snapshot }),
    };
  }

  async held(pid: number): Promise<Held> {
    const resident = residentMiB(pid);
    this.#asked += 1;
    process.kill(pid, "SIGUSR2");
    for (let waited = 0; waited < answerWithinMs; waited += askEveryMs) {
      await new Promise((resolve) => setTimeout(resolve, askEveryMs));
      const answer = await this.#read();
      if (answer?.asked === this.#asked) return heldOf(answer, resident);
    }
    throw new Error("the server does not say what it holds");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #answer(): string {
    return join(this.#folder, "answer.json");
  }

  async #read(): Promise<Answer | null> {
    try {
      // Written by the probe above, whole or not at all.
      return JSON.parse(await readFile(this.#answer, "utf8")) as Answer;
    } catch {
      return null; // Not there yet.
    }
  }
}

interface Answer {
  readonly asked: number;
  readonly heapUsed: number;
  readonly external: number;
}

const mib = 1024 * 1024;
const heldOf = ({ heapUsed, external }: Answer, resident: number): Held => ({
  heapMiB: heapUsed / mib,
  heldMiB: (heapUsed + external) / mib,
  residentMiB: resident,
});
