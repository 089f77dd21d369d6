/** Is it up, and what does it use. */
import { memoryUsage } from "node:process";
import { z } from "zod";
import { dataHeaders } from "../answer.ts";
import { proofFor } from "../proof.ts";
import type { Workspace } from "../workspace/workspace-contract.ts";
import { type Route, reply, route } from "./route.ts";

export interface HealthPorts {
  readonly workspace: Workspace;
  readonly version: string;
  readonly build: string;
  /** Open connections by kind. */
  readonly connections: () => Readonly<Record<string, number>>;
  /** Of `server.json`. */
  readonly proofKey: string;
}

const healthSchema = z.object({
  ok: z.literal(true),
  version: z.string(),
  build: z.string(),
  proof: z.string().optional(),
});

export const healthRoutes = (ports: HealthPorts): readonly Route[] => [
  route({
    method: "GET",
    path: "/health",
    summary: "Answers as long as the server does.",
    open: true,
    query: { nonce: "22 to 64 letters, digits, `_` or `-`: the answer proves that this server wrote its server.json." },
    answers: { status: 200, schema: healthSchema },
    run: ({ query }) => {
      const proof = proofFor(ports.proofKey, query.get("nonce"));
      return reply(200, { ok: true, version: ports.version, build: ports.build, ...(proof !== null && { proof }) });
    },
  }),
  route({
    method: "GET",
    path: "/metrics",
    summary: "Counters as Prometheus reads them.",
    answers: { status: 200, type: "text/plain; version=0.0.4" },
    run: () =>
      new Response(metricsText(ports), {
        status: 200,
        headers: { ...dataHeaders, "content-type": "text/plain; version=0.0.4; charset=utf-8" },
      }),
  }),
];

function metricsText(ports: HealthPorts): string {
  const { rss, heapUsed } = memoryUsage();
  const figures: Readonly<Record<string, number>> = {
    ...ports.workspace.counters(),
    ...ports.connections(),
    resident_memory_bytes: rss,
    heap_used_bytes: heapUsed,
  };
  return Object.entries(figures)
    .map(([name, value]) => {
      const full = `varve_${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
      return `# TYPE ${full} gauge\n${full} ${value}\n`;
    })
    .join("");
}
