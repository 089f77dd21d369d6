/** Model servers on this machine, found by asking the usual loopback ports. */
import { isFault } from "@varve/protocol";
import { isLoopback, normalBaseUrl } from "./base-url.ts";
import type { JsonPorts } from "./http-json.ts";
import { getJson, modelIds } from "./http-json.ts";

export interface LocalServer {
  readonly kind: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
}

const probeMs = 500;

export async function findLocalServers(
  ports: JsonPorts,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly LocalServer[]> {
  const candidates = [
    { kind: "Ollama", origin: ollamaOrigin(env.OLLAMA_HOST), list: "/api/tags" },
    { kind: "LM Studio", origin: "http://127.0.0.1:1234", list: "/v1/models" },
    { kind: "llama.cpp", origin: "http://127.0.0.1:8080", list: "/v1/models" },
  ];
  const found = await Promise.all(
    candidates.map(async ({ kind, origin, list }) => {
      const answer = await getJson(ports, { url: `${origin}${list}`, timeoutMs: probeMs });
      if (isFault(answer) || answer.status !== 200) return [];
      const models = modelIds(answer.body);
      return models === null ? [] : [{ kind, baseUrl: `${origin}/v1`, models }];
    }),
  );
  return found.flat();
}

/** `OLLAMA_HOST` names where it listens; a wildcard address is reached over loopback, and another machine is not asked. */
function ollamaOrigin(host: string | undefined): string {
  const usual = "http://127.0.0.1:11434";
  if (host === undefined || host.trim() === "") return usual;
  const url = normalBaseUrl(host.replace("0.0.0.0", "127.0.0.1"));
  if (url === null || !isLoopback(url)) return usual;
  const origin = new URL(url);
  return origin.port === "" ? `${origin.protocol}//${origin.hostname}:11434` : origin.origin;
}
