/** How a server is reached from outside, as the person said it. */
import { networkInterfaces } from "node:os";
import { type Fault, isFault } from "@varve/protocol";
import { type HostNames, hostNames } from "./auth/hosts.ts";
import { type Proxies, parseProxies } from "./auth/proxies.ts";
import { boundNames, networkNames, parsePublicUrl } from "./listen-address.ts";
import type { StartOptions } from "./start-options.ts";

export interface PublicAddress {
  readonly proxies: Proxies;
  /** Under which links are told, without a path; null when the person did not say. */
  readonly publicUrl: string | null;
  readonly names: HostNames;
  /** Names of this machine in its networks, when it listens there. */
  readonly networkNames: readonly string[];
}

type Asked = Pick<StartOptions, "host" | "allowHosts" | "trustProxies" | "publicUrl">;

export function publicAddress({ host, allowHosts, trustProxies = [], publicUrl }: Asked): PublicAddress | Fault {
  const proxies = parseProxies(trustProxies);
  if (isFault(proxies)) return proxies;
  const url = publicUrl === undefined ? null : parsePublicUrl(publicUrl);
  if (isFault(url)) return url;
  const interfaces = networkInterfaces();
  return {
    proxies,
    publicUrl: url?.origin ?? null,
    names: hostNames(boundNames(host, interfaces), url === null ? allowHosts : [...allowHosts, url.name]),
    networkNames: networkNames(host, interfaces),
  };
}
