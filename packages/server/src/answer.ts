/** Every response that leaves the server is made here, so that none lacks the headers that keep a page safe. */
import { type ErrorBody, type ErrorCode, errorStatus, type Fault, isFault } from "@varve/protocol";
import { errorBodyOf, type Reply, type RouteAnswer } from "./routes/route.ts";

/** The page loads its own files and nothing else: no inline script or style, no frame, no form, no other host. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
/** What is not the page runs nothing, wherever somebody opens it. */
const dataPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

const always: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

export const dataHeaders: Readonly<Record<string, string>> = {
  ...always,
  "content-security-policy": dataPolicy,
  "cache-control": "no-store",
};
export const pageHeaders: Readonly<Record<string, string>> = { ...always, "content-security-policy": pagePolicy };

export function jsonResponse({ status, body, headers }: Reply): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...dataHeaders, "content-type": "application/json; charset=utf-8", ...headers },
  });
}

export function errorResponse(error: ErrorBody & { readonly current?: unknown }, headers = {}): Response {
  const { current } = error;
  const body = { ...errorBodyOf(error), ...(current !== undefined && { current }) };
  return jsonResponse({ status: statusOf(error.code), body, headers });
}

export function responseOf(answer: RouteAnswer, redact: (text: string) => string): Response {
  if (answer instanceof Response) return answer;
  if (isFault(answer)) return errorResponse(redacted(answer, redact));
  return jsonResponse(answer);
}

const statusOf = (code: ErrorCode): number => errorStatus[code];

/** What a provider said may quote a key. */
function redacted<F extends Fault>(error: F, redact: (text: string) => string): F {
  const { message, hint } = error;
  return { ...error, message: redact(message), ...(hint !== undefined && { hint: redact(hint) }) };
}
