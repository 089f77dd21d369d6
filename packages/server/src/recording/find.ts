/** Recordings of other tools on this machine, in the places where those tools put them. Links are never followed. */
import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Recording } from "@varve/protocol";
import { fieldsOf, parseFields, textOf } from "./json.ts";
import { recordingLimits } from "./limits.ts";
import type { RecordingFormat } from "./read-bill.ts";

const places: readonly { readonly format: RecordingFormat; readonly path: readonly string[] }[] = [
  { format: "pi", path: [".pi", "agent", "sessions"] },
  { format: "claude-code", path: [".claude", "projects"] },
];

interface Candidate {
  readonly format: RecordingFormat;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** Newest first. `home`: the person's own folder. What cannot be read is not there. */
export async function findRecordings({ home }: { readonly home: string }): Promise<readonly Recording[]> {
  const found = await newestCandidates(home);
  return Promise.all(
    found.map(async ({ format, path, bytes, modifiedAt }) => {
      const title = (await titleOf(path)) ?? basename(path, ".jsonl");
      return { id: recordingId(path), format, path, title, bytes, modifiedAt };
    }),
  );
}

/** The path of a recording that `findRecordings` lists; null for every other id. */
export async function recordingPath({ home }: { readonly home: string }, id: string): Promise<string | null> {
  return (await newestCandidates(home)).find(({ path }) => recordingId(path) === id)?.path ?? null;
}

export const recordingId = (path: string): string => createHash("sha256").update(path).digest("hex").slice(0, 24);

async function newestCandidates(home: string): Promise<readonly Candidate[]> {
  const found: Candidate[] = [];
  const seen = { folders: 0, files: 0 };
  for (const { format, path } of places) {
    if (await isWithoutLinks(home, path)) await walk({ format, folder: join(home, ...path), depth: 0 }, seen, found);
  }
  return found.toSorted((a, b) => b.modifiedAt - a.modifiedAt).slice(0, recordingLimits.foundMax);
}

/** Each folder on the way is one, and no link to somewhere else. */
async function isWithoutLinks(home: string, path: readonly string[]): Promise<boolean> {
  for (let length = 1; length <= path.length; length++) {
    const stats = await statOf(join(home, ...path.slice(0, length)));
    if (stats?.isDirectory() !== true) return false;
  }
  return true;
}

async function walk(
  from: { readonly format: RecordingFormat; readonly folder: string; readonly depth: number },
  seen: { folders: number; files: number },
  found: Candidate[],
): Promise<void> {
  seen.folders += 1;
  for (const entry of await entriesOf(from.folder)) {
    const path = join(from.folder, entry.name);
    if (entry.isDirectory()) {
      const isAllowed = from.depth < recordingLimits.depthMax && seen.folders < recordingLimits.foldersMax;
      if (isAllowed) await walk({ ...from, folder: path, depth: from.depth + 1 }, seen, found);
    } else if (entry.isFile() && entry.name.endsWith(".jsonl") && seen.files < recordingLimits.filesMax) {
      seen.files += 1;
      const stats = await statOf(path);
      if (stats?.isFile() !== true || stats.size === 0) continue;
      found.push({ format: from.format, path, bytes: stats.size, modifiedAt: Math.trunc(stats.mtimeMs) });
    }
  }
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return []; // Gone, or not ours to read.
  }
}

async function statOf(path: string) {
  try {
    return await lstat(path);
  } catch {
    return null; // Gone, or not ours to read.
  }
}

/** What the tool calls it, else the first words of the person in it. */
async function titleOf(path: string): Promise<string | null> {
  const head = await headOf(path);
  let words: string | null = null;
  for (const line of head.split("\n")) {
    const fields = parseFields(line);
    if (fields === null) continue;
    const name =
      fields.type === "summary" ? textOf(fields.summary) : fields.type === "session_info" ? textOf(fields.name) : null;
    if (name !== null) return clipped(name);
    words ??= wordsOf(fieldsOf(fields.message));
  }
  return words === null ? null : clipped(words);
}

async function headOf(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(recordingLimits.titleBytesMax));
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return ""; // Gone, or not ours to read: its name must do.
  }
}

/** A command of the tool (`/model`, `<command-name>`) says nothing of the work. */
function wordsOf(message: Readonly<Record<string, unknown>>): string | null {
  if (message.role !== "user") return null;
  const parts: readonly unknown[] = Array.isArray(message.content) ? message.content : [];
  const text =
    textOf(message.content) ?? parts.map((part) => textOf(fieldsOf(part).text)).find((one) => one !== null) ?? null;
  return text === null || /^\s*[</]/.test(text) || text.trim() === "" ? null : text;
}

function clipped(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const letters = [...line];
  const { titleCharsMax } = recordingLimits;
  return letters.length > titleCharsMax ? `${letters.slice(0, titleCharsMax - 1).join("")}…` : line;
}
