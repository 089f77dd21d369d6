/** Who is here: signing in, devices, links for further devices. */
import { fault, isFault } from "@varve/protocol";
import { z } from "zod";
import { type Device, deviceLifeMs, labelCharsMax } from "../auth/devices.ts";
import type { GatePorts } from "../auth/gate.ts";
import { calledHost } from "../auth/proxies.ts";
import type { SignInCodes } from "../auth/sign-in-codes.ts";
import { type Call, jsonRoute, okOr, type Route, reply, route } from "./route.ts";

export interface AccessPorts {
  readonly gate: GatePorts;
  readonly codes: SignInCodes;
  readonly build: string;
  /** The address that the person gave for links, without a path; null: the one that was called. */
  readonly publicUrl: string | null;
  /** Names of this machine in its networks, when it listens there. */
  readonly networkNames: readonly string[];
  /** A device or a named token was signed out: its connections end. */
  readonly revoked: (holder: string) => void;
  /** Pages and programs that hold a socket now. */
  readonly sockets: () => number;
}

/**
 * How long a browser keeps the cookie, which it is told once: as long as browsers allow. When a device ends is decided here,
 * by its last use, and a cookie that ended before would sign out somebody who comes every day.
 */
const cookieSeconds = 400 * 24 * 3_600;
/** Further addresses that are offered for a link. */
const othersMax = 8;

const deviceSchema = z.object({
  id: z.string(),
  label: z.string(),
  createdAt: z.number(),
  usedAt: z.number(),
  expiresAt: z.number(),
  /** The one that asks. */
  current: z.boolean(),
});
const linkSchema = z.object({
  code: z.string(),
  url: z.string(),
  /** The same link under further addresses of this server, for devices that cannot use the first. */
  others: z.array(z.string()),
  endsAt: z.number(),
  sockets: z.number(),
});

export const accessRoutes = (ports: AccessPorts): readonly Route[] => [
  ...signingIn(ports),
  ...devicesRoutes(ports),
  jsonRoute({
    method: "POST",
    path: "/links",
    summary: "A one-time sign-in code for another device, and how many sockets are open.",
    ownerOnly: true,
    body: z.object({}),
    answers: { status: 201, schema: linkSchema },
    run: (call) => {
      const code = ports.codes.make();
      const [url = "", ...others] = addressesFor(ports, call).map((address) => `${address}/#code=${code}`);
      return reply(201, { code, url, others, endsAt: ports.codes.endsAt(), sockets: ports.sockets() });
    },
  }),
];

const signingIn = ({ gate, codes, build }: AccessPorts): readonly Route[] => [
  jsonRoute({
    method: "POST",
    path: "/sign-in",
    summary: "Trades a one-time code for a cookie and the second key that goes with it.",
    open: true,
    body: z.object({ code: z.string().max(200) }),
    answers: { status: 200, schema: z.object({ key: z.string(), build: z.string() }) },
    run: async ({ body, headers, arrival }) => {
      const refused = codes.use(body.code, arrival.client);
      if (refused !== null) return refused;
      const added = await gate.devices.add(headers.get("user-agent") ?? "unknown");
      if (isFault(added)) return added;
      const secure = arrival.scheme === "https" || headers.get("origin")?.startsWith("https:") === true;
      const facts = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${cookieSeconds}${secure ? "; Secure" : ""}`;
      const cookie = `${gate.cookieName}=${added.cookie}; ${facts}`;
      return { status: 200, body: { key: added.key, build }, headers: { "set-cookie": cookie } };
    },
  }),
  route({
    method: "GET",
    path: "/me",
    summary: "Whether the caller is signed in, and which build the server is.",
    answers: { status: 200, schema: z.object({ signedIn: z.boolean(), build: z.string() }) },
    run: ({ visitor }) => {
      const device = visitor.kind === "device" && { device: visitor.device.id };
      const token = visitor.kind === "program" && { token: visitor.token.name };
      return reply(200, { signedIn: true, build, ...device, ...token });
    },
  }),
];

const devicesRoutes = ({ gate, revoked }: AccessPorts): readonly Route[] => [
  route({
    method: "GET",
    path: "/devices",
    summary: "Signed-in devices.",
    ownerOnly: true,
    answers: { status: 200, schema: z.object({ devices: z.array(deviceSchema) }) },
    run: ({ visitor }) => reply(200, { devices: gate.devices.list().map((device) => shown(device, visitor)) }),
  }),
  jsonRoute({
    method: "PATCH",
    path: "/devices/:id",
    summary: "Gives a device another name.",
    ownerOnly: true,
    body: z.object({ label: z.string().trim().min(1).max(labelCharsMax) }),
    answers: { status: 200, schema: deviceSchema },
    run: async ({ params, body, visitor }) => {
      const renamed = await gate.devices.rename(params.id ?? "", body.label);
      if (renamed === null) return unknownDevice();
      return isFault(renamed) ? renamed : reply(200, shown(renamed, visitor));
    },
  }),
  route({
    method: "DELETE",
    path: "/devices/:id",
    summary: "Signs a device out at once.",
    ownerOnly: true,
    answers: { status: 200, schema: z.object({ id: z.string() }) },
    run: async ({ params }) => {
      const id = params.id ?? "";
      const gone = await gate.devices.revoke(id);
      if (gone === false) return unknownDevice();
      if (gone === true) revoked(id);
      return okOr(isFault(gone) ? gone : { id });
    },
  }),
];

/** Where the link leads: the page's own address, else the one that the person gave, else the one that was called. */
function addressesFor({ publicUrl, networkNames }: AccessPorts, { headers, arrival }: Call<unknown>) {
  const host = calledHost(arrival) ?? "localhost";
  const called = `${arrival.scheme ?? "http"}://${host}`;
  const first = headers.get("origin") ?? publicUrl ?? called;
  const port = /:\d+$/.exec(arrival.hosts[0] ?? "")?.[0] ?? "";
  const further = networkNames.slice(0, othersMax).map((name) => `http://${name}${port}`);
  return [...new Set([first, ...(publicUrl === null ? [] : [publicUrl]), ...further])];
}

const shown = (device: Device, visitor: Call<unknown>["visitor"]) => ({
  ...device,
  expiresAt: device.usedAt + deviceLifeMs,
  current: visitor.kind === "device" && visitor.device.id === device.id,
});

const unknownDevice = () => fault("unknown-credential", "There is no such device.");
