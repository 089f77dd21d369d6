/** Who is here: signing in, devices, links for further devices. */
import { fault, isFault } from "@varve/protocol";
import { z } from "zod";
import type { GatePorts } from "../auth/gate.ts";
import type { SignInCodes } from "../auth/sign-in-codes.ts";
import { jsonRoute, okOr, type Route, reply, route } from "./route.ts";

export interface AccessPorts {
  readonly gate: GatePorts;
  readonly codes: SignInCodes;
  readonly build: string;
  /** A device was signed out: its connections end. */
  readonly revoked: (deviceId: string) => void;
  /** Pages and programs that hold a socket now. */
  readonly sockets: () => number;
}

const lifeSeconds = 90 * 24 * 3_600;

export const accessRoutes = ({ gate, codes, build, revoked, sockets }: AccessPorts): readonly Route[] => [
  jsonRoute({
    method: "POST",
    path: "/sign-in",
    summary: "Trades a one-time code for a cookie and the second key that goes with it.",
    open: true,
    body: z.object({ code: z.string().max(200) }),
    answers: { status: 200, schema: z.object({ key: z.string(), build: z.string() }) },
    run: async ({ body, headers }) => {
      const refused = codes.use(body.code);
      if (refused !== null) return refused;
      const added = await gate.devices.add(headers.get("user-agent") ?? "unknown");
      if (isFault(added)) return added;
      const secure = headers.get("origin")?.startsWith("https:") === true ? "; Secure" : "";
      const cookie = `${gate.cookieName}=${added.cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${lifeSeconds}${secure}`;
      return { status: 200, body: { key: added.key, build }, headers: { "set-cookie": cookie } };
    },
  }),
  route({
    method: "GET",
    path: "/me",
    summary: "Whether the caller is signed in, and which build the server is.",
    answers: { status: 200, schema: z.object({ signedIn: z.boolean(), build: z.string() }) },
    run: ({ visitor }) =>
      reply(200, { signedIn: true, build, ...(visitor.kind === "device" && { device: visitor.device.id }) }),
  }),
  jsonRoute({
    method: "POST",
    path: "/links",
    summary: "A one-time sign-in code for another device, and how many sockets are open.",
    body: z.object({}),
    answers: { status: 201, schema: z.object({ code: z.string(), url: z.string(), sockets: z.number() }) },
    run: ({ headers }) => {
      const code = codes.make();
      const origin = headers.get("origin") ?? `http://${headers.get("host") ?? "localhost"}`;
      return reply(201, { code, url: `${origin}/#code=${code}`, sockets: sockets() });
    },
  }),
  route({
    method: "GET",
    path: "/devices",
    summary: "Signed-in devices.",
    answers: {
      status: 200,
      schema: z.object({
        devices: z.array(z.object({ id: z.string(), label: z.string(), createdAt: z.number(), usedAt: z.number() })),
      }),
    },
    run: () => reply(200, { devices: gate.devices.list() }),
  }),
  route({
    method: "DELETE",
    path: "/devices/:id",
    summary: "Signs a device out at once.",
    answers: { status: 200, schema: z.object({ id: z.string() }) },
    run: async ({ params }) => {
      const id = params.id ?? "";
      const gone = await gate.devices.revoke(id);
      if (gone === false) return fault("unknown-credential", "There is no such device.");
      revoked(id);
      return okOr(isFault(gone) ? gone : { id });
    },
  }),
];
