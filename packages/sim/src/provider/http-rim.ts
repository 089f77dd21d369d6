import type { IncomingMessage, ServerResponse } from "node:http";
import { deferred } from "../deferred.ts";
import type { JsonObject } from "../json.ts";
import type { Sink } from "./play.ts";

/** The vendor's limit for a request body. */
export const REQUEST_BYTES_MAX = 32 * 1024 * 1024;

export type RequestBytes =
  | { readonly kind: "read"; readonly bytes: Buffer }
  | { readonly kind: "too-large" }
  /** The caller went away while it sent. */
  | { readonly kind: "gone" };

export async function readBody(request: IncomingMessage): Promise<RequestBytes> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request) {
      const buffer = Buffer.from(part);
      bytes += buffer.length;
      // What comes after the limit is read and thrown away, so that the refusal can be delivered.
      if (bytes <= REQUEST_BYTES_MAX) parts.push(buffer);
    }
  } catch {
    // A caller that aborts while it sends is gone: there is nobody to answer.
    return { kind: "gone" };
  }
  return bytes > REQUEST_BYTES_MAX ? { kind: "too-large" } : { kind: "read", bytes: Buffer.concat(parts) };
}

/** Bytes to text; null if they are not valid UTF-8. */
export function decodeUtf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The decoder has no other way to say that the bytes are not UTF-8.
    return null;
  }
}

export function sendJson(response: ServerResponse, status: number, body: JsonObject | string): void {
  if (response.destroyed || response.headersSent) return;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.setHeader("content-type", "application/json");
  response.statusCode = status;
  response.end(text);
}

export function responseSink(response: ServerResponse): Sink {
  let isGone = response.destroyed;
  const gone = new Promise<void>((resolve) => {
    response.once("close", () => {
      isGone = true;
      resolve();
    });
  });
  let flushed: Promise<void> = Promise.resolve();
  /** One listener for all that wait: a test may emit much at once. */
  let draining: Promise<void> | null = null;
  const drained = (): Promise<void> => {
    draining ??= new Promise((resolve) => {
      response.once("drain", () => {
        draining = null;
        resolve();
      });
    });
    return draining;
  };
  return {
    gone,
    isGone: () => isGone,
    openStream() {
      if (isGone || response.headersSent) return;
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
      response.flushHeaders();
    },
    async write(text) {
      if (isGone || text === "") return;
      const written = deferred<void>();
      flushed = written.promise;
      const isTaken = response.write(text, () => written.resolve());
      if (!isTaken) await Promise.race([gone, drained()]);
      // One turn of the event loop: each event leaves by itself, and a caller that left is noticed in mid-stream.
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    },
    end() {
      if (!isGone) response.end();
    },
    async destroy() {
      // Bytes that were said must arrive before the cut, or a test could not tell where it struck.
      await Promise.race([gone, flushed]);
      response.destroy();
    },
  };
}
