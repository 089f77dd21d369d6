import type { IncomingHttpHeaders } from "node:http";
import { isObject, type JsonObject, parseJson } from "../json.ts";
import { anthropicProblem } from "./anthropic-rules.ts";
import { deepseekProblem, openrouterProblem } from "./dialect-rules.ts";
import { geminiProblem } from "./gemini-rules.ts";
import { openaiProblem } from "./openai-rules.ts";
import { keyOf } from "./recorded-call.ts";
import {
  checkDeepseek,
  checkGemini,
  checkOpenrouter,
  checkResponses,
  type ReplayCheck,
  type ReplayRules,
} from "./replay-check.ts";
import { responsesProblem } from "./responses-rules.ts";
import type { SignatureCheck, Signatures } from "./signatures.ts";
import type { Vendor } from "./vendor.ts";

/** What became of a request's thinking blocks on their way to the model. */
export type ThinkingSeen = Pick<SignatureCheck, "dropped" | "mismatched">;

export type Admission =
  | { readonly kind: "admitted"; readonly thinking: ThinkingSeen }
  | { readonly kind: "refused"; readonly status: number; readonly message: string };

export interface AdmissionRules {
  /** The only key that is accepted; null: any key, and none is needed where the vendor has local servers. */
  readonly apiKey: string | null;
  readonly signatures: Signatures;
  readonly replay: ReplayRules;
}

export interface AskedCall {
  readonly vendor: Vendor;
  readonly model: string;
  readonly headers: IncomingHttpHeaders;
  /** Null: the bytes were not UTF-8. */
  readonly text: string | null;
}

/** Whether the vendor would take a request at all: key, headers, JSON, validity, and the binding of its thinking. */
export function admit(request: AskedCall, rules: AdmissionRules): Admission {
  const { vendor, headers, text } = request;
  const problem = keyProblem(vendor, headers, rules.apiKey);
  if (problem !== null) return refused(401, problem);
  if (vendor === "anthropic" && headers["anthropic-version"] === undefined) {
    return refused(400, "anthropic-version: header is required");
  }
  if (text === null) return refused(400, "The request body is not valid UTF-8");
  const body: unknown = parseJson(text);
  if (!isObject(body)) return refused(400, "The request body is not valid JSON");
  const invalid = bodyProblem(request, body);
  return invalid === null ? seen(request, body, rules) : refused(400, invalid);
}

function bodyProblem({ vendor, model, headers }: AskedCall, body: JsonObject): string | null {
  switch (vendor) {
    case "anthropic":
      return anthropicProblem(body, betasOf(headers));
    case "openai":
      return openaiProblem(body);
    case "openai-responses":
      return responsesProblem(body);
    case "google":
      return geminiProblem(body, model);
    case "deepseek":
      return deepseekProblem(body);
    case "openrouter":
      return openrouterProblem(body);
  }
}

function seen({ vendor, model }: AskedCall, body: JsonObject, rules: AdmissionRules): Admission {
  if (vendor === "anthropic") {
    const check = rules.signatures.check(body);
    return check.problem === null ? { kind: "admitted", thinking: check } : refused(400, check.problem);
  }
  const { problem, dropped } = replayCheck(vendor, { body, model, rules: rules.replay });
  return problem === null ? { kind: "admitted", thinking: { dropped, mismatched: [] } } : refused(400, problem);
}

function replayCheck(
  vendor: Exclude<Vendor, "anthropic">,
  { body, model, rules }: { readonly body: JsonObject; readonly model: string; readonly rules: ReplayRules },
): ReplayCheck {
  switch (vendor) {
    case "openai-responses":
      return checkResponses(body, rules);
    case "google":
      return checkGemini(body, model, rules);
    case "deepseek":
      return checkDeepseek(body, rules);
    case "openrouter":
      return checkOpenrouter(body, rules);
    case "openai":
      return { problem: null, dropped: 0 };
  }
}

/** The vendor's words about the key that came with a request; null: it may come in. */
export function keyProblem(vendor: Vendor, headers: IncomingHttpHeaders, apiKey: string | null): string | null {
  const key = keyOf(headers);
  const isLocal = vendor === "openai" || vendor === "deepseek";
  const isRight = apiKey === null ? isLocal || key !== null : key === apiKey;
  if (isRight) return null;
  if (vendor === "google") return "API key not valid. Please pass a valid API key.";
  return vendor === "anthropic" ? "invalid x-api-key" : "Incorrect API key provided.";
}

export function bodyOf(text: string | null): JsonObject {
  const body: unknown = text === null ? undefined : parseJson(text);
  return isObject(body) ? body : {};
}

function refused(status: number, message: string): Admission {
  return { kind: "refused", status, message };
}

function betasOf(headers: IncomingHttpHeaders): readonly string[] {
  const header = headers["anthropic-beta"];
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  return text.split(",").map((beta) => beta.trim());
}
