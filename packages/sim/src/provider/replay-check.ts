import { isObject, type JsonObject, objectsIn, stringOr } from "../json.ts";
import { isDeepseekV4 } from "./dialect-rules.ts";
import { SKIPPED_SIGNATURES } from "./gemini-rules.ts";
import type { IssuedTokens } from "./issued-tokens.ts";

/** Thinking that comes back: whether it is what this server gave out, for the vendors that check it by a token or a text. */
export interface ReplayCheck {
  /** Why the request is refused, or null. */
  readonly problem: string | null;
  /** Thinking that the client admits to have lost. */
  readonly dropped: number;
}

export interface ReplayRules {
  readonly tokens: IssuedTokens;
  /** DeepSeek: the thinking of a step, by `thoughtKey`. */
  readonly thoughts: ReadonlyMap<string, string>;
  readonly acceptForeign: boolean;
}

const FINE: ReplayCheck = { problem: null, dropped: 0 };
const refused = (problem: string): ReplayCheck => ({ problem, dropped: 0 });

export function checkResponses(body: JsonObject, rules: ReplayRules): ReplayCheck {
  const model = stringOr(body.model, "");
  for (const item of objectsIn(body.input)) {
    if (item.type !== "reasoning") continue;
    const verdict = rules.tokens.verdict(stringOr(item.encrypted_content, ""), model, summaryOf(item));
    if (verdict === "known" || (verdict === "unknown" && rules.acceptForeign)) continue;
    const why =
      verdict === "other-words" ? "Summary does not belong to it" : "Encrypted content could not be decrypted";
    return refused(`The encrypted content for item ${stringOr(item.id, "")} could not be verified. Reason: ${why}.`);
  }
  return FINE;
}

/** The parts of a summary as one text: a client keeps each as a block of its own. */
export function summaryOf(item: JsonObject): string {
  return objectsIn(item.summary)
    .map((part) => stringOr(part.text, ""))
    .join("\n");
}

export function checkGemini(body: JsonObject, model: string, rules: ReplayRules): ReplayCheck {
  let dropped = 0;
  for (const [at, turn] of objectsIn(body.contents).entries()) {
    for (const [index, part] of objectsIn(turn.parts).entries()) {
      const token = stringOr(part.thoughtSignature, "");
      if (token === "") continue;
      if (SKIPPED_SIGNATURES.includes(token)) {
        dropped += 1;
        continue;
      }
      const verdict = rules.tokens.verdict(token, model, boundPart(part));
      if (verdict === "known" || (verdict === "unknown" && rules.acceptForeign)) continue;
      return refused(`contents[${at}].parts[${index}]: Corrupted thought signature.`);
    }
  }
  return { problem: null, dropped };
}

/** What a signature stands for: a call with its arguments; any text of the answer otherwise. */
export function boundPart(part: JsonObject): string {
  const call = part.functionCall;
  return isObject(call) ? JSON.stringify([call.name, call.args ?? {}]) : "";
}

/** A step by its model and its first call: the thinking of another model is nothing that this one could miss. */
export const thoughtKey = (model: string, firstCallId: string): string => `${model} ${firstCallId}`;

export function checkDeepseek(body: JsonObject, rules: ReplayRules): ReplayCheck {
  const model = stringOr(body.model, "");
  if (!isDeepseekV4(model)) return FINE;
  for (const [index, message] of objectsIn(body.messages).entries()) {
    const first = stringOr(objectsIn(message.tool_calls)[0]?.id, "");
    const thought = rules.thoughts.get(thoughtKey(model, first));
    if (first === "" || thought === undefined || message.reasoning_content === thought) continue;
    return refused(
      `messages[${index}]: The \`reasoning_content\` in the thinking mode must be passed back to the API.`,
    );
  }
  return FINE;
}

export function checkOpenrouter(body: JsonObject, rules: ReplayRules): ReplayCheck {
  const model = stringOr(body.model, "");
  for (const [index, message] of objectsIn(body.messages).entries()) {
    for (const detail of objectsIn(message.reasoning_details)) {
      const token = stringOr(detail.type === "reasoning.encrypted" ? detail.data : detail.signature, "");
      const verdict = rules.tokens.verdict(token, model, stringOr(detail.text, ""));
      if (verdict === "known" || (verdict === "unknown" && rules.acceptForeign)) continue;
      return refused(`messages.${index}: Invalid \`signature\` in \`thinking\` block`);
    }
  }
  return FINE;
}
