/**
 * A text message of the socket protocol as bytes: one frame, final, not masked, as a server sends it (RFC 6455, 5.2). The bytes
 * are the same for every reader, so a text that goes to many is made once, and each costs one write.
 */
const finalText = 0x81;
/** Payload lengths up to here stand in the second byte; longer ones behind it, in two or eight bytes. */
const shortMax = 125;
const middleMax = 0xffff;
/** A larger text is made anew for each reader: what was sent last must not hold memory. In UTF-16 units. */
const keptMax = 65_536;

export function socketFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const header = length <= shortMax ? 2 : length <= middleMax ? 4 : 10;
  const bytes = Buffer.allocUnsafe(header + length);
  bytes[0] = finalText;
  if (header === 2) {
    bytes[1] = length;
  } else if (header === 4) {
    bytes[1] = shortMax + 1;
    bytes.writeUInt16BE(length, 2);
  } else {
    bytes[1] = shortMax + 2;
    bytes.writeBigUInt64BE(BigInt(length), 2);
  }
  bytes.write(text, header);
  return bytes;
}

/** Frames of texts, the last one remembered: one text goes to one reader after another. */
export class SocketFrames {
  #text = "";
  #bytes: Buffer = socketFrame("");

  of(text: string): Buffer {
    if (text === this.#text) return this.#bytes;
    const bytes = socketFrame(text);
    if (text.length <= keptMax) {
      this.#text = text;
      this.#bytes = bytes;
    }
    return bytes;
  }
}
