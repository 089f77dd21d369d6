/**
 * The hunks of one file, applied to its text. Nothing is searched with tolerance: the lines that a hunk keeps and removes must
 * stand in the file one after another exactly so, in one place, or in several of which its line number names one.
 */
import { toolLimits } from "./limits.ts";
import type { FilePatch, Hunk, PatchLine } from "./patch-text.ts";

export type Patched =
  | { readonly kind: "patched"; readonly text: string }
  /** A sentence for each hunk that does not fit. */
  | { readonly kind: "misfit"; readonly problems: readonly string[] };

interface Line {
  readonly text: string;
  /** "\n", "\r\n", or "" for a last line without one. */
  readonly end: string;
}

interface Placed {
  readonly hunk: Hunk;
  readonly from: number;
  readonly length: number;
}

const shownPlacesMax = 5;
const shownCharsMax = 80;

/** `text` is the file's; "" where it does not exist yet. */
export function applyHunks(text: string, patch: Pick<FilePatch, "hunks" | "action">): Patched {
  if (patch.action === "create") return created(patch.hunks);
  const old = linesOf(text);
  const search = searchIn(old, patch.hunks);
  const placed: Placed[] = [];
  const problems: string[] = [];
  let reached = 0;
  for (const hunk of patch.hunks) {
    const found = place(search, hunk);
    if (typeof found === "string") {
      problems.push(`hunk ${hunk.number}: ${found}`);
      continue;
    }
    if (found.from < reached) problems.push(`hunk ${hunk.number}: it stands before the end of the hunk above it.`);
    reached = Math.max(reached, found.from + found.length);
    placed.push(found);
  }
  if (problems.length > 0) return { kind: "misfit", problems };
  return { kind: "patched", text: joined(old, placed) };
}

function created(hunks: readonly Hunk[]): Patched {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  if (lines.some(({ kind }) => kind !== "+")) {
    return { kind: "misfit", problems: [`a new file can only have lines that begin with "+".`] };
  }
  return {
    kind: "patched",
    text: lines.map((line) => line.text + (line.unended ? "" : (endIn(line) ?? "\n"))).join(""),
  };
}

const endIn = (line: PatchLine): string | null => (line.crlf ? "\r\n" : null);

export function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf("\n", at);
    const stop = next === -1 ? text.length : next;
    const crlf = next !== -1 && next > at && text[next - 1] === "\r";
    lines.push({ text: text.slice(at, crlf ? stop - 1 : stop), end: next === -1 ? "" : crlf ? "\r\n" : "\n" });
    at = next === -1 ? text.length : next + 1;
  }
  return lines;
}

/** One search through a file; a file and a patch of lines that are all alike would else be compared for hours. */
interface Search {
  readonly old: readonly Line[];
  /** Where each line that a hunk keeps or removes stands, from 0. */
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** Comparisons of lines that may still be made. */
  left: number;
  /** Hunks that are nowhere and may still be explained. */
  explained: number;
}

function searchIn(old: readonly Line[], hunks: readonly Hunk[]): Search {
  const places = new Map<string, number[]>();
  const wanted = new Set(hunks.flatMap(({ lines }) => lines.flatMap(({ kind, text }) => (kind === "+" ? [] : [text]))));
  for (const [at, { text }] of old.entries()) {
    if (!wanted.has(text)) continue;
    const found = places.get(text);
    if (found === undefined) places.set(text, [at]);
    else found.push(at);
  }
  return { old, places, left: toolLimits.patchComparisonsMax, explained: toolLimits.patchProblemsMax };
}

/** Whether the lines stand there; never true once all comparisons are spent. */
function standsAt(search: Search, wanted: readonly PatchLine[], at: number): boolean {
  return at >= 0 && wanted.every((line, i) => search.left-- > 0 && fits(line, search.old, at + i));
}

/** Where a hunk belongs, or why it belongs nowhere. */
function place(search: Search, hunk: Hunk): Placed | string {
  const { old } = search;
  const wanted = hunk.lines.filter(({ kind }) => kind !== "+");
  if (hunk.lines.every(({ kind }) => kind === " ")) return "it changes nothing.";
  if (wanted.length === 0) {
    if (old.length === 0) return { hunk, from: 0, length: 0 };
    return "it has no line of the file, so that its place is not certain. Add the lines around it.";
  }
  // Where its number says is where it belongs, whether it would fit elsewhere too or not.
  const named = (hunk.from ?? 0) - 1;
  if (standsAt(search, wanted, named)) return { hunk, from: named, length: wanted.length };
  const places = placesOf(search, wanted);
  if (search.left <= 0)
    return "its lines are too much like the others of the file to be looked for. Begin it with the right line number.";
  const [first] = places;
  if (first === undefined) return missing(search, wanted, hunk.from);
  if (places.length === 1) return { hunk, from: first, length: wanted.length };
  const shown = places.slice(0, shownPlacesMax).map((at) => at + 1);
  const more = places.length > shownPlacesMax ? " ..." : "";
  return `its lines stand in ${places.length} places (from lines ${shown.join(", ")}${more}). Add lines around it, or begin it with the right line number.`;
}

