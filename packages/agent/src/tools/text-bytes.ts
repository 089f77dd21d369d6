/** Text files as bytes and back, without losing a bit: UTF-8 alone, a byte order mark kept apart. */
const mark = [0xef, 0xbb, 0xbf] as const;

export interface FileText {
  /** Without the byte order mark; line ends as they are. */
  readonly text: string;
  readonly marked: boolean;
}

/** Null when the bytes are not UTF-8. `bytesOf` of the answer gives exactly these bytes again. */
export function textOf(bytes: Uint8Array): FileText | null {
  const marked = mark.every((byte, i) => bytes[i] === byte);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(marked ? bytes.subarray(3) : bytes);
    return { text, marked };
  } catch {
    // The decoder's only way to say that a byte is wrong.
    return null;
  }
}

export function bytesOf(file: FileText): Uint8Array {
  const body = new TextEncoder().encode(file.text);
  if (!file.marked) return body;
  const whole = new Uint8Array(body.length + 3);
  whole.set(mark);
  whole.set(body, 3);
  return whole;
}

/** True when the text has line ends and all of them are CRLF. */
export function isAllCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
}
