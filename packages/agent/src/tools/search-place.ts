/** Where a search goes: the real directory, or one file in it, and what is denied below. */
import { basename, dirname, isAbsolute, relative, sep } from "node:path";
import { deniedBelow, type Located, locate, processTable, within } from "./boundary.ts";
import type { ToolContext } from "./context.ts";
import { toolLimits } from "./limits.ts";
import { cutEnd, ToolFault } from "./outcome.ts";
import type { Found, SearchScope } from "./search.ts";
import type { ToolPlace } from "./tool.ts";

export interface SearchPlace {
  readonly located: Located;
  readonly root: string;
  readonly only: string | null;
  readonly denied: readonly string[];
}

export async function searchPlace(context: ToolContext, place: ToolPlace, path: string): Promise<SearchPlace> {
  const { files } = context.operations;
  const located = await locate(files, place, path);
  const { facts, real, shown } = located;
  if (facts === null) throw new ToolFault(`${shown} does not exist.`);
  if (facts.kind !== "directory" && facts.kind !== "file") {
    throw new ToolFault(`${shown} is neither a directory nor an ordinary file.`);
  }
  if (within(processTable, real)) throw new ToolFault(`${shown} is about processes, which are not searched.`);
  const root = facts.kind === "directory" ? real : dirname(real);
  const only = facts.kind === "directory" ? null : basename(real);
  return { located, root, only, denied: await deniedBelow(files, place, root) };
}

/** A path below the searched root, as results name it: relative to the workspace where it is in that. */
export function shownPath({ located, root }: SearchPlace, path: string): string {
  // What is named by its real path is in an added directory, or outside.
  const prefix = isAbsolute(located.shown) ? root : relative(located.root, root).split(sep).join("/");
  if (prefix === "") return path;
  return prefix.endsWith("/") ? prefix + path : `${prefix}/${path}`;
}

export const scopeOf = (place: SearchPlace, rest: Pick<SearchScope, "accepts" | "max" | "signal">): SearchScope => ({
  root: place.root,
  only: place.only,
  denied: place.denied,
  ...rest,
  accepts: (path) => !place.denied.some((no) => path === no || path.startsWith(`${no}/`)) && rest.accepts(path),
});

/** Lines up to the character bound, then what was left out. */
export function boundedLines(lines: readonly string[], found: Found<unknown>, advice: string): string {
  const kept: string[] = [];
  let chars = 0;
  for (const line of lines) {
    chars += line.length + 1;
    if (chars > toolLimits.searchCharsMax) break;
    kept.push(line);
  }
  if (kept.length === 0 && lines[0] !== undefined) kept.push(cutEnd(lines[0], toolLimits.searchCharsMax));
  if (found.more || kept.length < lines.length) kept.push(`⟨there is more: ${advice}⟩`);
  if (found.slow) kept.push(`⟨the search took too long and is not complete: ${advice}⟩`);
  return kept.join("\n");
}
