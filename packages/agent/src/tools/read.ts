/** `read`: a window of a text file's lines, or an image. What it read is remembered, so that later changes are noticed. */
import { isBinaryFile } from "isbinaryfile";
import { z } from "zod";
import { type Located, locate } from "./boundary.ts";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import { imageKind, readImage } from "./image.ts";
import { hashOf, knownFrom } from "./known-files.ts";
import { toolLimits } from "./limits.ts";
import { readWindow } from "./line-window.ts";
import type { FileFacts, OpenFile } from "./operations.ts";
import { count, fail, succeed, ToolFault } from "./outcome.ts";
import type { Tool, ToolOutcome, ToolPlace, ToolRun } from "./tool.ts";
import { readUpTo } from "./whole-file.ts";

const schema = z.strictObject({
  path: z.string().min(1).max(toolLimits.pathCharsMax).describe("Relative to the tab's directory, or absolute"),
  offset: z.int().min(1).max(1_000_000_000).optional().describe("First line, from 1"),
  limit: z.int().min(1).max(toolLimits.readLinesMax).optional().describe("Lines at most, 2000 unless said"),
});
type Args = z.infer<typeof schema>;

export function readTool(context: ToolContext): Tool {
  return defineTool({
    name: "read",
    schema,
    prepare: async (args, place) => {
      const located = await locate(context.operations.files, place, args.path);
      return {
        effect: located.where === "outside" ? "run" : "read",
        subject: { tool: "read", key: located.real, path: located.real },
        lock: null,
        run: (run) => readPath(context, { args, place, located, run }),
      };
    },
  });
}

interface Reading {
  readonly args: Args;
  readonly place: ToolPlace;
  readonly located: Located;
  readonly run: ToolRun;
}

/** Ordinary files only: a FIFO would wait, a device may never end. */
export function refuseSpecial(facts: FileFacts | null, shown: string): void {
  if (facts === null) throw new ToolFault(`${shown} does not exist.`);
  if (facts.kind === "file") return;
  if (facts.kind === "directory") throw new ToolFault(`${shown} is a directory. Use "list".`);
  throw new ToolFault(`${shown} is a ${facts.kind === "fifo" ? "named pipe" : facts.kind}, not an ordinary file.`);
}

async function readPath(context: ToolContext, reading: Reading): Promise<ToolOutcome> {
  const { files } = context.operations;
  const { real, shown } = reading.located;
  refuseSpecial(await files.facts(real), shown);
  const file = await files.open(real);
  try {
    refuseSpecial(file.facts, shown);
    const probe = new Uint8Array(toolLimits.binaryProbeBytes);
    const start = probe.subarray(0, await file.read(probe, 0));
    const image = imageKind(start);
    if (image !== null) return await readImage(file, { kind: image, shown }, context.operations.images);
    await refuseBinary(start, file.facts, shown);
    return await readText(context, reading, file);
  } finally {
    await file.close();
  }
}

async function refuseBinary(start: Uint8Array, facts: FileFacts, shown: string): Promise<void> {
  const [a, b] = start;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    throw new ToolFault(`${shown} is UTF-16 text, ${facts.size} bytes. Convert it with iconv to read it.`);
  }
  // The library also doubts short texts in old encodings; those hold no control characters.
  const controls = start.some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b));
  if (controls && (await isBinaryFile(Buffer.from(start), start.length))) {
    throw new ToolFault(`${shown} is a binary file, ${facts.size} bytes. It is not shown.`);
  }
}

async function readText(context: ToolContext, reading: Reading, file: OpenFile): Promise<ToolOutcome> {
  const { args, place, located, run } = reading;
  const bytes = await readUpTo(file, toolLimits.wholeFileBytesMax);
  const window = await readWindow({
    first: args.offset ?? 1,
    count: args.limit ?? toolLimits.readLinesDefault,
    read: bytes === null ? (into, at) => file.read(into, at) : (into, at) => readFrom(bytes, into, at),
    countAll: bytes !== null,
    signal: run.signal,
  });
  const { shown, real } = located;
  if (window.tooFar) {
    return fail(`${shown} is too large to be looked through up to line ${args.offset ?? 1}. Use "grep" or a command.`);
  }
  const hash = bytes === null ? null : hashOf(bytes);
  context.memory(place.tabId).known.remember(real, knownFrom(file.facts, hash));
  const first = args.offset ?? 1;
  const details = { summary: count(window.lines.length, "line"), path: shown, lines: window.lines.length };
  if (window.total === 0) return succeed("⟨empty file⟩", details);
  if (window.lines.length === 0) return fail(`${shown} ends before line ${first}: it has ${window.total} lines.`);
  const notes = [];
  if (window.next !== null) {
    const of =
      window.total === null ? `the file has ${file.facts.size} bytes` : `${count(window.total, "line")} in all`;
    notes.push(`⟨more follows: go on with offset ${window.next}; ${of}⟩`);
  }
  if (window.invalid) notes.push("⟨not UTF-8: some bytes are shown as \ufffd; this file can't be edited⟩");
  return succeed([...window.lines.map((line, i) => `${first + i}\t${line}`), ...notes].join("\n"), details);
}

async function readFrom(bytes: Uint8Array, into: Uint8Array, position: number): Promise<number> {
  const part = bytes.subarray(position, position + into.length);
  into.set(part);
  return part.length;
}
