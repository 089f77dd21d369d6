/**
 * What a model wrote as a call, made into the data of a row that no provider can refuse later: a legal name, an id that is
 * new in this log, arguments that are an object. What was replaced is kept under `providerMetadata.varve`.
 */
import type { JsonObject, ToolCallData } from "@varve/protocol";
import { parseArguments } from "@varve/wire";
import { wellFormedText } from "./text.ts";

const legalName = /^[A-Za-z0-9_-]{1,64}$/;

export interface WrittenCall {
  readonly callId: string;
  readonly name: string;
  readonly input: string;
  readonly metadata: JsonObject | undefined;
}

/** `freshId` names the call when its own id is missing, odd or used already. */
export function toolCallData(
  written: WrittenCall,
  isUsed: (callId: string) => boolean,
  freshId: () => string,
): ToolCallData & { readonly providerMetadata?: JsonObject } {
  const keepsId = written.callId !== "" && !isUsed(written.callId);
  const keepsName = legalName.test(written.name);
  const replaced: JsonObject = {
    ...(keepsId ? {} : { providerCallId: written.callId }),
    ...(keepsName ? {} : { providerName: wellFormedText(written.name) }),
  };
  const kept = Object.keys(replaced).length > 0 ? { ...written.metadata, varve: replaced } : written.metadata;
  return {
    callId: keepsId ? wellFormedText(written.callId) : freshId(),
    name: keepsName
      ? written.name
      : wellFormedText(written.name)
          .replace(/[^A-Za-z0-9_-]/g, "_")
          .slice(0, 64) || "unnamed",
    arguments: parseArguments(written.input).value,
    argsText: wellFormedText(written.input),
    ...(kept === undefined ? {} : { providerMetadata: kept }),
  };
}

/** Whether the model's text for this call was no JSON object. */
export const areInvalid = (args: JsonObject): boolean => Object.keys(args).length === 1 && "_invalid" in args;
