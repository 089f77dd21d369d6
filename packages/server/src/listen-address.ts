/** Where a server listens: which hosts are this machine alone, what each failure means, under which names it answers. */
import type { Server } from "node:http";
import type { networkInterfaces } from "node:os";
import { type Fault, fault } from "@varve/protocol";

type Interfaces = ReturnType<typeof networkInterfaces>;

const bare = (host: string): string =>
  host
    .trim()
    .toLowerCase()
    .replace(/^\[|\]$/g, "");

export function isLoopbackHost(host: string): boolean {
  const name = bare(host);
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

const isWildcard = (host: string): boolean => ["0.0.0.0", "::", ""].includes(bare(host));

/** Characters of a token that a whole network may try, and how many of them must differ. */
const tokenCharsMin = 16;
const tokenVarietyMin = 8;

/** Null when the server may listen there. */
export function bindProblem(host: string, token: string | undefined): Fault | null {
  if (isLoopbackHost(host)) return null;
  const given = token ?? "";
  const weak = given.length < tokenCharsMin || new Set(given).size < tokenVarietyMin;
  if (!weak) return null;
  const without = given === "" ? "without a token of yours" : "with so weak a token";
  return fault(
    "bad-request",
    `Varve does not listen on ${host} ${without}: everybody in that network could reach it.`,
    `Set VARVE_TOKEN to a long secret first (${tokenCharsMin} characters and more, such as from \`openssl rand -hex 32\`), or leave --host out.`,
  );
}

/** Addresses that a server bound to `host` can be called by. */
export function boundNames(host: string, interfaces: Interfaces): readonly string[] {
  if (!isWildcard(host)) return [bare(host)];
  return Object.values(interfaces).flatMap((addresses) => (addresses ?? []).map(({ address }) => bare(address)));
}

/** Names under which another machine in its networks can call a server that is bound to `host`; IPv6 in brackets. */
export function networkNames(host: string, interfaces: Interfaces): readonly string[] {
  // Addresses of one link alone need a zone, which no browser takes.
  const far = boundNames(host, interfaces).filter((name) => !isLoopbackHost(name) && !/^(fe80:|169\.254\.)/.test(name));
  return far.map((name) => (name.includes(":") ? `[${name}]` : name));
}

export interface PublicUrl {
  /** `https://varve.example` */
  readonly origin: string;
  readonly name: string;
}

/** What `--public-url` takes: scheme, name and port, and nothing else. */
export function parsePublicUrl(text: string): PublicUrl | Fault {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    return fault(
      "bad-request",
      `${JSON.stringify(text)} is no public address.`,
      "--public-url takes scheme, name and port: https://varve.example. Varve is served at the root of its name.",
    );
  }
  return { origin: url.origin, name: url.hostname };
}

/** What a person on this machine types. */
export function addressOf(host: string, port: number): string {
  const name = isWildcard(host) ? "127.0.0.1" : bare(host);
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** The port that it listens on, or why it cannot. */
export function listenOn(server: Server, host: string, port: number): Promise<number | Fault> {
  return new Promise((resolve) => {
    const failed = (error: Error): void => resolve(listenFault(error, host, port));
    server.once("error", failed);
    server.listen(port, bare(host), () => {
      server.off("error", failed);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

function listenFault(error: Error, host: string, port: number): Fault {
  const code = "code" in error ? String(error.code) : "";
  if (code === "EADDRINUSE") {
    return fault(
      "address-unavailable",
      `Port ${port} on ${host} is in use by another program.`,
      "Stop it, or choose another port with --port (0 takes any free one).",
    );
  }
  if (code === "EACCES") {
    return fault("address-unavailable", `Port ${port} needs more rights than this user has.`, "Use one above 1023.");
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EINVAL") {
    return fault("address-unavailable", `This machine has no address ${host}.`, "Name another one with --host.");
  }
  return fault("address-unavailable", `Varve cannot listen on ${host}:${port} (${error.message}).`);
}
