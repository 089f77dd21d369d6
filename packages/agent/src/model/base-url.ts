/** Addresses of providers as people write them, with or without their version. Pure. */

const ownNames = /(^|\.)(localhost|local|lan|home\.arpa)$|^host\.docker\.internal$/;
/** This machine, the private ranges of IPv4, its link-local one, and the one that overlay networks number their machines from. */
const ownFour =
  /^(0\.0\.0\.0$|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;
/** This machine, unique local and link-local addresses of IPv6. */
const ownSix = /^\[(::1\]|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/;

/**
 * Whether an address is on one's own machine or network, by its host alone: nobody is asked what a name stands for. A name
 * without a dot can mean nothing elsewhere.
 */
export function isOnOwnNetwork(baseUrl: string): boolean {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const host = url === null ? "" : url.hostname.replace(/\.$/, "");
  if (host === "") return false;
  if (host.startsWith("[")) return ownSix.test(host);
  return /^\d+(\.\d+){3}$/.test(host) ? ownFour.test(host) : !host.includes(".") || ownNames.test(host);
}

/** Without trailing slashes and with an API version: `version` is added unless the path names one already. */
export function normalBaseUrl(text: string, version = "v1"): string | null {
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text.trim()) ? text.trim() : `http://${text.trim()}`);
  } catch {
    return null; // The caller says in words that this is no address.
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  const path = url.pathname.replace(/\/+$/, "");
  const versioned = /\/v\d+[a-z0-9]*(\/|$)/.test(path) ? path : `${path}/${version}`;
  return `${url.origin}${versioned}`;
}

export const isLoopback = (baseUrl: string): boolean =>
  /^https?:\/\/(localhost|127(\.\d+){3}|\[::1\])(:|\/|$)/i.test(baseUrl);
