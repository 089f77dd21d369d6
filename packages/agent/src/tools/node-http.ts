/** HTTP of this machine: one request to one address that was looked at before, whatever the name resolves to by then. */
import { lookup } from "node:dns/promises";
import { type IncomingMessage, request as plainRequest, type RequestOptions } from "node:http";
import { request as secureRequest } from "node:https";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { codeOf } from "./node-files.ts";
import { type HttpAnswer, type HttpOperations, WorldFault } from "./operations.ts";

async function resolve(host: string): Promise<readonly string[]> {
  const bare = host.replace(/^\[|\]$/g, "");
  if (isIP(bare) !== 0) return [bare];
  try {
    return (await lookup(bare, { all: true })).map(({ address }) => address);
  } catch (thrown) {
    throw new WorldFault(codeOf(thrown) ?? "ENOTFOUND", host);
  }
}

type Get = Parameters<HttpOperations["get"]>[0];

function get({ url, address, signal }: Get): Promise<HttpAnswer> {
  const options: RequestOptions = {
    method: "GET",
    headers: {
      "user-agent": "Varve",
      accept: "text/html,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5",
      "accept-encoding": "gzip, deflate, br",
    },
    signal,
    // No pool: a kept connection could lead to an address that was never looked at.
    agent: false,
    lookup: (_host, wanted, answer) => {
      const family = isIP(address);
      if (wanted.all === true) answer(null, [{ address, family }]);
      else answer(null, address, family);
    },
  };
  const request = (url.protocol === "https:" ? secureRequest : plainRequest)(url, options);
  return new Promise((done, failed) => {
    request.once("error", (error) => failed(new WorldFault(codeOf(error) ?? error.message, url.host)));
    request.once("response", (response) => done(answerOf(response)));
    request.end();
  });
}

function answerOf(response: IncomingMessage): HttpAnswer {
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers["content-type"] ?? "",
    location: response.headers.location ?? null,
    body: decompressed(response),
    close: () => response.destroy(),
  };
}

async function* decompressed(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  const stage = stageFor(response.headers["content-encoding"] ?? "");
  if (stage !== null) {
    // `pipe` does not pass a fault on; the reader below would wait for ever.
    response.on("error", (error) => stage.destroy(error));
    response.pipe(stage);
  }
  const source: Readable = stage ?? response;
  try {
    for await (const chunk of source) {
      if (chunk instanceof Uint8Array) yield chunk;
    }
  } catch (thrown) {
    throw new WorldFault(codeOf(thrown) ?? "the answer was cut off", "The answer");
  }
}

function stageFor(encoding: string) {
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return null;
  }
}

export const nodeHttp = (): HttpOperations => ({ resolve, get });
