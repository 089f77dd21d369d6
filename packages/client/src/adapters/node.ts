/** For programs: a tab's frames over server-sent events, and REST with a bearer token. */
import type { ErrorBody, Frame, TabId } from "@varve/protocol";
import type { ClientPorts } from "../client.ts";
import { decodeError, decodeFrame, parseJson } from "../decode.ts";
import { restAnswer } from "./rest-answer.ts";
import { SseReader } from "./sse.ts";

export interface ServerAddress {
  /** Of the server, without `/api`: `http://127.0.0.1:4477`. */
  readonly baseUrl: string;
  readonly token: string;
}
export interface TailOptions extends ServerAddress {
  readonly tabId: TabId;
  /** `logId:term:seq`: go on behind this row. Without it the stream begins with a head and the last page. */
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}
export interface TailedFrame {
  readonly frame: Frame;
  /** What to give as `lastEventId` to go on behind this frame. */
  readonly lastEventId: string;
}
/** The server answered with an error instead of a stream. */
export class TailRefused extends Error {
  override readonly name = "TailRefused";
  readonly body: ErrorBody;
  constructor(body: ErrorBody) {
    super(body.message);
    this.body = body;
  }
}

/**
 * Ends when the server ends the stream, which it does when it stops; the caller goes on with the last id. Throws
 * `TailRefused` for an error answer, what `fetch` throws when nobody answers, and an AbortError after `signal`.
 */
export async function* tailFrames(options: TailOptions): AsyncGenerator<TailedFrame, void, undefined> {
  const headers: Record<string, string> = { authorization: `Bearer ${options.token}`, accept: "text/event-stream" };
  if (options.lastEventId !== undefined) headers["last-event-id"] = options.lastEventId;
  const url = `${options.baseUrl}/api/tabs/${encodeURIComponent(options.tabId)}/events`;
  const response = await fetch(url, { headers, signal: options.signal ?? null });
  if (!response.ok || response.body === null) {
    throw new TailRefused(decodeError(parseJson(await response.text()), `The server answered ${response.status}.`));
  }
  const reader = new SseReader();
  const text = new TextDecoder();
  for await (const bytes of response.body) {
    for (const event of reader.read(text.decode(bytes, { stream: true }))) {
      const frame = decodeFrame(event.data);
      if (frame !== null) yield { frame, lastEventId: event.id };
    }
  }
}

/** REST under `/api` with a bearer token; a fault of the network is `log-unavailable`, never a throw. */
export function bearerRest(address: ServerAddress): ClientPorts["rest"] {
  return async ({ method, path, body }) => {
    const headers: Record<string, string> = { authorization: `Bearer ${address.token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    return await restAnswer(() => fetch(`${address.baseUrl}/api${path}`, init));
  };
}
