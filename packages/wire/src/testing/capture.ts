/** The real providers with a stub `fetch`: what bytes would go out. Any warning of an adapter is an error here. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { isFault, type StoredRow } from "@varve/protocol";
import { buildRequest } from "../folder.ts";
import type { RequestInput, WireRequest } from "../request.ts";
import { pixelBlob, toAnthropic } from "./folded.ts";

export interface Captured {
  readonly text: string;
  readonly body: Body;
  readonly headers: Headers;
}
export interface Body {
  readonly system?: readonly Block[];
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] | null }[];
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
  readonly max_tokens?: number;
  readonly stream?: boolean;
}
export type Block = Readonly<Record<string, unknown>>;

type ModelMaker = (fetch: typeof globalThis.fetch) => LanguageModelV3;
const baseURL = "http://127.0.0.1:9/v1";
export const anthropicModel =
  (modelId: string): ModelMaker =>
  (fetch) =>
    createAnthropic({ apiKey: "key", baseURL, fetch })(modelId);
export const compatibleModel =
  (modelId: string): ModelMaker =>
  (fetch) =>
    createOpenAICompatible({ name: "openai-compatible", apiKey: "key", baseURL, fetch })(modelId);

/** Streams by default, as the loop does; `generate` makes the same request without a stream. */
export async function capture(
  request: Pick<WireRequest, "messages" | "options">,
  model: ModelMaker,
  how: "stream" | "generate" = "stream",
): Promise<Captured> {
  const seen: Captured[] = [];
  const instance = model(async (_input, init) => {
    const text = String(init?.body);
    // The text was made by JSON.stringify of a provider's body; the tests then look at what is in it.
    seen.push({ text, body: JSON.parse(text) as Body, headers: new Headers(init?.headers) });
    return how === "stream" ? emptyStream() : Response.json(plainAnswer);
  });
  const call = { ...request.options, prompt: request.messages };
  const warnings = how === "stream" ? await streamed(instance, call) : (await instance.doGenerate(call)).warnings;
  if (warnings.length > 0) throw new Error(`the adapter warns: ${JSON.stringify(warnings)}`);
  const [only] = seen;
  if (only === undefined || seen.length !== 1) throw new Error(`expected one request, saw ${seen.length}`);
  return only;
}

const plainAnswer = {
  type: "message",
  id: "msg",
  model: "m",
  content: [{ type: "text", text: "x" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

const emptyStream = (): Response =>
  new Response("data: [DONE]\n\n", { headers: { "content-type": "text/event-stream" } });

async function streamed(model: LanguageModelV3, call: Parameters<LanguageModelV3["doStream"]>[0]) {
  const { stream } = await model.doStream(call);
  for await (const part of stream) if (part.type === "stream-start") return part.warnings;
  return [];
}

export function requestFor(rows: readonly StoredRow[], rest: Partial<RequestInput> = {}): WireRequest {
  const built = buildRequest({
    rows,
    target: toAnthropic,
    modelName: "anthropic/model-a",
    effort: "default",
    blobs: pixelBlob,
    ...rest,
  });
  if (isFault(built)) throw new Error(`${built.code}: ${built.message}`);
  return built;
}

export async function anthropicBody(rows: readonly StoredRow[], rest: Partial<RequestInput> = {}): Promise<Captured> {
  const request = requestFor(rows, rest);
  return capture(request, anthropicModel(rest.target?.model ?? "model-a"));
}

/** `[role, JSON]` of every block, without breakpoints. */
export function bodyBlocks({ body }: Captured): readonly string[] {
  const blocks: string[] = [];
  for (const { role, content } of body.messages) {
    if (typeof content === "string" || content === null) blocks.push(`${role} ${JSON.stringify(content)}`);
    else for (const block of content) blocks.push(`${role} ${JSON.stringify(unmarked(block))}`);
  }
  return blocks;
}

export function unmarked(block: Block): Block {
  const { cache_control: _, ...rest } = block;
  return rest;
}

/** Messages as they went out, without breakpoints. */
export function wireMessages({ body }: Captured): unknown {
  return body.messages.map(({ role, content }) => ({
    role,
    content: Array.isArray(content) ? content.map((block: Block) => unmarked(block)) : content,
  }));
}

export const isPrefix = (shorter: readonly string[], longer: readonly string[]): boolean =>
  shorter.length <= longer.length && shorter.every((block, index) => block === longer[index]);
