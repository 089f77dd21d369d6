/**
 * Who may come in. One decision for HTTP requests, sockets and event streams alike, from the request's own headers.
 *
 * Programs: `Authorization: Bearer <token>`. Pages: the device's cookie together with its second key, from our own origin.
 * `Origin` is checked whenever it is there, and required with the cookie; browsers leave it out on same-origin GETs, where
 * `Sec-Fetch-Site` and the second key (a header that no other site's page can send) stand in for it.
 */
import { type Fault, fault } from "@varve/protocol";
import type { Device, Devices } from "./devices.ts";
import { type HostNames, hostProblem, originProblem } from "./hosts.ts";
import { sameSecret } from "./secrets.ts";

export interface Knock {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** The second key: header `x-varve-key`. A socket sends it in its hello instead. */
  readonly key: string | undefined;
}

export type Visitor =
  /** At a route that is open to all. */
  | { readonly kind: "nobody" }
  | { readonly kind: "token" }
  | { readonly kind: "device"; readonly device: Device }
  /** A socket whose second key has yet to come in its hello. */
  | { readonly kind: "unproven"; readonly device: Device };

export interface GatePorts {
  readonly token: string;
  readonly devices: Devices;
  readonly cookieName: string;
  readonly names: HostNames;
}

const safeMethods = ["GET", "HEAD"];

/** Host and origin alone: what even the sign-in and the page's own files must pass. */
export function admitAddress(knock: Knock, ports: GatePorts): Fault | null {
  return hostProblem(knock.host, ports.names) ?? originProblem(knock.origin, knock.host);
}

export function admit(knock: Knock, ports: GatePorts): Visitor | Fault {
  const refused = admitAddress(knock, ports);
  if (refused !== null) return refused;
  if (knock.authorization !== undefined) return byToken(knock.authorization, ports);
  const visitor = byCookie(knock, ports);
  if (visitor.kind !== "unproven") return visitor;
  if (knock.key === undefined || !ports.devices.hasKey(visitor.device.id, knock.key)) return keyMissing();
  return { kind: "device", device: visitor.device };
}

/** A socket: the cookie counts for the upgrade, its second key must come in the hello (`proveHello`). */
export function admitSocket(knock: Knock, ports: GatePorts): Visitor | Fault {
  const refused = admitAddress(knock, ports);
  if (refused !== null) return refused;
  if (knock.authorization !== undefined) return byToken(knock.authorization, ports);
  if (knock.origin === undefined) return originMissing();
  return byCookie(knock, ports);
}

export function proveHello(visitor: Visitor, key: string | undefined, devices: Devices): Visitor | Fault {
  if (visitor.kind !== "unproven") return visitor;
  if (key === undefined || !devices.hasKey(visitor.device.id, key)) return keyMissing();
  return { kind: "device", device: visitor.device };
}

/** Who a visitor is in rows: shown beside what they wrote. */
export function nameOf(visitor: Visitor): string {
  return "device" in visitor ? visitor.device.id : visitor.kind;
}

function byToken(authorization: string, ports: GatePorts): Visitor | Fault {
  const token = /^Bearer (\S+)$/i.exec(authorization)?.[1];
  if (token !== undefined && sameSecret(token, ports.token)) return { kind: "token" };
  return fault("unauthorized", "The token is not right.", "It is in the file `token` of the server's home.");
}

function byCookie(knock: Knock, ports: GatePorts): Visitor | Fault {
  const value = cookieValue(knock.cookie, ports.cookieName);
  const device = value === null ? null : ports.devices.byCookie(value);
  if (device === null) {
    return fault(
      "unauthorized",
      "Nobody is signed in here.",
      "Run `varve link` on the server's machine and open the link.",
    );
  }
  if (knock.origin === undefined) {
    const sameSite = knock.fetchSite === undefined || knock.fetchSite === "same-origin";
    if (!safeMethods.includes(knock.method) || !sameSite) return originMissing();
  }
  return { kind: "unproven", device };
}

function cookieValue(header: string | undefined, name: string): string | null {
  for (const part of header?.split(";") ?? []) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}

const originMissing = (): Fault =>
  fault("origin-refused", "A request with a cookie must say which page it comes from.");
const keyMissing = (): Fault =>
  fault("second-key-missing", "The page's second key is missing or wrong.", "Sign in again with a new link.");
