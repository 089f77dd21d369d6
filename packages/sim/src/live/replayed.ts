/** How much reasoning a body sends back, by vendor. Pure. */
import { type JsonObject, objectsIn, stringOr } from "../json.ts";
import type { LiveProvider } from "./check.ts";
import { countOf } from "./edits.ts";

/** Null: the body breaks what the vendor's form of replay asks for. */
export function replayed(provider: LiveProvider, body: JsonObject): number | null {
  switch (provider) {
    case "anthropic":
      return blocksOf(body).filter(({ type }) => type === "thinking" || type === "redacted_thinking").length;
    case "openai":
      if (body.store !== false) return null;
      return objectsIn(body.input).filter((item) => stringOr(item.encrypted_content, "") !== "").length;
    case "google":
      return countOf(body.contents, "thoughtSignature");
    case "deepseek":
      return objectsIn(body.messages).filter((message) => stringOr(message.reasoning_content, "") !== "").length;
    case "openrouter":
      return objectsIn(body.messages).filter(({ reasoning_details: details }) => objectsIn(details).length > 0).length;
  }
}

const blocksOf = (body: JsonObject): readonly JsonObject[] =>
  objectsIn(body.messages).flatMap((message) => objectsIn(message.content));
