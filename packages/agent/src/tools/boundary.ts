/**
 * The workspace's edge, by real path. A path is resolved as the system itself would do it, link by link and `..` by `..`,
 * also past the point where nothing exists yet, so that a dangling link tells where a write through it would land.
 * What the resolution found is checked again by `FileOperations` on the open file, so that nothing fits in between.
 */
import { dirname, isAbsolute, join, parse, relative, sep } from "node:path";
import { runsLater } from "./guarded-names.ts";
import { toolLimits } from "./limits.ts";
import { type FileFacts, type FileOperations, WorldFault } from "./operations.ts";
import { ToolFault } from "./outcome.ts";
import type { ToolPlace } from "./tool.ts";

export type Where =
  /** In the workspace, or in a directory that the person added to it. */
  | "inside"
  /** A spill file of this very tab: may be read like the workspace. */
  | "spill"
  /** Anywhere else: only with a person's permission. */
  | "outside";

export interface Located {
  readonly real: string;
  /** How results name it: relative to the workspace where it is in that, else the real path. */
  readonly shown: string;
  readonly where: Where;
  /** Null when nothing is there. */
  readonly facts: FileFacts | null;
  /** The real root that it is in: the workspace's, or that of an added directory; the workspace's where it is in none. */
  readonly root: string;
}

/** True for `root` itself and all below it. */
export function within(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The real path and what is there. Nothing has to exist; a loop of links fails with ELOOP. */
export async function resolveReal(
  files: FileOperations,
  absolute: string,
): Promise<{ readonly real: string; readonly facts: FileFacts | null }> {
  const { root } = parse(absolute);
  const waiting = partsOf(absolute.slice(root.length));
  let current = root;
  let facts = await files.facts(current);
  let links = 0;
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    if (part === "..") {
      current = dirname(current);
      facts = await files.facts(current);
      continue;
    }
    const next = join(current, part);
    const found = facts === null ? null : await files.facts(next);
    if (found?.kind !== "link") {
      if (found !== null && found.kind !== "directory" && waiting.length > 0) throw new WorldFault("ENOTDIR", absolute);
      current = next;
      facts = found;
      continue;
    }
    links += 1;
    if (links > toolLimits.linksMax) throw new WorldFault("ELOOP", absolute);
    const target = await files.readLink(next);
    const from = isAbsolute(target) ? parse(target).root : "";
    waiting.unshift(...partsOf(target.slice(from.length)));
    if (from !== "") {
      current = from;
      facts = await files.facts(current);
    }
  }
  return { real: facts === null ? current : await files.canonical(current), facts };
}

const partsOf = (path: string): string[] => path.split(sep).filter((part) => part !== "" && part !== ".");

/** Where a command starts: the real root, which must not have become a link into `VARVE_HOME`. */
export async function commandRoot(files: FileOperations, place: ToolPlace): Promise<string> {
  const root = await realRoot(files, place);
  await refuseDenied(files, place, root);
  return root;
}

/** The workspace's real root; a vanished one is said in words. */
export async function realRoot(files: FileOperations, place: ToolPlace): Promise<string> {
  const { real, facts } = await resolveReal(files, place.cwd);
  if (facts?.kind !== "directory") throw new ToolFault(goneWords(place.cwd));
  return real;
}

export const goneWords = (cwd: string): string =>
  `The working directory ${cwd} does not exist any more. Nothing was done.`;

/**
 * The workspace's real root and those of the directories that the person added. An added one was kept by its real path, so
 * where that is a link by now, something else stands in its place, and it counts no more; nor does one that is gone.
 */
export async function rootsOf(files: FileOperations, place: ToolPlace): Promise<readonly string[]> {
  const root = await realRoot(files, place);
  const added = place.directories ?? [];
  const home = added.length === 0 ? null : (await resolveReal(files, place.home)).real;
  const kept = await Promise.all(
    added.map(async (path) => {
      const found = await resolveReal(files, path).catch(goneOrCircle);
      return found?.real === path && found.facts?.kind === "directory" && !(home !== null && within(path, home))
        ? [path]
        : [];
    }),
  );
  return [root, ...kept.flat()];
}

function goneOrCircle(thrown: unknown): null {
  if (thrown instanceof WorldFault) return null;
  throw thrown;
}

/** Where a path argument leads. Throws what the model is to be told. */
export async function locate(files: FileOperations, place: ToolPlace, path: string): Promise<Located> {
  if (path.includes("\0")) throw new ToolFault("A path can't hold a NUL character.");
  if (path.length > toolLimits.pathCharsMax) throw new ToolFault("The path is too long.");
  const [root = place.cwd, ...added] = await rootsOf(files, place);
  const { real, facts } = await resolveReal(files, absoluteOf(files, path, root));
  const isSpill = within(files.spillFolder(place.tabId), real);
  // Looked at first: a server may keep its spill files in its home.
  if (!isSpill) await refuseDenied(files, place, real);
  if (within(root, real) && !isSpill) {
    return { real, facts, where: "inside", root, shown: relative(root, real) || "." };
  }
  const holder = added.find((path) => within(path, real));
  const where = isSpill ? "spill" : holder === undefined ? "outside" : "inside";
  return { real, facts, where, root: where === "inside" ? (holder ?? root) : root, shown: real };
}

function absoluteOf(files: FileOperations, path: string, root: string): string {
  if (isAbsolute(path)) return path;
  if (path === "~" || path.startsWith("~/")) return files.userHome + path.slice(1);
  // Joined as text: `join` would fold `link/..` without looking where the link leads.
  return root + sep + path;
}

async function refuseDenied(files: FileOperations, place: ToolPlace, real: string): Promise<void> {
  const home = await resolveReal(files, place.home);
  if (within(home.real, real)) {
    throw new ToolFault(`${real} belongs to Varve's own state, which no tool may touch in any mode.`);
  }
  if (files.deniedRoots.some((root) => within(root, real)) || (await files.isDenied(real))) {
    throw new ToolFault(
      `${real} belongs to the server's own process or tells its keys; no tool may touch it in any mode.`,
    );
  }
}

/** Of what every process was started with: nothing that a search should go through. */
export const processTable = "/proc";

/** Real paths that a search below `root` must leave out, relative to it. */
export async function deniedBelow(files: FileOperations, place: ToolPlace, root: string): Promise<readonly string[]> {
  const home = await resolveReal(files, place.home);
  return [home.real, ...files.deniedRoots, processTable]
    .filter((path) => within(root, path))
    .map((path) => relative(root, path));
}

/** Files whose change runs something later: a write there counts as running. */
export const isGuarded = ({ root, real }: Located): boolean => runsLater(relative(root, real).split(sep));
