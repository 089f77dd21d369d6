import type { ErrorBody } from "@varve/protocol";
import type { Http, Method, Result } from "./http.ts";

/** A request without an answer after this long counts as failed: a button must never stay pressed for ever. */
const REQUEST_TIMEOUT_MS = 60_000;

/** `fetch` with the page's second key. The cookie goes along by itself; neither is enough without the other. */
export class FetchHttp implements Http {
  readonly #key: () => string | undefined;

  constructor(key: () => string | undefined) {
    this.#key = key;
  }

  json(method: Method, path: string, body?: unknown): Promise<Result<unknown>> {
    const init: RequestInit =
      body === undefined
        ? { method }
        : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    return this.#run(path, init, readJson);
  }

  upload(path: string, bytes: Blob): Promise<Result<unknown>> {
    const headers = { "content-type": bytes.type === "" ? "application/octet-stream" : bytes.type };
    return this.#run(path, { method: "POST", body: bytes, headers }, readJson);
  }

  download(path: string): Promise<Result<Blob>> {
    return this.#run(path, { method: "GET" }, (response) => response.blob());
  }

  async #run<T>(path: string, init: RequestInit, read: (response: Response) => Promise<T>): Promise<Result<T>> {
    const headers = new Headers(init.headers);
    const key = this.#key();
    if (key !== undefined) headers.set("x-varve-key", key);
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    try {
      const response = await fetch(`/api${path}`, { ...init, headers, signal, credentials: "same-origin" });
      if (response.ok) return { ok: true, body: await read(response) };
      return { ok: false, error: errorOf(await readJson(response), response.status) };
    } catch {
      // A network fault has no text of its own that would help a person.
      return { ok: false, error: unreachableServer };
    }
  }
}

const unreachableServer: ErrorBody = {
  code: "log-unavailable",
  message: "The server does not answer.",
  hint: "Nothing was changed. Check that Varve is running, then try again.",
};

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return {}; // Not JSON: a proxy's error page says nothing that the status does not.
  }
}

function errorOf(body: unknown, status: number): ErrorBody {
  const error = typeof body === "object" && body !== null && "error" in body ? body.error : null;
  if (typeof error === "object" && error !== null && "code" in error && "message" in error) {
    // The server's error bodies are of the protocol's closed list; an unknown code falls to the default of a switch.
    return error as ErrorBody;
  }
  return { code: "internal", message: `The server answered with status ${status}.` };
}