/** Looked for only where its rarest line is. */
function placesOf(search: Search, wanted: readonly PatchLine[]): readonly number[] {
  let rarest = { offset: 0, at: search.places.get(wanted[0]?.text ?? "") ?? [] };
  for (const [offset, { text }] of wanted.entries()) {
    const at = search.places.get(text) ?? [];
    if (at.length < rarest.at.length) rarest = { offset, at };
  }
  return rarest.at.map((at) => at - rarest.offset).filter((at) => standsAt(search, wanted, at));
}

/** A line that says that it has no line end must be the file's last one, and have none. */
function fits(line: PatchLine, old: readonly Line[], at: number): boolean {
  const found = old[at];
  return found !== undefined && found.text === line.text && (!line.unended || found.end === "");
}

/** The usual reasons for a miss, where one of them explains it. */
function missing(search: Search, wanted: readonly PatchLine[], from: number | null): string {
  const { old } = search;
  if (search.explained-- <= 0) return "its lines do not stand in the file.";
  const near = nearIn(search, wanted);
  if (near !== -1) {
    const off = wanted.findIndex((line, i) => !fits(line, old, near + i));
    return `its lines stand at line ${near + 1} with other whitespace or another end; line ${near + off + 1} there is ${quoted(old[near + off]?.text)}.`;
  }
  const start = from === null ? -1 : from - 1;
  const differing = start < 0 ? -1 : wanted.findIndex((line, i) => !fits(line, old, start + i));
  if (differing >= 0 && start < old.length) {
    const has = old[start + differing];
    const there = has === undefined ? "the file has ended there" : `the file has ${quoted(has.text)}`;
    return `its lines do not stand in the file. At line ${start + differing + 1} it wants ${quoted(wanted[differing]?.text)}; ${there}.`;
  }
  const strange = wanted.find(({ text }) => !search.places.has(text));
  return strange === undefined
    ? "its lines do not stand in the file one after another."
    : `the file has no line ${quoted(strange.text)}.`;
}

const bare = (text: string): string => text.replace(/\s+/g, "");

function nearIn(search: Search, wanted: readonly PatchLine[]): number {
  const loose = wanted.map(({ text }) => bare(text));
  const there = search.old.map(({ text }) => bare(text));
  return there.findIndex((_, at) => loose.every((text, i) => search.left-- > 0 && there[at + i] === text));
}

const quoted = (text = ""): string =>
  JSON.stringify(text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}...` : text);

interface Output extends Line {
  /** From the patch, and without a line end if the file then ends with it. */
  readonly added: boolean;
  readonly bare: boolean;
}

function joined(old: readonly Line[], placed: readonly Placed[]): string {
  const out: Output[] = [];
  let done = 0;
  for (const { hunk, from, length } of placed) {
    for (const line of old.slice(done, from)) out.push(kept(line));
    // One by one: a call takes only so many arguments.
    for (const line of replaced(old, hunk, from)) out.push(line);
    done = from + length;
  }
  for (const line of old.slice(done)) out.push(kept(line));
  return out.map((line, at) => line.text + endAt(out, at)).join("");
}

const kept = (line: Line): Output => ({ ...line, added: false, bare: false });

/**
 * What a hunk makes of its lines. Kept lines stay byte for byte; the n-th line added in a row ends as the n-th line removed
 * there did, further ones as the last of these, or as the line before.
 */
function replaced(old: readonly Line[], hunk: Hunk, from: number): readonly Output[] {
  const out: Output[] = [];
  let at = from;
  let removed: string[] = [];
  let added = 0;
  const saysEnd = hunk.lines.some(({ unended }) => unended);
  const endsOpen = !saysEnd && old.at(-1)?.end === "" && from + oldLength(hunk) === old.length;
  for (const line of hunk.lines) {
    if (line.kind === "+") {
      const end = endIn(line) ?? (removed[added] || removed.findLast((one) => one !== "") || endAround(old, at));
      added += 1;
      out.push({ text: line.text, end, added: true, bare: line.unended || endsOpen });
      continue;
    }
    const stands = old[at] ?? { text: line.text, end: "" };
    at += 1;
    if (line.kind === "-") {
      if (added > 0) removed = [];
      added = 0;
      removed.push(stands.end);
      continue;
    }
    removed = [];
    added = 0;
    out.push(kept(stands));
  }
  return out;
}

const oldLength = (hunk: Hunk): number => hunk.lines.filter(({ kind }) => kind !== "+").length;

/** The end of the line before `at`, else of the line there. */
const endAround = (old: readonly Line[], at: number): string => old[at - 1]?.end || old[at]?.end || old[0]?.end || "\n";

/** A line without an end gets one when others come to stand behind it; the last one may have none. */
function endAt(out: readonly Output[], at: number): string {
  const line = out[at];
  if (line === undefined) return "";
  if (at === out.length - 1) return line.added && line.bare ? "" : line.end;
  return line.end || out.slice(0, at).findLast(({ end }) => end !== "")?.end || out[at + 1]?.end || "\n";
}
