/**
 * The HTTP door. Every request passes the same gate in the same order: host and origin, who it is, which route, its body.
 * Works on plain `Request`s, so that tests need no socket.
 */
import type { ServerResponse } from "node:http";
import { type Fault, fault, isFault } from "@varve/protocol";
import { type Context, Hono } from "hono";
import { errorResponse, responseOf } from "./answer.ts";
import { admit, admitAddress, type GatePorts, type Knock, type Visitor } from "./auth/gate.ts";
import { takeBody } from "./intake.ts";
import type { LogLine } from "./log-line.ts";
import type { Method, Route } from "./routes/route.ts";
import type { PageFiles } from "./static.ts";

export interface AppPorts {
  readonly gate: GatePorts;
  readonly routes: readonly Route[];
  readonly page: PageFiles;
  readonly redact: (text: string) => string;
  readonly log: LogLine;
  /** The server is about to end: nothing is changed any more. */
  readonly closing: () => boolean;
}

/** `outgoing` is the socket's own response, where there is a socket. */
interface Bindings {
  readonly outgoing?: ServerResponse;
}
export type App = Hono<{ Bindings: Bindings }>;
type RequestContext = Context<{ Bindings: Bindings }>;

/** Served at the root as well, where such things are usually looked for. */
const atRoot = ["/health", "/metrics", "/openapi.json"];

export function createApp(ports: AppPorts): App {
  const app: App = new Hono<{ Bindings: Bindings }>();
  for (const [path, routes] of grouped(ports.routes)) {
    const handler = (context: RequestContext): Promise<Response> => serve(ports, routes, context);
    app.all(`/api${path}`, handler);
    if (atRoot.includes(path)) app.all(path, handler);
  }
  app.all("/api/*", (context) => serve(ports, [], context));
  app.all("/api", (context) => serve(ports, [], context));
  app.all("*", (context) => servePage(ports, context));
  app.onError((error) => {
    ports.log("error", "request-failed", { error });
    return errorResponse(fault("internal", "Something broke inside Varve.", "It is in the server's log; try again."));
  });
  return app;
}

function grouped(routes: readonly Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of routes) groups.set(route.path, [...(groups.get(route.path) ?? []), route]);
  return groups;
}

async function serve(ports: AppPorts, routes: readonly Route[], context: RequestContext): Promise<Response> {
  const request = context.req.raw;
  const method = request.method === "HEAD" ? "GET" : request.method;
  const route = routes.find((candidate) => candidate.method === method);
  const visitor = visitorOf(ports.gate, request, route);
  if (isFault(visitor)) return errorResponse(visitor);
  if (routes.length === 0) return errorResponse(fault("unknown-route", "There is nothing at this address."));
  if (route === undefined || (request.method === "HEAD" && route.answers.type === "text/event-stream")) {
    return wrongMethod(routes.map((candidate) => candidate.method));
  }
  if (route.method !== "GET" && ports.closing()) {
    return errorResponse(fault("shutting-down", "The server is closing.", "Try again when it is back."));
  }
  const body = await takeBody(request, route.intake);
  if (isFault(body)) return errorResponse(body);
  const answer = await route.run({
    params: context.req.param(),
    query: new URL(request.url).searchParams,
    body,
    visitor,
    headers: request.headers,
    cut: () => context.env?.outgoing?.destroy(),
  });
  const response = responseOf(answer, ports.redact);
  // The path without its query: what somebody put there by mistake is not written down.
  ports.log("debug", "request", { method: request.method, path: context.req.path, status: response.status });
  return response;
}

/** Who calls. A route that is open to all asks no further than for the address. */
function visitorOf(gate: GatePorts, request: Request, route: Route | undefined): Visitor | Fault {
  const knock = knockOf(request);
  if (route?.open !== true) return admit(knock, gate);
  return admitAddress(knock, gate) ?? { kind: "nobody" };
}

async function servePage(ports: AppPorts, context: RequestContext): Promise<Response> {
  const request = context.req.raw;
  const refused = admitAddress(knockOf(request), ports.gate);
  if (refused !== null) return errorResponse(refused);
  if (request.method !== "GET" && request.method !== "HEAD") return wrongMethod(["GET"]);
  return ports.page(new URL(request.url).pathname, request.headers.get("accept") ?? "");
}

function knockOf({ method, headers }: Request): Knock {
  const read = (name: string): string | undefined => headers.get(name) ?? undefined;
  return {
    method,
    host: read("host"),
    origin: read("origin"),
    fetchSite: read("sec-fetch-site"),
    authorization: read("authorization"),
    cookie: read("cookie"),
    key: read("x-varve-key"),
  };
}

const wrongMethod = (allowed: readonly Method[]): Response =>
  errorResponse(fault("method-refused", `This address takes ${allowed.join(", ")}.`), { allow: allowed.join(", ") });
