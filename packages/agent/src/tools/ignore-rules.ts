/** Which entries below a directory are left out of searches: `.gitignore`, `.ignore`, `.rgignore` and git's own exclude file. */
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { toolLimits } from "./limits.ts";
import { type FileOperations, WorldFault } from "./operations.ts";
import { readUpTo } from "./whole-file.ts";

/** The rules of one directory and what it stands in. A nearer file's word counts; at one level the later name's. */
export interface IgnoreScope {
  readonly directory: string;
  readonly rules: readonly Ignore[];
  readonly parent: IgnoreScope | null;
  /** A repository begins here: git's rules of directories above do not reach in. */
  readonly isRepository: boolean;
}

const names = [".rgignore", ".ignore", ".gitignore"] as const;

/** Rules for entries of `directory`, with those of all directories above it up to the repository's root. */
export async function scopeAt(files: FileOperations, directory: string): Promise<IgnoreScope> {
  const above: string[] = [];
  for (let at = directory; ; at = dirname(at)) {
    above.unshift(at);
    if (dirname(at) === at || (await files.facts(join(at, ".git"))) !== null) break;
  }
  let scope: IgnoreScope | null = null;
  for (const at of above) scope = await scopeBelow(files, scope, at);
  if (scope === null) throw new Error("a directory stands in itself at least");
  return scope;
}

export async function scopeBelow(
  files: FileOperations,
  parent: IgnoreScope | null,
  directory: string,
): Promise<IgnoreScope> {
  const isRepository = (await files.facts(join(directory, ".git"))) !== null;
  const rules: Ignore[] = [];
  for (const name of isRepository ? [...names, join(".git", "info", "exclude")] : names) {
    const text = await ignoreText(files, join(directory, name));
    if (text !== null) rules.push(ignore({ ignorecase: false }).add(text));
  }
  return { directory, rules, parent, isRepository };
}

async function ignoreText(files: FileOperations, path: string): Promise<string | null> {
  const facts = await files.facts(path);
  if (facts?.kind !== "file") return null;
  try {
    const file = await files.open(path);
    try {
      const bytes = await readUpTo(file, toolLimits.ignoreFileBytesMax);
      return bytes === null ? null : new TextDecoder().decode(bytes);
    } finally {
      await file.close();
    }
  } catch (thrown) {
    // An ignore file that can't be read ignores nothing.
    if (thrown instanceof WorldFault) return null;
    throw thrown;
  }
}

/** Whether an entry of the scope's directory is left out. Its directory itself is not. */
export function isIgnored(scope: IgnoreScope, name: string, isDirectory: boolean): boolean {
  const path = join(scope.directory, name);
  for (let at: IgnoreScope | null = scope; at !== null; at = at.parent) {
    const below = relative(at.directory, path).split(sep).join("/") + (isDirectory ? "/" : "");
    for (const rules of at.rules) {
      const { ignored, unignored } = rules.test(below);
      if (ignored) return true;
      if (unignored) return false;
    }
    if (at.isRepository) break;
  }
  return false;
}
