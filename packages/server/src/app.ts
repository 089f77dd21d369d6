/**
 * The HTTP door. Every request passes the same gate in the same order: host and origin, who it is, which route, its body.
 * Works on plain `Request`s, so that tests need no socket.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Fault, fault, isFault } from "@varve/protocol";
import { type Context, Hono } from "hono";
import { errorResponse, responseOf } from "./answer.ts";
import { admit, admitAddress, endedFault, type GatePorts, type Knock, stillHolds, type Visitor } from "./auth/gate.ts";
import { arrivalOf } from "./auth/proxies.ts";
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

/** The socket's own request and response, where there is a socket. */
interface Bindings {
  readonly incoming?: IncomingMessage;
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
  const knock = knockOf(context);
  const visitor = targetProblem(context) ?? visitorOf(ports.gate, knock, route);
  if (isFault(visitor)) return errorResponse(visitor);
  if (routes.length === 0) return errorResponse(fault("unknown-route", "There is nothing at this address."));
  if (route === undefined || (request.method === "HEAD" && route.answers.type === "text/event-stream")) {
    return wrongMethod(routes.map((candidate) => candidate.method));
  }
  if (route.ownerOnly === true && visitor.kind === "program") return errorResponse(ownerOnly());
  if (route.method !== "GET" && ports.closing()) {
    return errorResponse(fault("shutting-down", "The server is closing.", "Try again when it is back."));
  }
  const body = await takeBody(request, route.intake);
  if (isFault(body)) return errorResponse(body);
  // A body may come for minutes: whoever was signed out meanwhile changes nothing any more.
  if (!stillHolds(visitor, ports.gate)) return errorResponse(endedFault());
  const answer = await route.run({
    params: context.req.param(),
    query: new URL(request.url).searchParams,
    body,
    visitor,
    arrival: arrivalOf(knock.peer, knock.header, ports.gate.proxies),
    stillHolds: () => stillHolds(visitor, ports.gate),
    headers: request.headers,
    cut: () => context.env?.outgoing?.destroy(),
  });
  const response = responseOf(answer, ports.redact);
  // The path without its query: what somebody put there by mistake is not written down.
  ports.log("debug", "request", { method: request.method, path: context.req.path, status: response.status });
  return response;
}

/** Who calls. A route that is open to all asks no further than for the address. */
function visitorOf(gate: GatePorts, knock: Knock, route: Route | undefined): Visitor | Fault {
  if (route?.open !== true) return admit(knock, gate);
  const arrival = admitAddress(knock, gate);
  return isFault(arrival) ? arrival : { kind: "nobody" };
}

/** A whole address in the request line stands above the Host header: one of another server is not ours to answer. */
function targetProblem({ env, req }: RequestContext): Fault | null {
  const target = env?.incoming?.url ?? "/";
  if (target.startsWith("/") || new URL(req.url).host === req.header("host")?.toLowerCase()) return null;
  return fault("host-refused", "The request line names another server than its Host header.");
}

async function servePage(ports: AppPorts, context: RequestContext): Promise<Response> {
  const request = context.req.raw;
  const arrival = targetProblem(context) ?? admitAddress(knockOf(context), ports.gate);
  if (isFault(arrival)) return errorResponse(arrival);
  if (request.method !== "GET" && request.method !== "HEAD") return wrongMethod(["GET"]);
  return ports.page(new URL(request.url).pathname, request.headers.get("accept") ?? "");
}

function knockOf({ req, env }: RequestContext): Knock {
  const { method, headers } = req.raw;
  const peer = env?.incoming?.socket.remoteAddress;
  return { method, peer, header: (name) => headers.get(name) ?? undefined };
}

const ownerOnly = (): Fault =>
  fault(
    "owner-only",
    "A named token lets nobody in and keeps nobody out.",
    "Use a signed-in page, or the home's own token.",
  );

const wrongMethod = (allowed: readonly Method[]): Response =>
  errorResponse(fault("method-refused", `This address takes ${allowed.join(", ")}.`), { allow: allowed.join(", ") });
