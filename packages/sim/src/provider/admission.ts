import type { IncomingHttpHeaders } from "node:http";
import { isObject, type JsonObject, parseJson } from "../json.ts";
import { anthropicProblem } from "./anthropic-rules.ts";
import { openaiProblem } from "./openai-rules.ts";
import { keyOf } from "./recorded-call.ts";
import type { Vendor } from "./request-view.ts";
import type { SignatureCheck, Signatures } from "./signatures.ts";

/** What became of a request's thinking blocks on their way to the model. */
export type ThinkingSeen = Pick<SignatureCheck, "dropped" | "mismatched">;

export type Admission =
  | { readonly kind: "admitted"; readonly thinking: ThinkingSeen }
  | { readonly kind: "refused"; readonly status: number; readonly message: string };

export interface AdmissionRules {
  /** The only key that is accepted; null: any key, and none is needed where the vendor has local servers. */
  readonly apiKey: string | null;
  readonly signatures: Signatures;
}

/** Whether the vendor would take a request at all: key, headers, JSON, validity, and the binding of its thinking. */
export function admit(
  request: { readonly vendor: Vendor; readonly headers: IncomingHttpHeaders; readonly text: string | null },
  rules: AdmissionRules,
): Admission {
  const { vendor, headers, text } = request;
  const problem = keyProblem(vendor, headers, rules.apiKey);
  if (problem !== null) return refused(401, problem);
  if (vendor === "anthropic" && headers["anthropic-version"] === undefined) {
    return refused(400, "anthropic-version: header is required");
  }
  if (text === null) return refused(400, "The request body is not valid UTF-8");
  const body: unknown = parseJson(text);
  if (!isObject(body)) return refused(400, "The request body is not valid JSON");
  if (vendor === "openai") return outcome(openaiProblem(body), NOTHING_DROPPED);
  const invalid = anthropicProblem(body, betasOf(headers));
  if (invalid !== null) return outcome(invalid, NOTHING_DROPPED);
  const check = rules.signatures.check(body);
  return outcome(check.problem, check);
}

/** The vendor's words about the key that came with a request; null: it may come in. */
export function keyProblem(vendor: Vendor, headers: IncomingHttpHeaders, apiKey: string | null): string | null {
  const key = keyOf(headers);
  const isRight = apiKey === null ? vendor !== "anthropic" || key !== null : key === apiKey;
  if (isRight) return null;
  return vendor === "anthropic" ? "invalid x-api-key" : "Incorrect API key provided.";
}

export function bodyOf(text: string | null): JsonObject {
  const body: unknown = text === null ? undefined : parseJson(text);
  return isObject(body) ? body : {};
}

const NOTHING_DROPPED: ThinkingSeen = { dropped: 0, mismatched: [] };

function outcome(problem: string | null, thinking: ThinkingSeen): Admission {
  return problem === null ? { kind: "admitted", thinking } : refused(400, problem);
}

function refused(status: number, message: string): Admission {
  return { kind: "refused", status, message };
}

function betasOf(headers: IncomingHttpHeaders): readonly string[] {
  const header = headers["anthropic-beta"];
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  return text.split(",").map((beta) => beta.trim());
}
