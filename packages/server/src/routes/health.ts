/** Is it up, and what does it use. */
import { memoryUsage } from "node:process";
import { z } from "zod";
import { dataHeaders } from "../answer.ts";
import type { Workspace } from "../workspace/workspace-contract.ts";
import { type Route, reply, route } from "./route.ts";

export interface HealthPorts {
  readonly workspace: Workspace;
  readonly version: string;
  readonly build: string;
  /** Open connections by kind. */
  readonly connections: () => Readonly<Record<string, number>>;
}

export const healthRoutes = (ports: HealthPorts): readonly Route[] => [
  route({
    method: "GET",
    path: "/health",
    summary: "Answers as long as the server does.",
    open: true,
    answers: { status: 200, schema: z.object({ ok: z.literal(true), version: z.string(), build: z.string() }) },
    run: () => reply(200, { ok: true, version: ports.version, build: ports.build }),
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
