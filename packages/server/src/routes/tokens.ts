/** Named tokens for programs. */
import { fault, isFault } from "@varve/protocol";
import { z } from "zod";
import { type ApiTokens, tokenDaysMax } from "../auth/api-tokens.ts";
import { jsonRoute, okOr, type Route, reply, route } from "./route.ts";

export interface TokenPorts {
  readonly tokens: ApiTokens;
  /** A token was taken back: its connections end. */
  readonly revoked: (id: string) => void;
}

/** Times in milliseconds; `usedAt` null: never; `expiresAt` null: not before it is taken back. */
const tokenSchema = z.object({
  id: z.string(),
  name: z.string(),
  lastFour: z.string(),
  createdAt: z.number(),
  usedAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
});

export const tokenRoutes = ({ tokens, revoked }: TokenPorts): readonly Route[] => [
  route({
    method: "GET",
    path: "/tokens",
    summary: "Named tokens, without their secrets.",
    ownerOnly: true,
    answers: { status: 200, schema: z.object({ tokens: z.array(tokenSchema) }) },
    run: () => reply(200, { tokens: tokens.list() }),
  }),
  jsonRoute({
    method: "POST",
    path: "/tokens",
    summary: "Makes a named token; its secret is told in this answer and never again.",
    ownerOnly: true,
    body: z.object({ name: z.string().max(200), days: z.int().min(1).max(tokenDaysMax).optional() }),
    answers: { status: 201, schema: z.object({ token: tokenSchema, secret: z.string() }) },
    run: async ({ body }) => okOr(await tokens.add(body.name, body.days ?? null), 201),
  }),
  route({
    method: "DELETE",
    path: "/tokens/:id",
    summary: "Takes a named token back at once.",
    ownerOnly: true,
    answers: { status: 200, schema: z.object({ id: z.string() }) },
    run: async ({ params }) => {
      const id = params.id ?? "";
      const gone = await tokens.revoke(id);
      if (gone === false) return fault("unknown-credential", "There is no such token.");
      if (gone === true) revoked(id);
      return okOr(isFault(gone) ? gone : { id });
    },
  }),
];
