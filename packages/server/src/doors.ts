/** HTTP, socket and event stream around one workspace: everything of a server but its process. */
import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { ImageOperations, ModelRegistry, SandboxOperations } from "@varve/agent";
import type { BlobStore } from "@varve/log";
import type { Clock } from "@varve/protocol";
import { errorResponse } from "./answer.ts";
import { type App, createApp } from "./app.ts";
import type { GatePorts } from "./auth/gate.ts";
import type { SignInCodes } from "./auth/sign-in-codes.ts";
import type { Credentials } from "./credentials.ts";
import type { Directories } from "./directories.ts";
import type { LogLine } from "./log-line.ts";
import type { PermissionFiles } from "./permission-files.ts";
import { notHttp, refuseMalformed } from "./raw-answer.ts";
import { accessRoutes } from "./routes/access.ts";
import { contextRoutes } from "./routes/context.ts";
import { healthRoutes } from "./routes/health.ts";
import { messageRoutes } from "./routes/messages.ts";
import { modelRoutes } from "./routes/models.ts";
import { permissionRoutes } from "./routes/permissions.ts";
import { placeRoutes } from "./routes/places.ts";
import { recordingRoutes } from "./routes/recordings.ts";
import { type Route, reply, route } from "./routes/route.ts";
import { rowRoutes } from "./routes/rows.ts";
import { tabRoutes } from "./routes/tabs.ts";
import { tokenRoutes } from "./routes/tokens.ts";
import { usageRoutes } from "./routes/usage.ts";
import type { Settings } from "./settings.ts";
import { openSseDoor } from "./sse-door.ts";
import { pageFiles } from "./static.ts";
import type { Workspace } from "./workspace/workspace-contract.ts";
import { openWsDoor } from "./ws-door.ts";

export interface DoorsPorts {
  readonly workspace: Workspace;
  readonly permissions: PermissionFiles;
  readonly models: ModelRegistry;
  readonly blobs: BlobStore;
  readonly gate: GatePorts;
  readonly codes: SignInCodes;
  readonly credentials: Credentials;
  readonly settings: Settings;
  readonly directories: Directories;
  /** What this machine has of a sandbox; undefined: this server has none. */
  readonly sandbox?: Pick<SandboxOperations, "find"> | undefined;
  /** Makes uploaded pictures fit for providers. */
  readonly images: ImageOperations;
  readonly clock: Clock;
  /** Home of the server's user: where recordings of other tools are looked for. */
  readonly userHome: string;
  readonly log: LogLine;
  /** The built page, or null. */
  readonly webRoot: string | null;
  readonly version: string;
  readonly build: string;
  readonly boot: string;
  /** Of `server.json`. */
  readonly proofKey: string;
  readonly publicUrl: string | null;
  readonly networkNames: readonly string[];
}

export interface Doors {
  /** Answers requests without any socket. */
  readonly app: App;
  /** Not listening yet. */
  readonly server: Server;
  /** Pages and programs that are connected. */
  readonly connections: () => Readonly<{ sockets: number; streams: number }>;
  /** From now on nothing is changed; reading and streams go on. */
  refuseChanges(): void;
  /** Says bye to everybody and stops listening. */
  close(): Promise<void>;
}

export function openDoors(ports: DoorsPorts): Doors {
  const { workspace, gate, clock, build, boot } = ports;
  let closing = false;
  const sse = openSseDoor({ workspace, clock });
  // A request without a Host is refused by the gate, with the headers of every answer.
  const server = createServer({ requireHostHeader: false });
  refuseMalformed(server);
  const broke = (error: unknown): void => ports.log("error", "command-failed", { error });
  const sockets = openWsDoor(server, {
    workspace,
    ...{ devices: gate.devices, tokens: gate.tokens, gate },
    ...{ clock, build, boot, broke },
  });
  const connections = () => ({ sockets: sockets.count(), streams: sse.count() });
  const revoked = (holder: string): void => {
    sockets.endHolder(holder);
    sse.endHolder(holder);
  };
  const { codes, publicUrl, networkNames } = ports;
  const routes: Route[] = [
    ...accessRoutes({ gate, codes, build, publicUrl, networkNames, revoked, sockets: () => sockets.count() }),
    ...tokenRoutes({ tokens: gate.tokens, revoked }),
    ...tabRoutes(workspace),
    ...messageRoutes(workspace),
    ...rowRoutes(workspace, sse),
    ...contextRoutes(workspace.contexts),
    ...permissionRoutes(ports),
    ...usageRoutes(workspace),
    ...recordingRoutes(ports.userHome),
    ...modelRoutes(ports),
    ...placeRoutes(ports),
    ...healthRoutes({ workspace, version: ports.version, build, connections, proofKey: ports.proofKey }),
  ];
  routes.push(documentRoute(routes, ports.version));
  const app = createApp({
    gate,
    routes,
    page: pageFiles(ports.webRoot),
    redact: (text) => ports.models.redact(text),
    log: ports.log,
    closing: () => closing,
  });
  server.on("request", getRequestListener(app.fetch, { errorHandler: badRequest }));
  return {
    app,
    server,
    connections,
    refuseChanges() {
      closing = true;
    },
    async close() {
      closing = true;
      sockets.close();
      sse.close();
      await endServer(server);
    },
  };
}

function documentRoute(routes: readonly Route[], version: string): Route {
  let made: Promise<unknown> | null = null;
  return route({
    method: "GET",
    path: "/openapi.json",
    summary: "This document.",
    answers: { status: 200 },
    run: async () => {
      made ??= import("./routes/openapi.ts").then(({ openApiDocument }) => openApiDocument(routes, version));
      return reply(200, await made);
    },
  });
}

const badRequest = (): Response => errorResponse(notHttp());

/** Idle connections close at once; those that still answer get this long. */
const answerMs = 1_000;

function endServer(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), answerMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
