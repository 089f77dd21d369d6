/** A WebSocket client that keeps the very bytes that it was sent: nothing between them and the search for a secret. */
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import type { Socket } from "node:net";

export interface RawSocket extends Disposable {
  send(command: unknown): void;
  bytes(): Buffer;
}

/** Rejects when the upgrade is refused. Without compression, so that texts come as they are. */
export function openRawSocket(url: string, token: string): Promise<RawSocket> {
  return new Promise((resolve, reject) => {
    const upgrade = request(`${url}/api/ws`, {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
        authorization: `Bearer ${token}`,
      },
    });
    upgrade.on("response", ({ statusCode }) => reject(new Error(`the upgrade was refused with ${statusCode}`)));
    upgrade.on("error", reject);
    upgrade.on("upgrade", (_response, socket: Socket, head) => {
      const pieces: Buffer[] = [head];
      socket.on("data", (piece: Buffer) => pieces.push(piece));
      // A server that ends may end the connection at once.
      socket.on("error", () => undefined);
      resolve({
        send: (command) => void socket.write(textFrame(JSON.stringify(command))),
        bytes: () => Buffer.concat(pieces),
        [Symbol.dispose]: () => socket.destroy(),
      });
    });
    upgrade.end();
  });
}

const longerThan7Bits = 126;

/** Masked with zeros: a client has to mask, and zeros leave the text as it is. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = payload.length < longerThan7Bits ? Buffer.alloc(6) : Buffer.alloc(8);
  head[0] = 0x81;
  head[1] = 0x80 | Math.min(payload.length, longerThan7Bits);
  if (payload.length >= longerThan7Bits) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
