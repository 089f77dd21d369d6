/** Reading a file whole, bounded, through an open descriptor. */
import { toolLimits } from "./limits.ts";
import type { FileFacts, FileOperations, OpenFile } from "./operations.ts";
import { ToolFault } from "./outcome.ts";

/** All bytes up to `max`, or null when there are more. */
export async function readUpTo(file: OpenFile, max: number): Promise<Uint8Array | null> {
  if (file.facts.size > max) return null;
  const blocks: Uint8Array[] = [];
  let total = 0;
  // Files of /proc say size 0 and still hold text, so the end is where nothing more comes.
  while (total <= max) {
    const block = new Uint8Array(Math.max(1_024, Math.min(toolLimits.readBlockBytes, file.facts.size - total + 1)));
    const got = await file.read(block, total);
    if (got === 0) break;
    blocks.push(block.subarray(0, got));
    total += got;
  }
  if (total > max) return null;
  const [only] = blocks;
  if (blocks.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(total);
  let at = 0;
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
  }
  return whole;
}

export interface WholeFile {
  readonly bytes: Uint8Array;
  readonly facts: FileFacts;
}

/** For tools that change a file. Refuses what is no ordinary file, or too large. */
export async function readWhole(files: FileOperations, real: string, shown: string): Promise<WholeFile> {
  const file = await files.open(real);
  try {
    if (file.facts.kind !== "file") throw new ToolFault(`${shown} is not an ordinary file.`);
    const bytes = await readUpTo(file, toolLimits.wholeFileBytesMax);
    if (bytes === null) {
      throw new ToolFault(`${shown} is larger than ${toolLimits.wholeFileBytesMax} bytes. Change it with a command.`);
    }
    return { bytes, facts: file.facts };
  } finally {
    await file.close();
  }
}
