/** Hosts of this machine and of private networks that a person lets `fetch` reach. */

/** `name`, `address` or either with `:port`, as in an address: lower case, IPv6 in brackets. */
export const privateHostPattern = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]{0,252}))(?::\d{1,5})?$/;

/** True where the list names this address's host, alone or with the port that the request goes to. */
export function isNamedHost(url: URL, hosts: readonly string[]): boolean {
  const port = url.port !== "" ? url.port : url.protocol === "https:" ? "443" : "80";
  return hosts.some((host) => host === url.hostname || host === `${url.hostname}:${port}`);
}
