/** A listening server that nobody has any business with. It counts who comes all the same. */
import { createServer } from "node:http";

export interface EvilServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Addresses that were asked for. */
  readonly visits: readonly string[];
  /** After a visit that a test made itself. */
  forget(): void;
}

export async function startEvilServer(): Promise<EvilServer> {
  const visits: string[] = [];
  const server = createServer((request, response) => {
    visits.push(request.url ?? "");
    response.writeHead(200, { "access-control-allow-origin": "*" }).end("window.P=1");
  });
  server.on("connection", () => visits.push("a connection"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    visits,
    forget: () => void visits.splice(0),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
