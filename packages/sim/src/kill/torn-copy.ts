/**
 * A copy of the home of a killed server with the end of its write-ahead log, or its journal, damaged as a power cut or a bad
 * disk would. What was copied into the database file already was synced before, so nothing of that is damaged.
 */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Prng } from "../prng.ts";

const files = ["varve.db", "varve.db-wal", "open-blocks.db", "open-blocks.db-wal", "token"] as const;
export const damages = ["wal cut", "wal flipped", "journal cut", "journal flipped"] as const;
export type Damage = (typeof damages)[number];

export interface HomeCopy extends AsyncDisposable {
  readonly path: string;
}
export interface TornHome extends HomeCopy {
  readonly damage: Damage;
}

/** The home's files as they are. Nothing may be writing them. */
export async function copyOfHome(home: string): Promise<HomeCopy> {
  const path = await mkdtemp(join(tmpdir(), "varve-torn-"));
  await mkdir(join(path, "blobs"));
  for (const name of files) await copyFile(join(home, name), join(path, name)).catch(ignoreMissing);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}

export async function tornCopy(home: string, prng: Prng): Promise<TornHome> {
  const copy = await copyOfHome(home);
  const damage = prng.pick(damages);
  const name = damage.startsWith("wal") ? "varve.db" : "open-blocks.db";
  const span = await writtenSpan(join(home, `${name}-shm`));
  await tear(join(copy.path, `${name}-wal`), span, { prng, flip: damage.endsWith("flipped") });
  return { ...copy, damage };
}

/** Where in a write-ahead log the frames lie that only it holds. */
interface Span {
  readonly from: number;
  readonly to: number;
}

const walHeaderBytes = 32;
const frameBytes = 24 + 4096;

/** From the index beside the log, which outlives the process: the frames behind those that a checkpoint has copied. */
async function writtenSpan(shm: string): Promise<Span> {
  const index = await readFile(shm).catch(ignoreMissing);
  if (index === undefined || index.length < 100) return { from: 0, to: 0 };
  const [frames, copied] = [index.readUInt32LE(16), index.readUInt32LE(96)];
  return { from: walHeaderBytes + copied * frameBytes, to: walHeaderBytes + frames * frameBytes };
}

async function tear(path: string, { from, to }: Span, how: { prng: Prng; flip: boolean }): Promise<void> {
  const bytes = await readFile(path).catch(ignoreMissing);
  if (bytes === undefined || to <= from || to > bytes.length) return;
  const at = how.prng.int(from, to - 1);
  if (how.flip) bytes[at] = (bytes[at] ?? 0) ^ (1 << how.prng.int(0, 7));
  await writeFile(path, how.flip ? bytes : bytes.subarray(0, at));
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
