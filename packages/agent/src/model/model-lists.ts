/** How each provider lists its models: where, with which headers, and which of them can be talked to. */

import type { Fault } from "@varve/protocol";
import { fault, isFault } from "@varve/protocol";
import { baseUrlOf, dialectOf } from "./dialect.ts";
import type { JsonPorts } from "./http-json.ts";
import { getJson, modelIds } from "./http-json.ts";
import type { KnownCredential } from "./model.ts";

/** Models of OpenAI that hold no conversation, by what their names contain. */
const notForTalk =
  /embedding|whisper|tts|dall-e|moderation|image|audio|realtime|transcribe|translate|sora|davinci|babbage|instruct|search/;
/** Likewise of Google: those that make pictures, speech or vectors. */
const notForText = /embedding|aqa|imagen|veo|-image|-tts|-live|native-audio|lyria/;

export async function listModels(
  ports: JsonPorts,
  credential: KnownCredential,
  timeoutMs: number,
): Promise<readonly string[] | Fault> {
  const base = baseUrlOf(credential);
  if (base === null) return fault("bad-request", `The address of "${credential.id}" is not a web address.`);
  const isGoogle = credential.provider === "google";
  const url = `${base}/models${isGoogle ? "?pageSize=1000" : ""}`;
  const answer = await getJson(ports, { url, headers: headersOf(credential), timeoutMs });
  if (isFault(answer)) return answer;
  if (answer.status === 401 || answer.status === 403 || (isGoogle && isBadGoogleKey(answer.status, answer.body))) {
    return fault("credential-refused", `${base} refuses this key (HTTP ${answer.status}).`, "Check the key.");
  }
  if (answer.status >= 500) return fault("provider-unreachable", `${base} answered HTTP ${answer.status}.`);
  const ids = answer.status === 200 ? modelIds(answer.body) : null;
  if (ids === null) return fault("provider-refused", `${base} does not list its models (HTTP ${answer.status}).`);
  // What a list names twice is one model.
  return [...new Set(ids.flatMap((id) => talkable(credential, id)))];
}

/**
 * OpenRouter lists its models to anybody, so that a wrong key shows only where the key itself is asked about. Null when it
 * does not say that the key is wrong.
 */
export async function refusedKey(
  ports: JsonPorts,
  credential: KnownCredential,
  timeoutMs: number,
): Promise<Fault | null> {
  const base = baseUrlOf(credential);
  if (base === null || dialectOf(credential) !== "openrouter") return null;
  const answer = await getJson(ports, { url: `${base}/key`, headers: headersOf(credential), timeoutMs });
  if (isFault(answer) || (answer.status !== 401 && answer.status !== 403)) return null;
  return fault("credential-refused", `${base} refuses this key (HTTP ${answer.status}).`, "Check the key.");
}

function talkable({ provider }: KnownCredential, listed: string): readonly string[] {
  const id = provider === "google" ? listed.replace(/^models\//, "") : listed;
  if (provider === "openai" && notForTalk.test(id)) return [];
  return provider === "google" && notForText.test(id) ? [] : [id];
}

/** Google answers a wrong key with 400. */
const isBadGoogleKey = (status: number, body: unknown): boolean =>
  status === 400 && JSON.stringify(body ?? null).includes("API_KEY_INVALID");

function headersOf({ provider, key }: KnownCredential): Readonly<Record<string, string>> {
  if (key === null) return {};
  if (provider === "anthropic") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
  return provider === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}
