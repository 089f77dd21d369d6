/**
 * Reverse proxies that are believed. Anybody can write `X-Forwarded-For`: what such headers say counts only from an address
 * that the person named, and from anybody else the request is what it is.
 */
import { BlockList, isIP } from "node:net";
import { type Fault, fault } from "@varve/protocol";

/** Addresses and networks that may be named. */
const proxiesMax = 64;
/** Hops that are followed; whoever stands behind more of them is known by the last one looked at. */
const hopsMax = 16;

export interface Proxies {
  trusts(address: string | undefined): boolean;
}

export const noProxies: Proxies = { trusts: () => false };

/** `10.0.0.7`, `fd00::1`, `10.0.0.0/8`: what `--trust-proxy` takes. */
export function parseProxies(texts: readonly string[]): Proxies | Fault {
  if (texts.length === 0) return noProxies;
  if (texts.length > proxiesMax) return badProxy(`At most ${proxiesMax} proxies can be trusted.`);
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", prefix, more] = text.trim().split("/");
    const kind = isIP(address);
    const bits = prefix === undefined ? (kind === 4 ? 32 : 128) : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (kind === 0 || more !== undefined || bits < 0 || bits > (kind === 4 ? 32 : 128)) {
      return badProxy(`${JSON.stringify(text)} is no address of a proxy.`);
    }
    if (bits === 0) return badProxy(`${text} would believe everybody.`);
    list.addSubnet(address, bits, kind === 4 ? "ipv4" : "ipv6");
  }
  return {
    trusts(address) {
      const plain = address === undefined ? "" : plainAddress(address);
      const kind = isIP(plain);
      return kind !== 0 && list.check(plain, kind === 4 ? "ipv4" : "ipv6");
    },
  };
}

const badProxy = (message: string): Fault =>
  fault("bad-request", message, "--trust-proxy takes addresses and networks: 10.0.0.7, fd00::1, 10.0.0.0/8.");

/** As it came to the socket, or from a trusted proxy. */
export interface Arrival {
  /** The address that called; "" when there is none, as in a test. */
  readonly client: string;
  /** The name that was called; all of these have to be names of this server. */
  readonly hosts: readonly (string | undefined)[];
  /** Null when nobody who is believed has said. */
  readonly scheme: "http" | "https" | null;
}

/** A header as one text; several of a name are joined by commas. */
export type HeaderReader = (name: string) => string | undefined;

export function arrivalOf(peer: string | undefined, header: HeaderReader, proxies: Proxies): Arrival {
  const own = header("host");
  const address = plainAddress(peer ?? "");
  if (!proxies.trusts(address)) return { client: address, hosts: [own], scheme: null };
  const { chain, host, proto } = forwardedBy(header);
  const scheme = proto === undefined ? null : /^(https|wss)$/i.test(proto) ? "https" : "http";
  return { client: firstStranger(address, chain, proxies), hosts: host === undefined ? [own] : [own, host], scheme };
}

/** The name under which the caller knows this server. */
export const calledHost = ({ hosts }: Arrival): string | undefined => hosts.at(-1);

interface Forwarded {
  /** Addresses, the nearest hop last. */
  readonly chain: readonly string[];
  readonly host: string | undefined;
  readonly proto: string | undefined;
}

/**
 * The old headers win: a proxy that sets them does not know of `Forwarded`, and would hand on a caller's own. Of several
 * values the last one is the nearest proxy's.
 */
function forwardedBy(header: HeaderReader): Forwarded {
  const [chain, host, proto] = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"].map((name) =>
    header(name)
      ?.split(",")
      .map((part) => part.trim()),
  );
  if (chain !== undefined || host !== undefined || proto !== undefined) {
    return { chain: chain ?? [], host: host?.at(-1), proto: proto?.at(-1) };
  }
  const elements = (header("forwarded") ?? "").split(",");
  return {
    chain: elements.flatMap((element) => parameterOf(element, "for") ?? []),
    host: parameterOf(elements.at(-1) ?? "", "host"),
    proto: parameterOf(elements.at(-1) ?? "", "proto"),
  };
}

function parameterOf(element: string, name: string): string | undefined {
  for (const pair of element.split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim().toLowerCase() === name) {
      return pair
        .slice(at + 1)
        .trim()
        .replace(/^"(.*)"$/, "$1");
    }
  }
  return undefined;
}

/** From the nearest hop outwards: the first address that is not itself a trusted proxy. */
function firstStranger(peer: string, chain: readonly string[], proxies: Proxies): string {
  let client = peer;
  for (const text of chain.slice(-hopsMax).toReversed()) {
    const address = plainAddress(text);
    if (isIP(address) === 0) return client;
    client = address;
    if (!proxies.trusts(address)) return client;
  }
  return client;
}

/** Without port, brackets and zone; IPv4 in its own spelling where IPv6 only wraps it. */
function plainAddress(text: string): string {
  const bare = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^(\d[\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*$/, "").toLowerCase();
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address;
}
