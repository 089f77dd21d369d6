/** One recording, read once from its beginning to its end. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type BillBody, type Fault, fault, type Recording } from "@varve/protocol";
import { RecordingBill } from "./bill.ts";
import { ClaudeCodeReader } from "./claude-code.ts";
import { type Fields, parseFields, textOf } from "./json.ts";
import { recordingLimits } from "./limits.ts";
import { linesOf } from "./lines.ts";
import { PiReader } from "./pi.ts";
import type { RecordingReader } from "./recorded.ts";

export type RecordingFormat = Recording["format"];

/** `unknown-recording` without a file there, `bad-recording` when it is none that we know. */
export async function readBill(path: string, signal?: AbortSignal): Promise<BillBody | Fault> {
  let file: FileHandle;
  try {
    // Without waiting: opening a pipe in place of a file must not hang.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return faultOf(path, error);
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return fault("bad-recording", `${path} is not a file.`);
    if (stats.size > recordingLimits.fileBytesMax) return tooLarge(path, stats.size);
    return await billOf(path, linesOf(bytesOf(file, signal)));
  } catch (error) {
    return faultOf(path, error);
  } finally {
    await file.close();
  }
}

function tooLarge(path: string, bytes: number): Fault {
  const gib = (size: number): string => `${Math.round(size / 1024 ** 3)} GiB`;
  return fault(
    "bad-recording",
    `${path} has ${gib(bytes)}; at most ${gib(recordingLimits.fileBytesMax)} are read.`,
    "Nothing was read. Cut the file into parts by its lines.",
  );
}

async function* bytesOf(file: FileHandle, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.alloc(recordingLimits.chunkBytes);
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) return;
    // A copy: a line may be held after the chunk is filled again.
    yield new Uint8Array(chunk.subarray(0, bytesRead));
  }
}

function faultOf(path: string, error: unknown): Fault {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return fault("unknown-recording", `There is no file ${path}.`);
  if (code === "EACCES" || code === "EPERM") return fault("bad-recording", `${path} may not be read by this user.`);
  if (error instanceof Error && error.name === "AbortError")
    return fault("bad-recording", `Reading ${path} was given up.`);
  throw error;
}

/** Lines before the format is known are held and read then; a blank one is nothing. */
export async function billOf(path: string, lines: AsyncIterable<string | null>): Promise<BillBody | Fault> {
  const bill = new RecordingBill();
  const early: Fields[] = [];
  let found: { readonly format: RecordingFormat; readonly reader: RecordingReader } | null = null;
  let unreadable = 0;
  for await (const line of lines) {
    if (line?.trim() === "") continue;
    const fields = line === null ? null : parseFields(line);
    if (fields === null) unreadable += 1;
    else if (found !== null) found.reader.line(fields);
    else {
      early.push(fields);
      const format = formatOf(fields);
      if (format === null) {
        if (early.length >= recordingLimits.formatLinesMax) break;
        continue;
      }
      found = { format, reader: format === "pi" ? new PiReader(bill) : new ClaudeCodeReader(bill) };
      for (const held of early) found.reader.line(held);
    }
    if (found === null && unreadable >= recordingLimits.formatLinesMax) break;
  }
  if (found !== null) return bill.body({ path, format: found.format, unreadable });
  const hint = "Known are those of pi (~/.pi/agent/sessions) and of Claude Code (~/.claude/projects).";
  return fault("bad-recording", `${path} is not a recording that Varve can read.`, hint);
}

/** Kinds of lines that only Claude Code writes, without an id of their own. */
const claudeCodeTypes = new Set(["summary", "file-history-snapshot", "queue-operation"]);

/** Null: this line does not tell. */
export function formatOf(fields: Fields): RecordingFormat | null {
  const type = textOf(fields.type);
  if (type === null) return null;
  if (type === "session") return textOf(fields.id) !== null && textOf(fields.cwd) !== null ? "pi" : null;
  return claudeCodeTypes.has(type) || (textOf(fields.uuid) !== null && "parentUuid" in fields) ? "claude-code" : null;
}
