import fc from "fast-check";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { SocketFrames, socketFrame } from "./socket-frame.ts";

/** What the package's own sender writes for the same text, so that its reader and every other understand ours. */
async function asSentByPackage(texts: readonly string[]): Promise<Buffer> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const written: Buffer[] = [];
  server.on("connection", (socket, request) => {
    const write = request.socket.write.bind(request.socket);
    request.socket.write = (chunk: string | Uint8Array, ...rest: readonly never[]) => {
      written.push(Buffer.from(chunk));
      return write(chunk, ...rest);
    };
    for (const text of texts) socket.send(text);
    socket.close(1000);
  });
  const client = new WebSocket(`ws://127.0.0.1:${address.port}`);
  await new Promise((resolve) => client.once("close", resolve));
  await new Promise((resolve) => server.close(resolve));
  return Buffer.concat(written);
}

test("[WS-19] a text becomes the bytes that any socket reads as that text, whatever its length and its characters", async () => {
  const texts = [
    "",
    "a",
    "x".repeat(125),
    "x".repeat(126),
    "é".repeat(63),
    "x".repeat(65_535),
    "x".repeat(65_536),
    "😀€",
  ];
  const wire = await asSentByPackage(texts);
  const own = Buffer.concat(texts.map(socketFrame));
  expect(wire.subarray(0, own.length).equals(own)).toBe(true);
});

test("[WS-19] readers of one text are given one piece of memory, and a large text is not kept", () => {
  const frames = new SocketFrames();
  const text = '{"type":"ops"}';
  expect(frames.of(text)).toBe(frames.of(text));
  const large = "x".repeat(100_000);
  expect(frames.of(large)).not.toBe(frames.of(large));
  expect(frames.of(text)).toBe(frames.of(text));
});

test("[WS-19] remembering the last text never gives a reader another one's", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" }), { maxLength: 20 }), (texts) => {
      const frames = new SocketFrames();
      for (const text of texts) expect(frames.of(text).equals(socketFrame(text))).toBe(true);
    }),
  );
});
