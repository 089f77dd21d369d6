/**
 * The limit that a stream to many sockets is held against: a process that reads a provider's stream through the very adapter
 * that the product uses, and hands each piece of text to everybody with bare `ws`, at most as often as the product's ticks.
 * It keeps nothing, and promises nothing.
 */
import { type ChildProcess, fork } from "node:child_process";
import { anthropicModel } from "./provider-package.ts";
import { WebSocketServer } from "./sockets.ts";

const flag = "--adapter-broadcast";
const tickMs = 33;
/** What one of the product's frames has around its text, in characters. */
const frameChars = 240;

export interface AdapterBroadcast {
  readonly pid: number;
  readonly url: string;
  /** Asks the provider, and broadcasts its answer to whoever is connected. Once at a time. */
  read(): void;
  close(): void;
}

/** True in the process that `startAdapterBroadcast` starts: the program does nothing else there. */
export function isAdapterBroadcast(): boolean {
  const at = process.argv.indexOf(flag);
  if (at < 0) return false;
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  server.on("listening", () => {
    process.send?.(server.address().port);
  });
  const send = paced((text) => {
    const frame = text.padEnd(text.length + frameChars);
    for (const client of server.clients) client.send(frame);
  });
  process.on("message", () => void read(process.argv[at + 1] ?? "", send));
  process.on("disconnect", () => process.exit(0));
  return true;
}

async function read(provider: string, send: (text: string) => void): Promise<void> {
  const model = anthropicModel(`${provider}/v1`, "claude-test");
  const prompt = [{ role: "user", content: [{ type: "text", text: "go" }] }];
  const { stream } = await model.doStream({ prompt, includeRawChunks: true });
  for await (const part of stream) if (isText(part)) send(part.delta);
}

const isText = (part: unknown): part is { readonly delta: string } =>
  typeof part === "object" && part !== null && "delta" in part && typeof part.delta === "string";

/** At once when nothing was sent for a tick, else with the next one. */
function paced(send: (text: string) => void): (text: string) => void {
  let waiting = "";
  let sentAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  const go = (): void => {
    timer = null;
    sentAt = performance.now();
    send(waiting);
    waiting = "";
  };
  return (text) => {
    waiting += text;
    if (timer !== null) return;
    const left = tickMs - (performance.now() - sentAt);
    if (left <= 0) go();
    else timer = setTimeout(go, left);
  };
}

/** Runs the program that calls it once more, as the reader. */
export async function startAdapterBroadcast(provider: string): Promise<AdapterBroadcast> {
  const child: ChildProcess = fork(process.argv[1] ?? "", [flag, provider]);
  const port = await new Promise<unknown>((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the reader ended before it listened")));
  });
  return {
    pid: child.pid ?? 0,
    url: `ws://127.0.0.1:${String(port)}`,
    read: () => void child.send("read"),
    close: () => child.disconnect(),
  };
}
