import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert } from "@varve/protocol";
import { isObject, parseJson } from "../json.ts";

export type StreamVendor = "anthropic" | "openai-chat" | "deepseek" | "google" | "openai-responses";

export interface RecordedStream {
  readonly vendor: StreamVendor;
  /** The file's name without `.chunks.txt`. */
  readonly name: string;
  /** One JSON text an event, as received. */
  readonly events: readonly string[];
}

const ENDING = ".chunks.txt";

/** All recorded streams of a vendor, by ascending name. */
export function recordedStreams(dataDir: string, vendor: StreamVendor): readonly RecordedStream[] {
  const folder = join(dataDir, "streams", vendor);
  return readdirSync(folder)
    .filter((file) => file.endsWith(ENDING))
    .sort()
    .flatMap((file): readonly RecordedStream[] => {
      const lines = readFileSync(join(folder, file), "utf8").split("\n");
      const events = lines.map((line) => line.trim()).filter((line) => line !== "");
      const name = file.slice(0, -ENDING.length);
      return answersIn(events).map((answer, at, all) => {
        return { vendor, name: all.length === 1 ? name : `${name} (${at + 1})`, events: answer };
      });
    });
}

/** A file of several requests holds one answer after the other. */
function answersIn(events: readonly string[]): readonly (readonly string[])[] {
  const answers: string[][] = [];
  for (const event of events) {
    if (answers.length === 0 || event.startsWith('{"type":"response.created"')) answers.push([]);
    answers.at(-1)?.push(event);
  }
  return answers;
}

/** One recorded event as server-sent text. Anthropic and OpenAI Responses name the event by its type. */
export function asServerSentEvent(vendor: StreamVendor, event: string): string {
  const value = parseJson(event);
  const isNamed = vendor === "anthropic" || vendor === "openai-responses";
  // A recording may hold an event that is no JSON: it is sent as it is, without a name.
  const name = isNamed && isObject(value) && typeof value.type === "string" ? `event: ${value.type}\n` : "";
  return `${name}data: ${event}\n\n`;
}

export interface ReplayedRequest {
  readonly url: string;
  readonly body: unknown;
}

export interface Replay {
  /** Stands in for `fetch` in a provider adapter: each request is answered by the next stream. */
  readonly fetch: typeof fetch;
  readonly requests: readonly ReplayedRequest[];
}

/**
 * Serves recorded streams without a network, one a request, one event a read. `cutAfter` ends each of them after so
 * many events: cleanly, or with an error as from a broken socket.
 */
export function replayStreams(
  streams: readonly RecordedStream[],
  options: { readonly cutAfter?: number; readonly broken?: boolean } = {},
): Replay {
  const requests: ReplayedRequest[] = [];
  const replayed: typeof fetch = async (input, init) => {
    const stream = streams[requests.length];
    assert(stream !== undefined, `only ${streams.length} recorded streams are there to be replayed`);
    const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
    requests.push({ url, body: typeof init?.body === "string" ? parseJson(init.body) : undefined });
    const texts = stream.events.map((event) => asServerSentEvent(stream.vendor, event));
    if (stream.vendor === "openai-chat" || stream.vendor === "deepseek") texts.push("data: [DONE]\n\n");
    const shown = options.cutAfter === undefined ? texts : texts.slice(0, options.cutAfter);
    return new Response(byteStream(shown, options.broken === true), {
      status: 200,
      headers: { "content-type": "text/event-stream" },
    });
  };
  return { fetch: replayed, requests };
}

function byteStream(texts: readonly string[], isBroken: boolean): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const text = texts[at];
      at += 1;
      if (text !== undefined) controller.enqueue(encoder.encode(text));
      else if (isBroken) controller.error(new TypeError("terminated"));
      else controller.close();
    },
  });
}
