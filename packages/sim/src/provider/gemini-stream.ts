import { estimateTokens } from "../cache/cache-model.ts";
import type { JsonObject } from "../json.ts";
import { isObject } from "../json.ts";
import { isGemini3 } from "./gemini-rules.ts";
import type { IssuedTokens } from "./issued-tokens.ts";
import { boundPart } from "./replay-check.ts";
import { inputOf, type OpenBlock } from "./reply-plan.ts";
import type { InputFigures, ReplyStream } from "./reply-stream.ts";

export interface GeminiStreamOptions {
  readonly messageId: string;
  readonly model: string;
  readonly input: InputFigures;
  /** Null: counted from what is sent. */
  readonly outputTokens: number | null;
  readonly tokens: IssuedTokens;
}

const FINISH: Readonly<Record<string, string>> = { max_tokens: "MAX_TOKENS", refusal: "SAFETY" };

/**
 * Speaks `generateContent`: one candidate in pieces. A call comes whole, when its arguments are complete, and without an
 * id unless the script gives one. A Gemini 3 model signs the first call of an answer, else its text, in an empty part.
 */
export function createGeminiStream(options: GeminiStreamOptions): ReplyStream {
  const parts: JsonObject[] = [];
  let opened: OpenBlock | null = null;
  let text = "";
  let said = 0;
  let reasoned = 0;
  const signer = createSigner(options);

  const head = { modelVersion: options.model, responseId: options.messageId };
  const usage = (): JsonObject => usageOf(options, said, reasoned);
  const chunk = (list: readonly JsonObject[], more: JsonObject = {}): string =>
    data({
      candidates: [{ content: { role: "model", parts: list }, index: 0, ...more }],
      usageMetadata: usage(),
      ...head,
    });

  const close = (): string => {
    const block = opened;
    opened = null;
    if (block === null) return "";
    if (block.type === "thinking") signer.script(block.signature);
    if (block.type !== "tool_use") {
      if (text !== "") parts.push({ text, ...(block.type === "thinking" ? { thought: true } : {}) });
      return "";
    }
    const args = inputOf(text);
    const call = { name: block.name, args: isObject(args) ? args : {}, ...(block.id === "" ? {} : { id: block.id }) };
    const part = signer.sign({ functionCall: call });
    parts.push(part);
    return chunk([part]);
  };
  const end = (stopReason: string): string => {
    const before = close();
    const hasText = parts.some((part) => typeof part.text === "string" && part.thought !== true);
    const last = hasText ? signer.sign({ text: "" }) : { text: "" };
    if ("thoughtSignature" in last) parts.push(last);
    return before + chunk([last], { finishReason: FINISH[stopReason] ?? "STOP" });
  };

  return {
    start: () => "",
    open(block) {
      const before = close();
      opened = block;
      text = "";
      return before;
    },
    delta(added) {
      if (opened === null || opened.type === "redacted_thinking") return "";
      text += added;
      if (opened.type === "thinking") reasoned += estimateTokens(added);
      else said += estimateTokens(added);
      if (opened.type === "tool_use") return "";
      return chunk([{ text: added, ...(opened.type === "thinking" ? { thought: true } : {}) }]);
    },
    close,
    finish: end,
    error: (errorType, message) => data({ error: { code: 503, message, status: errorType.toUpperCase() } }),
    openType: () => opened?.type ?? null,
    whole(stopReason) {
      end(stopReason);
      const candidate = { content: { role: "model", parts }, index: 0, finishReason: FINISH[stopReason] ?? "STOP" };
      return { candidates: [candidate], usageMetadata: usage(), ...head };
    },
  };
}

interface Signer {
  /** What the script says of the thinking before: a token of its own, or that there is none. */
  script(signature: string | null | undefined): void;
  /** Signs the first part it is given, on the models that do. */
  sign(part: JsonObject): JsonObject;
}

function createSigner({ model, tokens }: GeminiStreamOptions): Signer {
  let scripted: string | null | undefined;
  let isSigned = false;
  return {
    script(signature) {
      if (signature !== undefined) scripted = signature;
    },
    sign(part) {
      if (isSigned || scripted === null || !isGemini3(model)) return part;
      isSigned = true;
      const bound = boundPart(part);
      if (scripted !== undefined) tokens.adopt(scripted, model, bound);
      return { ...part, thoughtSignature: scripted ?? tokens.issue(model, bound) };
    },
  };
}

function usageOf({ input, outputTokens }: GeminiStreamOptions, said: number, reasoned: number): JsonObject {
  const prompt = input.fresh + input.read + input.write5m + input.write1h;
  const output = outputTokens === null ? said : Math.max(0, outputTokens - reasoned);
  return {
    promptTokenCount: prompt,
    ...(input.read === 0 ? {} : { cachedContentTokenCount: input.read }),
    candidatesTokenCount: output,
    thoughtsTokenCount: reasoned,
    totalTokenCount: prompt + output + reasoned,
  };
}

function data(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
