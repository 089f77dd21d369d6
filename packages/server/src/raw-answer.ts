/** Answers to what never becomes a request, with the headers that every answer carries. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorBody, errorStatus, fault } from "@varve/protocol";
import { dataHeaders } from "./answer.ts";
import { errorBodyOf } from "./routes/route.ts";

/** Writes one refusal on a bare connection and ends it. */
export function refuseRaw(duplex: Duplex, error: ErrorBody, status: number = errorStatus[error.code]): void {
  // A caller that goes away in the middle of a refusal is nobody's loss.
  duplex.on("error", () => duplex.destroy());
  // Whoever does not close its half of the connection does not keep ours.
  duplex.once("finish", () => duplex.destroy());
  const { body, headers } = refusal(error);
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
  duplex.end(`HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${body}`);
}

/** What Node would answer by itself, bare of headers, is answered like everything else. */
export function refuseMalformed(server: Server): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => answering.set(request.socket, response));
  server.on("clientError", (error: Error & { readonly code?: string }, socket: Duplex) => {
    const response = answering.get(socket);
    const midAnswer = response?.headersSent === true && !response.writableFinished;
    if (error.code === "ECONNRESET" || !socket.writable || midAnswer) socket.destroy();
    else refuseRaw(socket, notHttp(), statusOf(error.code));
  });
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    const { body, headers } = refusal(notHttp());
    response.writeHead(417, headers).end(body);
  });
}

function refusal(error: ErrorBody) {
  const body = JSON.stringify(errorBodyOf(error));
  const length = { "content-length": String(Buffer.byteLength(body)) };
  return { body, headers: { ...dataHeaders, "content-type": "application/json; charset=utf-8", ...length } };
}

function statusOf(code: string | undefined): number {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return 431;
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return 413;
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return 408;
    default:
      return 400;
  }
}

/** A request line, a header or a Host that no request can be made of never reaches the app. */
export const notHttp = (): ErrorBody => fault("bad-request", "This is not a request that HTTP allows.");
