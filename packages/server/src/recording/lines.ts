/** A file as lines, one after another, holding no more than one line and one chunk of it. */
import { recordingLimits } from "./limits.ts";

const newline = 0x0a;

/** Null stands for a line that is too long. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string | null> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  let tooLong = false;
  const take = (): string | null => {
    const line = tooLong ? null : Buffer.concat(held).toString("utf8");
    [held, bytes, tooLong] = [[], 0, false];
    return line;
  };
  const hold = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes > recordingLimits.lineBytesMax) [held, tooLong] = [[], true];
    else if (part.length > 0) held.push(part);
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      hold(chunk.subarray(from, at));
      yield take();
      from = at + 1;
    }
    hold(chunk.subarray(from));
  }
  if (bytes > 0) yield take();
}
