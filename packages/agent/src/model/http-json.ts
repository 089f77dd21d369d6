/** One small GET with a time limit, as a value. */
import type { Clock, Fault } from "@varve/protocol";
import { fault } from "@varve/protocol";

export interface JsonAnswer {
  readonly kind: "answer";
  readonly status: number;
  /** Undefined when the body is no JSON. */
  readonly body: unknown;
}

export interface JsonPorts {
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
}

export async function getJson(
  ports: JsonPorts,
  request: { readonly url: string; readonly headers?: Readonly<Record<string, string>>; readonly timeoutMs: number },
): Promise<JsonAnswer | Fault> {
  const stop = new AbortController();
  const timer = ports.clock.setTimer(request.timeoutMs, () => stop.abort());
  try {
    const response = await ports.fetch(request.url, { headers: request.headers ?? {}, signal: stop.signal });
    const text = await response.text();
    return { kind: "answer", status: response.status, body: parse(text) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = stop.signal.aborted ? `no answer within ${request.timeoutMs} ms` : String(cause);
    return fault("provider-unreachable", `${new URL(request.url).origin} could not be reached: ${why}.`);
  } finally {
    timer.cancel();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Some other program's page: the caller sees that it is no model server.
  }
}

/** Ids in `{data: [{id}]}` (OpenAI, Anthropic) or `{models: [{name}]}` (Ollama); null when it is neither. */
export function modelIds(body: unknown): readonly string[] | null {
  const list = own(body, "data") ?? own(body, "models");
  if (!Array.isArray(list)) return null;
  return list.flatMap((entry: unknown) => {
    const id = own(entry, "id") ?? own(entry, "name");
    return typeof id === "string" && id !== "" ? [id] : [];
  });
}

function own(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
