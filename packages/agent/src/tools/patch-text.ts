/**
 * A unified diff as text, taken apart. Models count lines badly and leave out the blank of an empty line, so a hunk ends where
 * the next header begins, not where its counts say; what its lines say is taken exactly, and it is their text that has to fit.
 */
import { toolLimits } from "./limits.ts";
import { ToolFault } from "./outcome.ts";

export interface PatchLine {
  readonly kind: " " | "-" | "+";
  /** Without its line end. */
  readonly text: string;
  /** A line end that the patch itself spells as CRLF. */
  readonly crlf: boolean;
  /** "No newline at end of file" follows it. */
  readonly unended: boolean;
}

export interface Hunk {
  /** Its number within the file, from 1. */
  readonly number: number;
  /** The line of the old file at which it says that it begins, from 1; null where it does not say. */
  readonly from: number | null;
  readonly lines: readonly PatchLine[];
}

export interface FilePatch {
  readonly path: string;
  readonly action: "change" | "create" | "delete";
  readonly hunks: readonly Hunk[];
}

const nowhere = "/dev/null";
const shape = `A patch is a unified diff: "--- a/path", "+++ b/path", then hunks that begin with "@@".`;

/** Throws `ToolFault` in words for the model where this is no patch that can be applied exactly. */
export function parsePatch(text: string): readonly FilePatch[] {
  const raw = text.split("\n");
  if (raw.at(-1) === "") raw.pop();
  const allCrlf = raw.length > 0 && raw.every((line) => line.endsWith("\r"));
  const reader = new PatchReader(raw, allCrlf);
  const files: FilePatch[] = [];
  for (let file = reader.file(); file !== null; file = reader.file()) {
    files.push(file);
    if (files.length > toolLimits.patchFilesMax) {
      throw new ToolFault(`A patch may change at most ${toolLimits.patchFilesMax} files. Nothing was changed.`);
    }
  }
  if (files.length === 0) throw new ToolFault(`There is no file in this patch. ${shape} Nothing was changed.`);
  return files;
}

const hunkHead = /^@@(?: -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@.*| .*)?$/;

class PatchReader {
  readonly #lines: readonly string[];
  /** The whole patch came with CRLF: its own line ends say nothing of the files'. */
  readonly #allCrlf: boolean;
  #at = 0;

  constructor(lines: readonly string[], allCrlf: boolean) {
    this.#lines = lines;
    this.#allCrlf = allCrlf;
  }

  /** The next file; null at the end. What git writes between files is passed over, unless it asks for more than text. */
  file(): FilePatch | null {
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#bare(this.#at);
      if (this.#isFileHead(this.#at)) break;
      refuseOtherThanText(line);
      if (line.startsWith("@@")) throw new ToolFault(`A hunk stands before any "---" and "+++". ${shape}`);
    }
    if (this.#at >= this.#lines.length) return null;
    const named = namesOf(this.#bare(this.#at), this.#bare(this.#at + 1));
    this.#at += 2;
    const hunks: Hunk[] = [];
    while (this.#bare(this.#at).startsWith("@@")) hunks.push(this.#hunk(hunks.length + 1, named.path));
    if (hunks.length === 0 && named.action === "change") {
      throw new ToolFault(`There is no hunk for ${named.path}. ${shape} Nothing was changed.`);
    }
    return { ...named, hunks };
  }

  #bare(at: number): string {
    return (this.#lines[at] ?? "").replace(/\r$/, "");
  }

  #isFileHead(at: number): boolean {
    return this.#bare(at).startsWith("--- ") && this.#bare(at + 1).startsWith("+++ ");
  }

  #hunk(number: number, path: string): Hunk {
    const head = this.#bare(this.#at);
    const found = hunkHead.exec(head);
    if (found === null) throw new ToolFault(`${path}: "${head.slice(0, 100)}" is no head of a hunk. ${shape}`);
    this.#at += 1;
    const counts = found[1] !== undefined;
    const left = { old: counts ? Number(found[2] ?? 1) : 0, now: counts ? Number(found[3] ?? 1) : 0 };
    const lines: PatchLine[] = [];
    let blank = 0;
    for (; this.#at < this.#lines.length && !this.#endsHunk(left); this.#at++) {
      const line = this.#lines[this.#at] ?? "";
      blank = this.#bare(this.#at) === "" ? blank + 1 : 0;
      if (line.startsWith("\\")) markUnended(lines);
      else lines.push(this.#line(line, { number, path }));
      if (!/^[+\\]/.test(line)) left.old -= 1;
      if (!/^[-\\]/.test(line)) left.now -= 1;
    }
    // Empty lines before the next head are there for the eye.
    lines.splice(lines.length - blank, blank);
    return { number, from: counts ? Number(found[1]) : null, lines };
  }

  /** A removed "-- x" and an added "++ y" look like the head of a file; only the counts can tell that they are lines. */
  #endsHunk(left: { readonly old: number; readonly now: number }): boolean {
    const line = this.#bare(this.#at);
    if (line.startsWith("@@") || line.startsWith("diff --git ")) return true;
    if (!this.#isFileHead(this.#at)) return false;
    if (left.old < 1 || left.now < 1) return true;
    return this.#bare(this.#at + 2).startsWith("@@") && !(left.old === 1 && left.now === 1);
  }

  #line(raw: string, hunk: { readonly number: number; readonly path: string }): PatchLine {
    const crlf = !this.#allCrlf && raw.endsWith("\r");
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const [kind = " "] = line;
    if (kind !== " " && kind !== "-" && kind !== "+") {
      throw new ToolFault(
        `${hunk.path}, hunk ${hunk.number}: the line "${line.slice(0, 100)}" begins with neither " ", "-" nor "+". Nothing was changed.`,
      );
    }
    return { kind, text: line.slice(1), crlf, unended: false };
  }
}

function markUnended(lines: PatchLine[]): void {
  const last = lines.pop();
  if (last !== undefined) lines.push({ ...last, unended: true });
}

function refuseOtherThanText(line: string): void {
  const asks = /^(rename|copy) (from|to) |^(old|new) mode |^GIT binary patch|^Binary files /.exec(line);
  if (asks !== null) {
    throw new ToolFault(
      `A patch changes, creates and deletes text files; it can't do "${line.slice(0, 100)}". Nothing was changed.`,
    );
  }
}

function namesOf(oldHead: string, newHead: string): Pick<FilePatch, "path" | "action"> {
  const before = nameIn(oldHead);
  const after = nameIn(newHead);
  if (before === nowhere && after === nowhere) throw new ToolFault(`A patch names no file: both sides are ${nowhere}.`);
  if (before === nowhere) return { path: after.replace(/^b\//, ""), action: "create" };
  if (after === nowhere) return { path: before.replace(/^a\//, ""), action: "delete" };
  const isGit = before.startsWith("a/") && after.startsWith("b/");
  const [from, to] = isGit ? [before.slice(2), after.slice(2)] : [before, after];
  if (from !== to) {
    throw new ToolFault(`${from} would become ${to}: a patch can't rename. Nothing was changed. Use a command.`);
  }
  return { path: from, action: "change" };
}

function nameIn(head: string): string {
  const name = (head.slice(4).split("\t")[0] ?? "").trimEnd();
  if (name === "") throw new ToolFault(`"${head}" names no file. Nothing was changed.`);
  if (name.startsWith('"')) throw new ToolFault(`${name}: write the path without quotes. Nothing was changed.`);
  if (name.length > toolLimits.pathCharsMax) throw new ToolFault("A path is too long. Nothing was changed.");
  return name;
}
