/** One request through a real provider package with a stub `fetch`: what would go out, and what the package says about it. */
import type { LanguageModelV3, LanguageModelV3CallOptions, SharedV3Warning } from "@ai-sdk/provider";
import type { WireRequest } from "../request.ts";

export interface Sent {
  readonly url: string;
  readonly text: string;
  readonly headers: Headers;
  readonly warnings: readonly SharedV3Warning[];
}

export type ModelMaker = (fetch: typeof globalThis.fetch) => LanguageModelV3;

/**
 * Streams by default, as the loop does; `generate` makes the same request without a stream. What is handed over is frozen all
 * through: messages are shared by all requests of a log, so that a package which wrote to them would change later ones.
 */
export async function send(
  request: Pick<WireRequest, "messages" | "options">,
  model: ModelMaker,
  how: "stream" | "generate" = "stream",
): Promise<Sent> {
  const seen: Omit<Sent, "warnings">[] = [];
  const instance = model(async (input, init) => {
    seen.push({ url: String(input), text: String(init?.body), headers: new Headers(init?.headers) });
    return how === "stream" ? emptyStream() : Response.json(plainAnswer);
  });
  const call = frozen({ ...request.options, prompt: request.messages });
  const warnings = how === "stream" ? await streamed(instance, call) : (await instance.doGenerate(call)).warnings;
  const [only] = seen;
  if (only === undefined || seen.length !== 1) throw new Error(`expected one request, saw ${seen.length}`);
  return { ...only, warnings };
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) frozen(inner);
  return value;
}

const emptyStream = (): Response =>
  new Response("data: [DONE]\n\n", { headers: { "content-type": "text/event-stream" } });

async function streamed(model: LanguageModelV3, call: LanguageModelV3CallOptions): Promise<readonly SharedV3Warning[]> {
  const { stream } = await model.doStream(call);
  for await (const part of stream) if (part.type === "stream-start") return part.warnings;
  return [];
}

/** One answer that every vendor's reader takes for its own. */
const plainAnswer = {
  type: "message",
  id: "msg",
  model: "m",
  content: [{ type: "text", text: "x" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  created_at: 1,
  output: [],
  choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
  candidates: [{ content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP" }],
  usage: { input_tokens: 1, output_tokens: 1, prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
