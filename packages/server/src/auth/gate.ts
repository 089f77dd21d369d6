/**
 * Who may come in. One decision for HTTP requests, sockets and event streams alike, from the request's own headers.
 *
 * Programs: `Authorization: Bearer <token>`. Pages: the device's cookie together with its second key, from our own origin.
 * `Origin` is checked whenever it is there, and required with the cookie; browsers leave it out on same-origin GETs, where
 * `Sec-Fetch-Site` and the second key (a header that no other site's page can send) stand in for it.
 */
import { type Fault, fault, isFault } from "@varve/protocol";
import type { ApiToken, ApiTokens } from "./api-tokens.ts";
import type { Device, Devices } from "./devices.ts";
import { type HostNames, hostProblem, originProblem } from "./hosts.ts";
import { type Arrival, arrivalOf, calledHost, type HeaderReader, type Proxies } from "./proxies.ts";
import { sameSecret } from "./secrets.ts";

export interface Knock {
  readonly method: string;
  /** The address at the other end of the connection; undefined where there is none. */
  readonly peer: string | undefined;
  readonly header: HeaderReader;
}

export type Visitor =
  /** At a route that is open to all. */
  | { readonly kind: "nobody" }
  | { readonly kind: "token" }
  /** With a named token: may not let others in. */
  | { readonly kind: "program"; readonly token: ApiToken }
  | { readonly kind: "device"; readonly device: Device }
  /** A socket whose second key has yet to come in its hello. */
  | { readonly kind: "unproven"; readonly device: Device };

export interface GatePorts {
  readonly token: string;
  readonly devices: Devices;
  readonly tokens: ApiTokens;
  readonly cookieName: string;
  readonly names: HostNames;
  readonly proxies: Proxies;
}

const safeMethods = ["GET", "HEAD"];

/** Host and origin alone: what even the sign-in and the page's own files must pass. */
export function admitAddress(knock: Knock, ports: GatePorts): Arrival | Fault {
  const arrival = arrivalOf(knock.peer, knock.header, ports.proxies);
  for (const host of arrival.hosts) {
    const refused = hostProblem(host, ports.names);
    if (refused !== null) return refused;
  }
  return originProblem(knock.header("origin"), calledHost(arrival), arrival.scheme) ?? arrival;
}

export function admit(knock: Knock, ports: GatePorts): Visitor | Fault {
  const arrival = admitAddress(knock, ports);
  if (isFault(arrival)) return arrival;
  const authorization = knock.header("authorization");
  if (authorization !== undefined) return byToken(authorization, ports);
  const visitor = byCookie(knock, ports);
  if (visitor.kind !== "unproven") return visitor;
  // The second key comes in a header; a socket sends it in its hello instead.
  const key = knock.header("x-varve-key");
  if (key === undefined || !ports.devices.hasKey(visitor.device.id, key)) return keyMissing();
  return { kind: "device", device: visitor.device };
}

/** A socket: the cookie counts for the upgrade, its second key must come in the hello (`proveHello`). */
export function admitSocket(knock: Knock, ports: GatePorts): Visitor | Fault {
  const arrival = admitAddress(knock, ports);
  if (isFault(arrival)) return arrival;
  const authorization = knock.header("authorization");
  if (authorization !== undefined) return byToken(authorization, ports);
  if (knock.header("origin") === undefined) return originMissing();
  return byCookie(knock, ports);
}

export function proveHello(visitor: Visitor, key: string | undefined, devices: Devices): Visitor | Fault {
  if (visitor.kind !== "unproven") return visitor;
  if (key === undefined || !devices.hasKey(visitor.device.id, key)) return keyMissing();
  return { kind: "device", device: visitor.device };
}

/** Who a visitor is in rows: shown beside what they wrote. */
export function nameOf(visitor: Visitor): string {
  if (visitor.kind === "program") return `token:${visitor.token.name}`;
  return "device" in visitor ? visitor.device.id : visitor.kind;
}

/** The device or named token by which somebody came in; null for what cannot be taken back while the server runs. */
export function holderOf(visitor: Visitor): string | null {
  if (visitor.kind === "program") return visitor.token.id;
  return "device" in visitor ? visitor.device.id : null;
}

/** Whether somebody who came in would still be let in. What stays open asks again and again, and that is a use. */
export function stillHolds(
  visitor: Visitor,
  { devices, tokens }: { readonly devices: Devices; readonly tokens?: ApiTokens | undefined },
): boolean {
  if (visitor.kind === "program") return tokens?.holds(visitor.token.id) ?? false;
  // Whoever has yet to bring the second key has not used the device.
  return visitor.kind === "device" ? devices.holds(visitor.device.id) : true;
}

export const endedFault = (): Fault =>
  fault("unauthorized", "This device or token has been signed out.", "Sign in again, or use another token.");

function byToken(authorization: string, ports: GatePorts): Visitor | Fault {
  const token = /^Bearer (\S+)$/i.exec(authorization)?.[1];
  if (token !== undefined && sameSecret(token, ports.token)) return { kind: "token" };
  const named = token === undefined ? null : ports.tokens.bySecret(token);
  if (named !== null) return { kind: "program", token: named };
  return fault("unauthorized", "The token is not right.", "The home's own is in its file `token`.");
}

function byCookie(knock: Knock, ports: GatePorts): Visitor | Fault {
  const value = cookieValue(knock.header("cookie"), ports.cookieName);
  const device = value === null ? null : ports.devices.byCookie(value);
  if (device === null) {
    return fault(
      "unauthorized",
      "Nobody is signed in here.",
      "Run `varve link` on the server's machine and open the link.",
    );
  }
  if (knock.header("origin") === undefined) {
    const site = knock.header("sec-fetch-site");
    const sameSite = site === undefined || site === "same-origin";
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
