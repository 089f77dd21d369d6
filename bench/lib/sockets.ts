/** `ws` as the server has it: a limit is measured with the very package that the product runs on. */
import { createRequire } from "node:module";
import { join } from "node:path";

interface ClientSocket {
  send(text: string): void;
  once(event: "open", heard: () => void): void;
  once(event: "error", heard: (error: Error) => void): void;
  once(event: "message", heard: (data: Buffer) => void): void;
  on(event: "message", heard: (data: Buffer) => void): void;
  terminate(): void;
}
interface SocketServer {
  readonly clients: ReadonlySet<ClientSocket>;
  address(): { readonly port: number };
  on(event: "listening", heard: () => void): void;
  on(event: "connection", heard: (socket: ClientSocket) => void): void;
}
interface Sockets {
  readonly WebSocket: new (
    url: string,
    options: { readonly headers?: Readonly<Record<string, string>>; readonly perMessageDeflate: false },
  ) => ClientSocket;
  readonly WebSocketServer: new (options: {
    readonly port: number;
    readonly host: string;
    readonly perMessageDeflate: false;
  }) => SocketServer;
}

const root = process.env.VARVE_ROOT ?? process.cwd();
// What is used of the package, in its own words; a server that listens on a port has an address with one.
const sockets = createRequire(join(root, "packages/server/package.json"))("ws") as Sockets;

export const { WebSocket, WebSocketServer } = sockets;
export type { ClientSocket };
