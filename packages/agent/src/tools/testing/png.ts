import { crc32, deflateSync } from "node:zlib";

/**
 * A grey PNG of any size, by hand: so that tests need no image library. `pixels`: the bytes of its rows, each with its filter
 * before it; enough zeros for 3 × 2 unless said, so that larger ones say more than they hold.
 */
export function pngOf(width: number, height: number, pixels = new Uint8Array(8)): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0], 8);
  const start = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([start, part("IHDR", head), part("IDAT", deflateSync(pixels)), part("IEND", new Uint8Array(0))]);
}

function part(name: string, data: Uint8Array): Buffer {
  const whole = Buffer.alloc(data.length + 12);
  whole.writeUInt32BE(data.length, 0);
  whole.write(name, 4, "latin1");
  whole.set(data, 8);
  whole.writeUInt32BE(crc32(whole.subarray(4, data.length + 8)), data.length + 8);
  return whole;
}
