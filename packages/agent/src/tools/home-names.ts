/**
 * Whether a command's text names `VARVE_HOME`, in the spellings that a person or model would write, patterns of the shell's
 * included. This is a trip wire for a question, not a wall: a shell without a sandbox can reach all that its user can.
 */
import { isAbsolute, join, parse, relative } from "node:path";
import { resolveReal, within } from "./boundary.ts";
import type { FileOperations } from "./operations.ts";
import type { ToolPlace } from "./tool.ts";

export async function namesHome(files: FileOperations, place: ToolPlace, command: string): Promise<boolean> {
  const text = command.replace(/["'\\]/g, "");
  if (/VARVE_HOME/.test(text)) return true;
  const home = (await resolveReal(files, place.home)).real;
  const userHome = (await resolveReal(files, files.userHome)).real;
  const homes = [...new Set([place.home, home])];
  const names = new Set(homes);
  if (within(userHome, home) && home !== userHome) {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own spelling of the variable.
    for (const start of ["~", "$HOME", "${HOME}"]) names.add(`${start}/${relative(userHome, home)}`);
  }
  const fromPlace = relative(place.cwd, home);
  if (fromPlace !== "") names.add(fromPlace);
  const last = parse(home).base;
  if (last.startsWith(".")) names.add(last);
  if ([...names].some((name) => containsPath(text, name))) return true;
  const moves = /(?:^|[\s;&|({])(?:cd|pushd)\s/.test(text);
  return homes.some((path) => hasPatternFor(text, { path, userHome, cwd: place.cwd, moves }));
}

/** `name` as a whole path or the start of one, not as a part of a longer name. */
function containsPath(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const before = text[at - 1] ?? " ";
    const after = text[at + name.length] ?? " ";
    if (!/[\w.-]/.test(before) && !/[\w.-]/.test(after)) return true;
  }
  return false;
}

interface Sought {
  readonly path: string;
  readonly userHome: string;
  readonly cwd: string;
  /** The command changes its directory: where a relative pattern leads is not known. */
  readonly moves: boolean;
}

/** Whether a word with a pattern in it could become the path or one below it. */
function hasPatternFor(text: string, { path, userHome, cwd, moves }: Sought): boolean {
  const dots = /dotglob/.test(text);
  const home = text.replace(/\$\{HOME\}|\$HOME\b/g, userHome);
  const words = home.split(/[\s;|&()<>=`]+/).filter((word) => /[*?[{]/.test(word));
  const wanted = segmentsOf(path);
  const base = wanted.at(-1) ?? "";
  return words.some((word) => {
    const expanded = word.replace(/^~[\w.-]*(?=\/|$)/, userHome);
    if (moves && !isAbsolute(expanded) && segmentsOf(expanded).some((part) => fitsName(part, base, dots))) return true;
    return leadsTo(segmentsOf(isAbsolute(expanded) ? expanded : join(cwd, expanded)), wanted, dots);
  });
}

const segmentsOf = (path: string): readonly string[] => path.split("/").filter((part) => part !== "" && part !== ".");

function leadsTo(pattern: readonly string[], wanted: readonly string[], dots: boolean): boolean {
  const [name, ...rest] = wanted;
  const [part, ...parts] = pattern;
  if (name === undefined) return true;
  if (part === undefined) return false;
  if (part === "**" && (leadsTo(parts, wanted, dots) || (fitsName("*", name, dots) && leadsTo(pattern, rest, dots)))) {
    return true;
  }
  return fitsName(part, name, dots) && leadsTo(parts, rest, dots);
}

/** Generous: a bracket stands for any one character, a brace for anything. A star alone does not stand for a leading dot. */
function fitsName(pattern: string, name: string, dots: boolean): boolean {
  if (name.startsWith(".") && !dots && !/^[.{]/.test(pattern)) return false;
  const source = pattern
    .replace(/\{[^}]*\}?/g, "*")
    .replace(/\[[^\]]*\]?/g, "?")
    .replace(/[\\^$.+()|[\]]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replace(/\?/g, ".");
  return new RegExp(`^${source}$`, "s").test(name);
}
