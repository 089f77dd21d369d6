/** One WebSocket client for tests: frames in order, awaited one by one. */

import type { Frame } from "@varve/protocol";
import { WebSocket } from "ws";
import { parseFrame } from "./frames.ts";

export interface Socket {
  readonly frames: readonly Frame[];
  send(command: unknown): void;
  /** The first frame, from the beginning on, that fits. */
  next(fits: (frame: Frame) => boolean): Promise<Frame>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): void;
  readonly raw: WebSocket;
}

/** Resolves with the status when the upgrade is refused. */
export function openSocket(url: string, headers: Readonly<Record<string, string>>): Promise<Socket | number> {
  return new Promise((resolve, reject) => {
    const raw = new WebSocket(url, { headers, perMessageDeflate: false });
    const frames: Frame[] = [];
    const waiting = new Set<() => void>();
    raw.on("message", (data) => {
      frames.push(parseFrame(data.toString()));
      for (const look of waiting) look();
    });
    const closed = new Promise<{ code: number; reason: string }>((done) => {
      raw.on("close", (code, reason) => done({ code, reason: reason.toString() }));
    });
    const next: Socket["next"] = (fits) =>
      new Promise((found) => {
        const look = (): void => {
          const frame = frames.find(fits);
          if (frame === undefined) return;
          waiting.delete(look);
          found(frame);
        };
        waiting.add(look);
        look();
      });
    const send = (command: unknown): void => raw.send(typeof command === "string" ? command : JSON.stringify(command));
    raw.on("unexpected-response", (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    raw.on("error", reject);
    raw.on("open", () => resolve({ frames, send, next, closed, close: () => raw.close(), raw }));
  });
}

export async function openedSocket(url: string, headers: Readonly<Record<string, string>>): Promise<Socket> {
  const socket = await openSocket(url, headers);
  if (typeof socket === "number") throw new Error(`the upgrade was refused with ${socket}`);
  return socket;
}
