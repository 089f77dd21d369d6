/**
 * What the model has been told of the texts that a person may edit: the frozen system blocks, and the notes since. From the
 * rows alone, so that it is the same after a restart, in a fork and for whoever asks. Pure.
 *
 * Each note stands for itself: it says how a text is now, against what stands in the frozen prefix, never against another
 * note. So of several notes about one text the newest alone holds.
 */
import { hash } from "node:crypto";
import type { PrefixData, StoredRow } from "@varve/protocol";
import { compactionInForce } from "../compaction/measure.ts";
import { landmarksOf } from "../landmarks.ts";

export const instructionsTopic = "instructions";
/** The name of the first system block. No file has it: files are named by their absolute path. */
export const systemName = "system prompt";

/** Sixteen hex digits that name a text. */
export const textHash = (text: string): string => hash("sha256", text, "hex").slice(0, 16);

/** The system blocks by the name of the text that each holds, in their order. */
export function textsOf(system: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    system.map((block, index) => {
      if (index === 0) return [systemName, block];
      const path = /^<instructions path="([^"]*)">\n/.exec(block)?.[1];
      return [path === undefined ? `system block ${index + 1}` : nameOfPath(path), block];
    }),
  );
}

/** A name stands in one line, whatever a path is made of. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not get into a line.
const nameOfPath = (path: string): string => path.replace(/[\u0000-\u001f\u007f\u2028\u2029]/g, "?");

export type ToldChange = "added" | "edited" | "removed" | "restored";

/** The first line of a note about a text, or one of its first lines: everything that `toldTexts` reads of it. */
export const toldHeader = (change: ToldChange, name: string, text: string | null): string =>
  `Instructions ${change}: ${name} (text ${text === null ? "none" : textHash(text)})`;

const header = /^Instructions (?:added|edited|removed|restored): (.+) \(text ([0-9a-f]{16}|none)\)$/;

export interface Told {
  /** Name -> hash of the text in force as far as the model knows; null: it was told that there is none. */
  readonly texts: ReadonlyMap<string, string | null>;
  /** Seqs of the notes that still hold, ascending. A compaction must keep them. */
  readonly noteSeqs: readonly number[];
}

/** The frozen prefix in force; null in a log without one. */
export function prefixInForce(rows: readonly StoredRow[]): { readonly seq: number; readonly data: PrefixData } | null {
  const row = landmarksOf(rows).prefixes.at(-1);
  return row === undefined ? null : { seq: row.seq, data: row.data };
}

export function toldTexts(rows: readonly StoredRow[]): Told {
  const prefix = prefixInForce(rows);
  const texts = new Map<string, string | null>();
  if (prefix === null) return { texts, noteSeqs: [] };
  for (const [name, block] of textsOf(prefix.data.system)) texts.set(name, textHash(block));
  const isVisible = visibleNotes(rows);
  const newest = new Map<string, number>();
  for (const row of landmarksOf(rows).notes) {
    if (row.seq < prefix.seq || row.data.topic !== instructionsTopic) continue;
    if (!isVisible(row.seq)) continue;
    for (const [name, hashed] of headersOf(row.data.text)) {
      texts.set(name, hashed);
      newest.set(name, row.seq);
    }
  }
  return { texts, noteSeqs: [...new Set(newest.values())].sort((a, b) => a - b) };
}

/** Of the lines at the very beginning of a note, up to the first that is none. */
function* headersOf(note: string): Iterable<readonly [name: string, hash: string | null]> {
  for (let at = 0; at <= note.length; ) {
    const end = note.indexOf("\n", at);
    const [, name, hashed] = header.exec(note.slice(at, end === -1 ? note.length : end)) ?? [];
    if (name === undefined || hashed === undefined) return;
    yield [name, hashed === "none" ? null : hashed];
    if (end === -1) return;
    at = end + 1;
  }
}

/** A note that a compaction left out is not told any more. */
function visibleNotes(rows: readonly StoredRow[]): (seq: number) => boolean {
  const row = compactionInForce(rows);
  if (row === null) return () => true;
  const { keepFrom, keptNoteSeqs } = row.data;
  return (seq) => seq >= keepFrom || keptNoteSeqs?.includes(seq) === true;
}
