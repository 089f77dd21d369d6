/** Files below a directory without ripgrep, in `path-order`, links not followed. Used where its program can't run. */
import { join } from "node:path";
import { type IgnoreScope, isIgnored, scopeAt, scopeBelow } from "./ignore-rules.ts";
import { toolLimits } from "./limits.ts";
import { type FileOperations, WorldFault } from "./operations.ts";

export interface Walk {
  readonly root: string;
  /** Relative to the root: not entered, not named. */
  readonly denied: readonly string[];
  readonly signal: AbortSignal;
}

/** Paths relative to the root with `/` between. */
export async function* walkFiles(files: FileOperations, walk: Walk): AsyncGenerator<string> {
  yield* walkBelow(files, walk, { scope: await scopeAt(files, walk.root), path: "", depth: 0 });
}

interface Level {
  readonly scope: IgnoreScope;
  readonly path: string;
  readonly depth: number;
}

async function* walkBelow(files: FileOperations, walk: Walk, level: Level): AsyncGenerator<string> {
  if (level.depth > toolLimits.walkDepthMax) return;
  for (const entry of await entriesOf(files, level.scope.directory)) {
    if (walk.signal.aborted) return;
    const path = level.path === "" ? entry.name : `${level.path}/${entry.name}`;
    const isDirectory = entry.kind === "directory";
    if (entry.name === ".git" || walk.denied.includes(path) || isIgnored(level.scope, entry.name, isDirectory))
      continue;
    if (entry.kind === "file") yield path;
    if (isDirectory) {
      const scope = await scopeBelow(files, level.scope, join(level.scope.directory, entry.name));
      yield* walkBelow(files, walk, { scope, path, depth: level.depth + 1 });
    }
  }
}

async function entriesOf(files: FileOperations, directory: string) {
  try {
    return (await files.entries(directory, Number.MAX_SAFE_INTEGER)).entries;
  } catch (thrown) {
    // A directory that may not be read, or went away meanwhile, has nothing to show.
    if (thrown instanceof WorldFault) return [];
    throw thrown;
  }
}
