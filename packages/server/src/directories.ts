/** Directories of the server's machine: choosing one to work in, and whether a named one can be worked in. */
import { constants } from "node:fs";
import { access, readdir, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { type Fault, fault, isFault } from "@varve/protocol";

export interface Listed {
  readonly path: string;
  readonly parent: string | null;
  readonly entries: readonly { readonly name: string; readonly path: string; readonly git: boolean }[];
  /** More folders are there than are listed. */
  readonly more: boolean;
}

export interface Directories {
  /** Folders in a directory, by name; the user's home when no path is given. */
  list(path: string | null): Promise<Listed | Fault>;
  /** The absolute path of a directory that can be worked in, or why not. */
  workplace(path: string): Promise<string | Fault>;
  /** The real path of a directory that a tab may use beside its own, or why not. */
  added(path: string): Promise<string | Fault>;
}

/** Folders listed of one directory. */
const entriesMax = 500;
const pathCharsMax = 4_096;

/** `home` is Varve's own: nothing may work in it. */
export function directoriesOf(ports: { readonly userHome: string; readonly home: string }): Directories {
  const workplace = async (path: string): Promise<string | Fault> => {
    const absolute = absolutePath(path, ports.userHome);
    if (isFault(absolute)) return absolute;
    const problem = await problemOf(absolute);
    if (problem !== null) return problem;
    if (await isInside(absolute, ports.home)) {
      return fault("bad-directory", `${absolute} belongs to Varve itself.`, "Choose another directory.");
    }
    return absolute;
  };
  const added = async (path: string): Promise<string | Fault> => {
    const absolute = await workplace(path);
    if (isFault(absolute)) return absolute;
    // Kept as what it is: where a link stands in its place later, something else was put there.
    const real = await realpath(absolute);
    if (real === "/" || (await isInside(ports.home, real))) {
      const why = real === "/" ? "is all of this machine" : "holds Varve's own state";
      return fault("bad-directory", `${real} ${why}.`, "Add the directories in it that are needed.");
    }
    return real;
  };
  return { workplace, added, list: (path) => list(path ?? ports.userHome, ports.userHome) };
}

function absolutePath(path: string, userHome: string): string | Fault {
  const named = path.trim();
  if (named === "" || named.length > pathCharsMax || named.includes("\0")) {
    return fault("bad-directory", "This is not the path of a directory.", "Give an absolute path.");
  }
  const expanded = named === "~" || named.startsWith("~/") ? join(userHome, named.slice(1)) : named;
  if (isAbsolute(expanded)) return resolve(expanded);
  return fault("bad-directory", `${named.slice(0, 200)} is not an absolute path.`, "Give the whole path.");
}

async function problemOf(path: string): Promise<Fault | null> {
  try {
    const facts = await stat(path);
    if (!facts.isDirectory()) return fault("bad-directory", `${path} is not a directory.`, "Choose a directory.");
    await access(path, constants.R_OK | constants.X_OK);
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "unknown";
    if (code === "ENOENT") return fault("bad-directory", `${path} does not exist.`, "Create it or choose another.");
    return fault("bad-directory", `${path} cannot be read (${String(code)}).`, "Check its permissions.");
  }
}

async function list(named: string, userHome: string): Promise<Listed | Fault> {
  const path = absolutePath(named, userHome);
  if (isFault(path)) return path;
  const problem = await problemOf(path);
  if (problem !== null) return problem;
  const found = await readdir(path, { withFileTypes: true });
  const candidates = found
    .filter((entry) => !entry.name.startsWith(".") && (entry.isDirectory() || entry.isSymbolicLink()))
    .map((entry) => entry.name)
    .toSorted((a, b) => a.localeCompare(b, "en"));
  const shown = candidates.slice(0, entriesMax);
  const entries = await Promise.all(shown.map((name) => entryOf(path, name)));
  const parent = dirname(path);
  return {
    path,
    parent: parent === path ? null : parent,
    entries: entries.flatMap((entry) => entry ?? []),
    more: candidates.length > shown.length,
  };
}

/** Null for a link that leads to no directory. */
async function entryOf(parent: string, name: string) {
  const path = join(parent, name);
  const isDirectory = await stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
  if (!isDirectory) return null;
  const git = await stat(join(path, ".git")).then(
    () => true,
    () => false,
  );
  return { name, path, git };
}

async function isInside(path: string, outer: string): Promise<boolean> {
  const [real, realOuter] = await Promise.all([path, outer].map((one) => realpath(one).catch(() => resolve(one))));
  return real === realOuter || real?.startsWith(realOuter + sep) === true;
}
