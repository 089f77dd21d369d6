/**
 * The only way from a sandbox without a network to the hosts that a person allowed: an HTTP proxy on a socket in the
 * sandbox's own folder. It judges each request by name and port, resolves the name itself and connects to the address that
 * it judged; an address of this machine or a private network is refused unless the very name was allowed.
 */
import { randomUUID } from "node:crypto";
import { lookup } from "node:dns/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { isPublicAddress } from "../tools/addresses.ts";
import { codeOf } from "../tools/node-files.ts";
import { type SandboxProxy, WorldFault } from "../tools/operations.ts";
import { type HostRule, judgeHost } from "./host-list.ts";
import { sandboxLimits } from "./limits.ts";

interface Target {
  readonly host: string;
  readonly port: number;
}
type Route = { readonly address: string } | { readonly refused: string };

export type Resolve = (host: string) => Promise<readonly string[]>;

const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

export async function openProxy(
  rules: readonly HostRule[],
  folder: string,
  resolve: Resolve = systemResolve,
): Promise<SandboxProxy> {
  const name = `.network-${randomUUID().slice(0, 8)}`;
  const routeTo = (target: Target) => routeOf(rules, target, resolve);
  const server = createServer({ maxHeaderSize: sandboxLimits.proxyHeadBytesMax }, (asked, answer) => {
    void forward(asked, answer, routeTo);
  });
  server.maxConnections = sandboxLimits.proxyConnectionsMax;
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.on("connect", (asked, near, head) => void tunnel({ asked, near, head }, routeTo));
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise<void>((done, failed) => {
    server.once("error", (error) => failed(new WorldFault(codeOf(error) ?? "UNKNOWN", folder)));
    server.listen(join(folder, name), done);
  });
  return {
    name,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function routeOf(rules: readonly HostRule[], { host, port }: Target, resolve: Resolve): Promise<Route> {
  const verdict = judgeHost(rules, host, port);
  if (!verdict.allowed)
    return { refused: `${host}:${port} is not among the hosts that this tab's commands may reach.` };
  const bare = host.replace(/^\[|\]$/g, "");
  const addresses = isIP(bare) === 0 ? await resolve(bare).catch(() => []) : [bare];
  const address = addresses.find((one) => verdict.named || isPublicAddress(one));
  if (address !== undefined) return { address };
  if (addresses.length === 0) return { refused: `${host} has no address.` };
  return { refused: `${host} leads to a private address, which has to be allowed by its own name.` };
}

type RouteTo = (target: Target) => Promise<Route>;

interface Tunnel {
  readonly asked: IncomingMessage;
  readonly near: Duplex;
  readonly head: Buffer;
}

async function tunnel({ asked, near, head }: Tunnel, routeTo: RouteTo): Promise<void> {
  near.on("error", () => near.destroy());
  const target = targetOf(asked.url ?? "");
  const route = target === null ? { refused: "This is no host and port." } : await routeTo(target);
  if ("refused" in route || target === null) {
    const words = "refused" in route ? route.refused : "";
    near.end(`HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${words}\n`);
    return;
  }
  const far = connect({ host: route.address, port: target.port });
  const late = () => far.destroy();
  far.setTimeout(sandboxLimits.proxyConnectMs, late);
  far.once("connect", () => {
    far.setTimeout(sandboxLimits.proxyIdleMs, late);
    near.write("HTTP/1.1 200 Connection established\r\n\r\n");
    far.write(head);
    near.pipe(far).pipe(near);
  });
  far.once("error", () => near.end(far.connecting ? "HTTP/1.1 502 Bad Gateway\r\n\r\n" : undefined));
  far.once("close", () => near.destroy());
  near.once("close", () => far.destroy());
}

/** `host:port`, the host a name, an address, or an IPv6 address in brackets. */
export function targetOf(authority: string): Target | null {
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^:@/[\]]+):(\d{1,5})$/.exec(authority) ?? [];
  if (host === undefined || port === undefined) return null;
  const number = Number(port);
  return number >= 1 && number <= 65_535 ? { host, port: number } : null;
}

/** What is between a client and its proxy alone. */
const betweenTheTwo = [
  "proxy-connection",
  "proxy-authorization",
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "upgrade",
  "host",
];

async function forward(asked: IncomingMessage, answer: ServerResponse, routeTo: RouteTo): Promise<void> {
  asked.on("error", () => answer.destroy());
  const url = URL.canParse(asked.url ?? "") ? new URL(asked.url ?? "") : null;
  if (url === null || url.protocol !== "http:") {
    refuse(answer, 400, "This proxy takes whole addresses that begin with http://, and CONNECT for everything else.");
    return;
  }
  const port = url.port === "" ? 80 : Number(url.port);
  const route = await routeTo({ host: url.hostname, port });
  if ("refused" in route) {
    refuse(answer, 403, route.refused);
    return;
  }
  const kept = Object.entries(asked.headers).filter(([name]) => !betweenTheTwo.includes(name));
  const onward = request({
    host: route.address,
    port,
    method: asked.method ?? "GET",
    path: url.pathname + url.search,
    headers: { ...Object.fromEntries(kept), host: url.host },
    agent: false,
    timeout: sandboxLimits.proxyConnectMs,
  });
  onward.on("timeout", () => onward.destroy());
  onward.on("error", () =>
    answer.headersSent ? answer.destroy() : refuse(answer, 502, `${url.host} did not answer.`),
  );
  onward.on("response", (response) => {
    answer.writeHead(response.statusCode ?? 502, response.rawHeaders);
    response.pipe(answer);
  });
  answer.on("close", () => onward.destroy());
  asked.pipe(onward);
}

function refuse(answer: ServerResponse, status: number, words: string): void {
  answer.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  answer.end(`${words}\n`);
}
