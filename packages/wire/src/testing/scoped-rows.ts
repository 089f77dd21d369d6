/** Rows of thinking, text and calls as the model of a scope leaves them: each kind with its own tokens. */
import type { JsonObject } from "@varve/protocol";
import { parseArguments } from "../call-arguments.ts";
import type { Draft, Place } from "./rows.ts";

export type ScopedKind = "signed" | "unsigned" | "redacted" | "partial";

/** Metadata that the profile's provider would take back, by profile. */
const tokens: Readonly<Record<string, (token: string, text: string) => JsonObject>> = {
  anthropic: (signature) => ({ anthropic: { signature } }),
  "openai-responses": (token) => ({ openai: { itemId: `rs_${token}`, reasoningEncryptedContent: `enc-${token}` } }),
  google: (token) => ({ google: { thoughtSignature: `ts-${token}` } }),
  openrouter: (token, text) => ({ openrouter: { reasoning_details: details(token, text) } }),
};

const details = (token: string, text: string): JsonObject[] => [
  { type: "reasoning.text", text, format: "anthropic-claude-v1", index: 0, signature: `or-${token}` },
  { type: "reasoning.encrypted", data: `sealed-${token}`, id: `id-${token}`, format: "openai-responses-v1", index: 1 },
];

const profileOf = (scope: string): string => scope.slice(0, scope.indexOf(":"));

export function thinkingRow(
  kind: ScopedKind,
  {
    scope,
    token,
    text,
    place,
  }: { readonly scope: string; readonly token: string; readonly text: string; readonly place: Place },
): Draft {
  const make = tokens[profileOf(scope)];
  const sealed = profileOf(scope) === "anthropic" ? { anthropic: { redactedData: token } } : make?.(token, "");
  const metadata =
    kind === "signed" || kind === "partial" ? make?.(token, text) : kind === "redacted" ? sealed : unsigned(scope);
  const data = {
    text: kind === "redacted" ? "" : text,
    modelScope: scope,
    ...(metadata === undefined ? {} : { metadata }),
    ...(kind === "partial" ? { partial: true } : {}),
  };
  return { role: "assistant", type: "thinking", data, place };
}

/** What a cut block may carry: a name of its own, but nothing to send back. */
function unsigned(scope: string): JsonObject | undefined {
  if (profileOf(scope) === "openai-responses") return { openai: { itemId: "rs_cut" } };
  if (profileOf(scope) !== "openrouter") return undefined;
  return {
    openrouter: { reasoning_details: [{ type: "reasoning.text", text: "cut", format: "anthropic-claude-v1" }] },
  };
}

/** Texts may be signed too (Gemini) or carry their phase (OpenAI). */
export function textRow(
  text: string,
  {
    scope,
    token,
    partial,
    place,
  }: { readonly scope: string; readonly token: string | null; readonly partial: boolean; readonly place: Place },
): Draft {
  const providerMetadata = token === null ? undefined : ofText(profileOf(scope), token);
  const data = {
    text,
    ...(partial ? { partial: true } : {}),
    ...(providerMetadata === undefined ? {} : { providerMetadata, modelScope: scope }),
  };
  return { role: "assistant", type: "text", data, place };
}

function ofText(profile: string, token: string): JsonObject | undefined {
  if (profile === "google") return { google: { thoughtSignature: `tt-${token}` } };
  return profile === "openai-responses" ? { openai: { itemId: `msg_${token}`, phase: "commentary" } } : undefined;
}

/** `token`: the call is the first of its step, which alone carries what came with the whole of it. */
export function callRow(
  call: { readonly id: string; readonly args: string; readonly name: string },
  { scope, token, place }: { readonly scope: string; readonly token: string | null; readonly place: Place },
): Draft {
  const { id: callId, args: argsText, name } = call;
  const providerMetadata = token === null ? undefined : ofCall(profileOf(scope), token);
  const data = {
    callId,
    name,
    arguments: parseArguments(argsText).value,
    argsText,
    ...(providerMetadata === undefined ? {} : { providerMetadata, modelScope: scope }),
  };
  return { role: "assistant", type: "tool_call", data, place };
}

function ofCall(profile: string, token: string): JsonObject | undefined {
  if (profile === "google") return { google: { thoughtSignature: `tc-${token}` } };
  if (profile === "openai-responses") return { openai: { itemId: `fc_${token}` } };
  return profile === "openrouter" ? { openrouter: { reasoning_details: details(token, token) } } : undefined;
}
