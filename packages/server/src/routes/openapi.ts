/** The OpenAPI document, made from the very table that answers requests. Loaded and made at the first request for it. */
import { errorStatus } from "@varve/protocol";
import { commandSchema, frameSchema } from "@varve/protocol/schema";
import { z } from "zod";
import type { Route } from "./route.ts";

const errorSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(errorStatus)),
    message: z.string(),
    hint: z.string().optional(),
  }),
});

export function openApiDocument(routes: readonly Route[], version: string): unknown {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = `/api${route.path.replace(/:(\w+)/g, "{$1}")}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Varve",
      version,
      description:
        "Programs send `Authorization: Bearer <token>`. The same acts go over a WebSocket at `/api/ws`: commands in, frames out.",
    },
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Error: jsonSchema(errorSchema), Frame: jsonSchema(frameSchema), Command: jsonSchema(commandSchema) },
    },
  };
}

function operationOf(route: Route): unknown {
  const { status, schema, type = "application/json" } = route.answers;
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const content = schema === undefined ? { [type]: {} } : { [type]: { schema: jsonSchema(schema) } };
  return {
    summary: route.summary,
    security: route.open === true ? [] : [{ token: [] }],
    parameters: [
      ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...Object.entries(route.query ?? {}).map(([name, description]) => ({
        name,
        in: "query",
        description,
        schema: { type: "string" },
      })),
    ],
    ...(route.intake.kind !== "nothing" && { requestBody: { required: true, content: intakeOf(route) } }),
    responses: {
      [status]: { description: "Done.", content },
      default: {
        description: "What went wrong: switch on `error.code`.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function intakeOf({ intake }: Route): unknown {
  if (intake.kind !== "json") return { "application/octet-stream": {} };
  return { "application/json": { schema: jsonSchema(intake.schema) } };
}

/** As it travels: ids are strings there. */
const jsonSchema = (schema: z.ZodType): unknown => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
};
