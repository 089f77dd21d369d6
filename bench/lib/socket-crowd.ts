/** Many clients that only count what comes: what a reader costs is not the server's. */
import { type ClientSocket, WebSocket } from "./sockets.ts";

export interface Crowd {
  readonly count: number;
  frames(): number;
  bytes(): number;
  close(): void;
}

export interface CrowdOptions {
  readonly url: string;
  readonly count: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Said by each, one after another, once it is connected. */
  readonly says?: readonly unknown[];
}

/** Resolves once all are connected and have said what they say. */
export async function gather({ url, count, headers = {}, says = [] }: CrowdOptions): Promise<Crowd> {
  const sockets: ClientSocket[] = [];
  let frames = 0;
  let bytes = 0;
  for (let made = 0; made < count; made++) {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    for (const command of says) socket.send(JSON.stringify(command));
    socket.on("message", (data: Buffer) => {
      frames += 1;
      bytes += data.length;
    });
    sockets.push(socket);
  }
  return {
    count,
    frames: () => frames,
    bytes: () => bytes,
    close() {
      for (const socket of sockets) socket.terminate();
    },
  };
}
