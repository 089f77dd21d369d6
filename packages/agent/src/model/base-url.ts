/** Addresses of providers as people write them, with or without their version. Pure. */

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
