/** The page's own files. A name that is not of a plain form is not looked up at all, so no path leads out. */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fault } from "@varve/protocol";
import { errorResponse, pageHeaders } from "./answer.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".map": "application/json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};
const partPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}$/;

export type PageFiles = (path: string, accept: string) => Promise<Response>;

/** `root`: the built page, or null when this server has none. */
export function pageFiles(root: string | null): PageFiles {
  return async (path, accept) => {
    const file = await fileAt(root, path);
    if (file !== null) return file;
    if (accept.includes("text/html")) return (await fileAt(root, "/index.html")) ?? notBuilt();
    return errorResponse(fault("unknown-route", "There is nothing at this address."));
  };
}

async function fileAt(root: string | null, path: string): Promise<Response | null> {
  const parts = (path === "/" ? "/index.html" : path).split("/").slice(1);
  if (root === null || !parts.every((part) => partPattern.test(part))) return null;
  const type = types[extname(path === "/" ? "index.html" : path)];
  if (type === undefined) return null;
  const bytes = await readFile(join(root, ...parts)).catch(() => null);
  if (bytes === null) return null;
  // Names of built assets carry a hash of what they hold; everything else may change with the next build.
  const cache = parts[0] === "assets" ? "public, max-age=31536000, immutable" : "no-cache";
  return new Response(new Uint8Array(bytes), {
    status: 200,
    headers: { ...pageHeaders, "content-type": type, "cache-control": cache },
  });
}

const notBuilt = (): Response =>
  new Response("Varve runs, but its page is not built. Run `npm start` once in its checkout, then reload.\n", {
    status: 503,
    headers: { ...pageHeaders, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
