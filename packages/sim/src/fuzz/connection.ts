/** A connection of bare bytes, and the messages of a socket on it. Nothing here keeps a caller from sending nonsense. */
import { connect } from "node:net";
import type { HttpAnswer } from "./judge.ts";
import { maskedFrame } from "./raw-bytes.ts";

/** Sends bytes, closes its own half, and resolves with what came until the other side closed too. */
export function exchange(port: number, bytes: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true }, () => socket.end(bytes, "latin1"));
    socket.on("data", (part) => parts.push(part));
    // A connection that is reset is an answer as well.
    socket.on("error", () => socket.destroy());
    socket.on("end", () => socket.destroy());
    socket.on("close", () => resolve(Buffer.concat(parts)));
  });
}

/** The answers in what came on a connection. Null: bytes that are none. */
export function answersIn(bytes: Buffer): readonly HttpAnswer[] | null {
  const answers: HttpAnswer[] = [];
  let rest = bytes.toString("latin1");
  while (rest !== "") {
    const head = /^HTTP\/1\.1 (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest);
    if (head === null) return null;
    const [whole = "", status = "", headers = ""] = head;
    rest = rest.slice(whole.length);
    const length = Number(/^content-length: *(\d+)\r$/im.exec(headers)?.[1] ?? Number.NaN);
    const type = /^content-type: *([^\r\n]*)\r$/im.exec(headers)?.[1] ?? "";
    const informs = status.startsWith("1");
    const body = informs ? "" : Number.isNaN(length) ? rest : rest.slice(0, length);
    rest = rest.slice(body.length);
    if (!informs) answers.push({ status: Number(status), type, body: Buffer.from(body, "latin1").toString("utf8") });
  }
  return answers;
}

export interface SocketEnd {
  readonly messages: readonly string[];
  /** The code with which the server ended it; 1005: without one, 1006: without a word. Null: it was still open. */
  readonly code: number | null;
}

const textFrame = 0x81;

/**
 * Opens a socket, sends frames, and resolves when a message fits `over` or the server has ended it. `headers`: whatever
 * lets it in.
 */
export function converse(
  port: number,
  {
    headers,
    bytes,
    over,
    ends = false,
  }: {
    readonly headers: Readonly<Record<string, string>>;
    /** Frames, in Latin-1. */
    readonly bytes: string;
    readonly over: (message: string) => boolean;
    /** Closes its own half behind the frames: whoever waits for more of one hears that there is none. */
    readonly ends?: boolean;
  },
): Promise<SocketEnd> {
  return new Promise((resolve) => {
    const incoming = new IncomingFrames();
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () =>
      socket.write(`${upgradeRequest(port, headers)}`, "latin1"),
    );
    const end = (code: number | null): void => {
      resolve({ messages: incoming.messages, code });
      socket.destroy();
    };
    let open = false;
    socket.on("data", (part) => {
      incoming.take(part);
      if (!open && incoming.open) {
        open = true;
        if (ends) socket.end(bytes, "latin1");
        else socket.write(bytes, "latin1");
      }
      if (incoming.code !== null) end(incoming.code);
      else if (incoming.messages.some(over)) end(null);
    });
    socket.on("error", () => end(1006));
    socket.on("end", () => end(1006));
    socket.on("close", () => end(1006));
  });
}

export const messageFrame = (text: string): string =>
  maskedFrame(textFrame, Buffer.from(text, "utf8").toString("latin1"));

function upgradeRequest(port: number, headers: Readonly<Record<string, string>>): string {
  const all = {
    host: `127.0.0.1:${port}`,
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "sec-websocket-version": "13",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET /api/ws HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Reads what a server sends on a socket: the answer to the upgrade, then frames, whole messages each. */
class IncomingFrames {
  readonly messages: string[] = [];
  open = false;
  code: number | null = null;
  #rest: Buffer = Buffer.alloc(0);

  take(part: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, part]);
    if (!this.open && !this.#opened()) return;
    while (this.#frame());
  }

  #opened(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end < 0) return false;
    // Refused: as if it had been ended by a rule of the protocol.
    if (!this.#rest.subarray(0, end).toString("latin1").startsWith("HTTP/1.1 101 ")) this.code = 4401;
    this.#rest = this.#rest.subarray(end + 4);
    this.open = this.code === null;
    return this.open;
  }

  #frame(): boolean {
    const [first = 0, short = 0] = this.#rest;
    const header = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (this.#rest.length < Math.max(2, header)) return false;
    const length =
      short < 126 ? short : short === 126 ? this.#rest.readUInt16BE(2) : Number(this.#rest.readBigUInt64BE(2));
    if (this.#rest.length < header + length) return false;
    const payload = this.#rest.subarray(header, header + length);
    this.#rest = this.#rest.subarray(header + length);
    const operation = first & 0x0f;
    if (operation === 1) this.messages.push(payload.toString("utf8"));
    if (operation === 8) this.code = payload.length < 2 ? 1005 : payload.readUInt16BE(0);
    return this.code === null;
  }
}
