/** Models, and the keys behind them. A key goes in and never comes out. */
import type { ModelRegistry } from "@varve/agent";
import { credentialSchema, modelsBodySchema, newCredentialSchema } from "@varve/protocol/schema";
import { z } from "zod";
import type { Credentials } from "../credentials.ts";
import type { Settings } from "../settings.ts";
import { jsonRoute, okOr, type Route, reply, route } from "./route.ts";

export interface ModelPorts {
  readonly models: ModelRegistry;
  readonly credentials: Credentials;
  readonly settings: Settings;
}

export const modelRoutes = ({ models, credentials, settings }: ModelPorts): readonly Route[] => [
  route({
    method: "GET",
    path: "/models",
    summary: "Models that a tab can use, the default one, and providers that are only recognised.",
    answers: { status: 200, schema: modelsBodySchema },
    run: async () => {
      const body = await models.list();
      return reply(200, { ...body, default: settings.defaultModel ?? body.default });
    },
  }),
  route({
    method: "GET",
    path: "/credentials",
    summary: "Credentials, without their keys.",
    answers: { status: 200, schema: z.object({ credentials: z.array(credentialSchema) }) },
    run: () => reply(200, { credentials: models.credentials() }),
  }),
  jsonRoute({
    method: "POST",
    path: "/credentials",
    summary: "Keeps a key or a base URL after it was tried once.",
    body: newCredentialSchema,
    answers: { status: 201, schema: credentialSchema },
    run: async ({ body }) => okOr(await credentials.add(body), 201),
  }),
  route({
    method: "DELETE",
    path: "/credentials/:id",
    summary: "Forgets a stored credential.",
    answers: { status: 200, schema: z.object({ id: z.string() }) },
    run: async ({ params }) => (await credentials.remove(params.id ?? "")) ?? reply(200, { id: params.id }),
  }),
  route({
    method: "GET",
    path: "/local-servers",
    summary: "Model servers of this machine that answer on their usual ports.",
    answers: {
      status: 200,
      schema: z.object({
        servers: z.array(z.object({ kind: z.string(), baseUrl: z.string(), models: z.array(z.string()) })),
      }),
    },
    run: async () => reply(200, { servers: await models.localServers() }),
  }),
];
