/**
 * The floor that a stream's latency is held against: a proxy that hands each piece of a provider's answer to one socket as
 * it comes, and knows nothing of what it hands on. In a process of its own, as the server is.
 */
import { type ChildProcess, fork } from "node:child_process";
import { request } from "node:http";
import { WebSocketServer } from "./sockets.ts";

const flag = "--pass-through";

export interface PassThrough {
  /** A socket here asks the provider with its first message, the body, and is sent whatever comes back. */
  readonly url: string;
  close(): void;
}

/** True in the process that `startPassThrough` starts: the program does nothing else there. */
export function isPassThrough(): boolean {
  const at = process.argv.indexOf(flag);
  if (at < 0) return false;
  const provider = new URL("/v1/messages", process.argv[at + 1]);
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  server.on("listening", () => {
    process.send?.(server.address().port);
  });
  server.on("connection", (socket) => {
    socket.once("message", (body) => {
      const headers = { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" };
      const asked = request(provider, { method: "POST", headers }, (answer) => {
        answer.setEncoding("utf8").on("data", (text: string) => socket.send(text));
      });
      asked.end(String(body));
    });
  });
  process.on("disconnect", () => process.exit(0));
  return true;
}

/** Runs the program that calls it once more, as the proxy. */
export async function startPassThrough(provider: string): Promise<PassThrough> {
  const child: ChildProcess = fork(process.argv[1] ?? "", [flag, provider]);
  const port = await new Promise<unknown>((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the proxy ended before it listened")));
  });
  return { url: `ws://127.0.0.1:${String(port)}`, close: () => child.disconnect() };
}
