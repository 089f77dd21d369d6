/**
 * Who a request says it is for and from. A page of another site can point a name of its own at this machine (DNS
 * rebinding) or post across sites; both show in `Host` and `Origin`, which no page can forge.
 */
import { type Fault, fault } from "@varve/protocol";

const loopback = ["localhost", "127.0.0.1", "[::1]"];

/** Names under which this server may be called, lower-case, without a port; IPv6 in brackets. */
export type HostNames = ReadonlySet<string>;

export function hostNames(bound: readonly string[], allowed: readonly string[]): HostNames {
  const names = [...loopback, ...bound, ...allowed].map((name) => bracketed(name.trim().toLowerCase()));
  return new Set(names.filter((name) => name !== ""));
}

/** Null when the request may go on. */
export function hostProblem(host: string | undefined, names: HostNames): Fault | null {
  const name = host === undefined ? null : nameOf(host);
  if (name !== null && names.has(name)) return null;
  return fault(
    "host-refused",
    // What is no name is not told back: it can be anything.
    name === null ? "The request names no server." : `This server does not answer to the name ${name}.`,
    "Use an address that it is bound to, or start it with --allow-host NAME.",
  );
}

/**
 * An origin is ours when it names the very host and port that the request went to, and its scheme where that is known.
 * Absent: the caller decides.
 */
export function originProblem(
  origin: string | undefined,
  host: string | undefined,
  scheme: string | null,
): Fault | null {
  if (origin === undefined) return null;
  // Browsers spell an origin in one way alone.
  const from = URL.canParse(origin) && new URL(origin).origin === origin.toLowerCase() ? new URL(origin) : null;
  const known = scheme === null ? /^https?:$/.test(from?.protocol ?? "") : from?.protocol === `${scheme}:`;
  const ours = from !== null && known && from.host === withoutDefaultPort(host ?? "", from.protocol);
  return ours ? null : fault("origin-refused", "A page of another site may not call this server.");
}

const bracketed = (name: string): string => (name.includes(":") && !name.startsWith("[") ? `[${name}]` : name);

/** The lower-case name of a Host header, or null when it is not of the form name[:port]. */
function nameOf(host: string): string | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase() ?? null;
}

function withoutDefaultPort(host: string, protocol: string): string {
  return host.toLowerCase().replace(protocol === "https:" ? /:443$/ : /:80$/, "");
}
