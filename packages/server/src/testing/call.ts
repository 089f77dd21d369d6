/** One request, the same whether it goes through a socket or not. */
import { Agent, request } from "node:http";
import type { App } from "../app.ts";

export interface Request {
  readonly method: string;
  readonly path: string;
  /** `host` replaces the caller's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Texts and bytes go as they are, everything else as JSON with its content type. */
  readonly body?: unknown;
}
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}
export interface Caller {
  (request: Request): Promise<Reply>;
  /** `127.0.0.1:4477`. */
  readonly host: string;
  readonly origin: string;
}

export function memoryCaller(app: App, host: string): Caller {
  const call = async (asked: Request): Promise<Reply> => {
    const { headers, body } = prepared(asked);
    const init = { method: asked.method, headers: { host, ...headers }, ...(body !== undefined && { body }) };
    const response = await app.request(`http://${host}${asked.path}`, init);
    return replyOf(response.status, Object.fromEntries(response.headers), await response.text());
  };
  return Object.assign(call, { host, origin: `http://${host}` });
}

/** One connection that is kept, so that a test sees whether it stays usable. */
export function socketCaller(port: number, agent = new Agent({ keepAlive: true, maxSockets: 1 })): Caller {
  const host = `127.0.0.1:${port}`;
  const call = (asked: Request): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const { headers, body } = prepared(asked);
      const outgoing = request(
        { host: "127.0.0.1", port, agent, path: asked.path, method: asked.method, headers: { host, ...headers } },
        (incoming) => {
          const parts: Buffer[] = [];
          incoming.on("data", (part: Buffer) => parts.push(part));
          incoming.on("error", reject);
          incoming.on("end", () => {
            const flat = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const);
            resolve(replyOf(incoming.statusCode ?? 0, Object.fromEntries(flat), Buffer.concat(parts).toString("utf8")));
          });
        },
      );
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  return Object.assign(call, { host, origin: `http://${host}` });
}

function prepared({ headers = {}, body }: Request) {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) {
    // A fresh copy: the types of both callers want bytes of a plain buffer.
    return { headers, body: body instanceof Uint8Array ? new Uint8Array(body) : body };
  }
  return { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

function replyOf(status: number, headers: Reply["headers"], text: string): Reply {
  return { status, headers, text, json: jsonOf(text) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No JSON, as the type says.
  }
}
