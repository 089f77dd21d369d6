/** The raw limit that a hub is held against: a `ws` server in a process of its own that sends one text to everybody. */
import { type ChildProcess, fork } from "node:child_process";
import { WebSocketServer } from "./sockets.ts";

const flag = "--bare-broadcast";

export interface BareBroadcast {
  readonly pid: number;
  readonly url: string;
  send(text: string): void;
  close(): void;
}

/** True in the process that `startBroadcast` starts: the program does nothing else there. */
export function isBroadcast(): boolean {
  if (!process.argv.includes(flag)) return false;
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  server.on("listening", () => {
    process.send?.(server.address().port);
  });
  process.on("message", (text) => {
    for (const client of server.clients) client.send(String(text));
  });
  process.on("disconnect", () => process.exit(0));
  return true;
}

/** Runs the program that calls it once more, as the server. */
export async function startBroadcast(): Promise<BareBroadcast> {
  const child: ChildProcess = fork(process.argv[1] ?? "", [flag]);
  const port = await new Promise<unknown>((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the bare server ended before it listened")));
  });
  return {
    pid: child.pid ?? 0,
    url: `ws://127.0.0.1:${String(port)}`,
    send: (text) => void child.send(text),
    close: () => child.disconnect(),
  };
}
