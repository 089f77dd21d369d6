/**
 * Rows without secrets, before they are sealed: what is sealed never changes, so this is the last moment. Pure.
 *
 * Only what people, models, tools and files wrote is looked at, by the names of the fields that hold it: a secret that is
 * spelled like a word of ours can never change the shape of a row. A `prefix` row is left alone because its hash covers its
 * text; what it is made of was cleaned when it was read.
 */
import type { Json, JsonObject, NewRow, TextData, ToolCallData } from "@varve/protocol";
import { unreachable } from "@varve/protocol";
import type { Secrets } from "./known-secrets.ts";

/** Fields whose whole value was written by somebody else. */
const foreign: ReadonlySet<string> = new Set([
  "text",
  "reason",
  "question",
  "options",
  "answer",
  "rules",
  "summary",
  "message",
  "hint",
  "result",
  "details",
  "raw",
]);
/** Fields of a permission question, and of what "for this tab" allows. */
const ofSubject: ReadonlySet<string> = new Set(["key", "command", "path", "url", "diff", "parts", "offers"]);

export function cleanRow(row: NewRow, secrets: Secrets): NewRow {
  switch (row.type) {
    case "text":
      return { ...row, data: cleanText(row.data, secrets) };
    case "thinking": {
      const { metadata, ...data } = row.data;
      const text = secrets.text(data.text);
      const keeps = metadata !== undefined && text === data.text && isClean(metadata, secrets);
      return { ...row, data: { ...data, text, ...(keeps && { metadata }) } };
    }
    case "tool_call":
      return { ...row, data: cleanCall(row.data, secrets) };
    case "tool_result":
      return { ...row, data: cleanFields(row.data, foreign, secrets) };
    case "error":
      return { ...row, data: cleanFields(row.data, foreign, secrets) };
    case "system":
      return row.data.kind === "prefix" ? row : { ...row, data: cleanSystem(row.data, secrets) };
    default:
      return unreachable(row);
  }
}

/** A token that vouches for a text goes with the text that it vouches for: no provider takes it for another one. */
export function cleanText(data: TextData, secrets: Secrets): TextData {
  const { providerMetadata, modelScope, attachments, ...rest } = data;
  const text = secrets.text(rest.text);
  const keeps = providerMetadata !== undefined && text === rest.text && isClean(providerMetadata, secrets);
  return {
    ...rest,
    text,
    ...(attachments && { attachments: attachments.map((file) => ({ ...file, name: secrets.text(file.name) })) }),
    ...(keeps && { providerMetadata }),
    ...(modelScope !== undefined && (keeps || providerMetadata === undefined) && { modelScope }),
  };
}

function cleanCall(data: ToolCallData, secrets: Secrets): ToolCallData {
  const { providerMetadata, modelScope, ...rest } = data;
  const args = secrets.data(rest.arguments);
  const argsText = secrets.text(rest.argsText);
  if (args !== rest.arguments || argsText !== rest.argsText) {
    // What was escaped in the text shows only in the parsed arguments; then the text is written anew.
    const text = args === rest.arguments || argsText !== rest.argsText ? argsText : JSON.stringify(args);
    // A secret of digits alone may stand there as a number, which has no place for a mark.
    const whole = JSON.stringify(args);
    const shown = secrets.text(whole) === whole ? args : { _invalid: text };
    return { ...rest, arguments: shown, argsText: text, providerMetadata: secretsRemoved };
  }
  if (providerMetadata === undefined || isClean(providerMetadata, secrets)) return data;
  return rest;
}

/** On a call whose arguments held a secret: it is not run, because what would run is not what the model wrote. */
export const secretsRemoved: JsonObject = { varve: { secretsRemoved: true } };

export function hadSecrets({ providerMetadata }: Pick<ToolCallData, "providerMetadata">): boolean {
  const own = providerMetadata?.varve;
  return own !== null && typeof own === "object" && "secretsRemoved" in own;
}

type SystemRowData = Extract<NewRow, { type: "system" }>["data"];

function cleanSystem(data: SystemRowData, secrets: Secrets): SystemRowData {
  const outer = cleanFields(data, foreign, secrets);
  if (outer.kind !== "permission") return outer;
  if (outer.state === "asked") return { ...outer, subject: cleanFields(outer.subject, ofSubject, secrets) };
  return outer.allows === undefined ? outer : { ...outer, allows: cleanFields(outer.allows, ofSubject, secrets) };
}

function cleanFields<T extends object>(data: T, names: ReadonlySet<string>, secrets: Secrets): T {
  let clean = data;
  for (const [name, value] of Object.entries(data)) {
    if (!names.has(name) || value === undefined) continue;
    // Rows hold only JSON.
    const next = secrets.data(value as Json);
    // The field keeps its type: only texts within it change.
    if (next !== value) clean = { ...clean, [name]: next } as T;
  }
  return clean;
}

const isClean = (metadata: JsonObject, secrets: Secrets): boolean => secrets.data(metadata) === metadata;
