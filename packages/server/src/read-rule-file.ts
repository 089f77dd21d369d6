/** Reads a rule file at once, bounded, and never waits: a FIFO in place of a file must not stop the server. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Null when there is no file. Throws for what is there and cannot be read whole: no file, too long, or no UTF-8. */
export function readRuleFile(path: string, bytesMax: number): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw error;
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile() || facts.size > bytesMax) throw new Error("not an ordinary file that is short enough");
    const bytes = Buffer.alloc(facts.size);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, length);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
  } finally {
    closeSync(file);
  }
}

/** What the system calls the error, as `ENOENT`. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
