import { findIllFormed, isObject, type JsonObject, objectsIn, stringOr } from "../json.ts";

/** What a client puts in place of a signature that it never had, as for a history of another model. */
export const SKIPPED_SIGNATURES: readonly string[] = [
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
];
const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/;

/**
 * Why `generateContent` refuses this body with a 400, or null for a valid one. The model stands in the address, not in
 * the body. Whether a signature was issued here is checked elsewhere.
 */
export function geminiProblem(body: unknown, model: string): string | null {
  if (!isObject(body)) return "Invalid JSON payload received.";
  const illFormed = findIllFormed(body);
  if (illFormed !== null) return `Invalid UTF-8 in '${illFormed}'`;
  const { contents } = body;
  if (!Array.isArray(contents) || contents.length === 0) return "contents is not specified";
  return systemProblem(body.systemInstruction) ?? toolsProblem(body.tools) ?? contentsProblem(contents, model);
}

function systemProblem(system: unknown): string | null {
  if (system === undefined) return null;
  const parts = isObject(system) ? objectsIn(system.parts) : [];
  const isFilled = parts.length > 0 && parts.every((part) => stringOr(part.text, "") !== "");
  return isFilled ? null : "system_instruction.parts: must not be empty";
}

function toolsProblem(tools: unknown): string | null {
  const names = new Set<string>();
  for (const tool of objectsIn(tools)) {
    for (const [index, declared] of objectsIn(tool.functionDeclarations).entries()) {
      const name = stringOr(declared.name, "");
      if (!NAME.test(name)) return `tools.function_declarations[${index}].name: Invalid function name.`;
      if (names.has(name)) return `Duplicate function declaration found: ${name}`;
      names.add(name);
    }
  }
  return null;
}

function contentsProblem(contents: readonly unknown[], model: string): string | null {
  for (const [index, content] of contents.entries()) {
    const problem = isObject(content) ? contentProblem(content) : "must be an object";
    if (problem !== null) return `contents[${index}]${problem}`;
  }
  const turns = objectsIn(contents);
  if (turns[0]?.role !== "user") return "Please ensure that the first turn has the user role.";
  if (turns.at(-1)?.role !== "user") return "Please ensure that the last turn has the user role.";
  for (const [index, turn] of turns.entries()) {
    const problem = turnProblem(turn, turns[index - 1]) ?? (isGemini3(model) ? unsignedProblem(turn, index) : null);
    if (problem !== null) return problem;
  }
  return null;
}

function contentProblem(content: JsonObject): string | null {
  if (content.role !== "user" && content.role !== "model") {
    return ".role: Please use a valid role: user, model.";
  }
  if (!Array.isArray(content.parts) || content.parts.length === 0) return ".parts: contents.parts must not be empty.";
  for (const [index, part] of content.parts.entries()) {
    const problem = isObject(part) ? partProblem(part, content.role) : "must be an object";
    if (problem !== null) return `.parts[${index}]: ${problem}`;
  }
  return null;
}

function partProblem(part: JsonObject, role: "user" | "model"): string | null {
  const kinds = ["text", "functionCall", "functionResponse", "inlineData", "fileData"].filter(
    (kind) => part[kind] !== undefined,
  );
  if (kinds.length !== 1) return "required oneof field 'data' must have one initialized field";
  switch (kinds[0]) {
    case "text":
      return stringOr(part.text, "") === "" ? "text must not be empty" : null;
    case "functionCall":
      return role === "model" ? namedProblem(part.functionCall, "args") : "function call in a user turn";
    case "functionResponse":
      return role === "user" ? namedProblem(part.functionResponse, "response") : "function response in a model turn";
    case "inlineData":
      return isObject(part.inlineData) && stringOr(part.inlineData.data, "") !== "" ? null : "inline_data is empty";
    default:
      return null;
  }
}

function namedProblem(value: unknown, field: "args" | "response"): string | null {
  if (!isObject(value) || !NAME.test(stringOr(value.name, ""))) return "name: Name cannot be empty.";
  const inner = value[field];
  const isFilled = isObject(inner) || (field === "args" && inner === undefined);
  return isFilled ? null : `${field}: must be an object`;
}

/** A turn of calls follows a user's one; the very next turn has as many responses, in the order of the calls. */
function turnProblem(turn: JsonObject, before: JsonObject | undefined): string | null {
  if (turn.role === "model" && before?.role === "model") {
    return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
  }
  const owed = before?.role === "model" ? objectsOf(before, "functionCall") : [];
  const given = turn.role === "user" ? objectsOf(turn, "functionResponse") : [];
  if (owed.length !== given.length) {
    return `Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn. (${given.length} of ${owed.length})`;
  }
  for (const [index, call] of owed.entries()) {
    const response = given[index];
    if (response?.name !== call.name || response?.id !== call.id) {
      return `function response ${index} does not match its function call '${stringOr(call.name, "")}'`;
    }
  }
  return null;
}

function objectsOf(turn: JsonObject, kind: "functionCall" | "functionResponse"): readonly JsonObject[] {
  return objectsIn(turn.parts).flatMap((part) => objectsIn([part[kind]]));
}

export function isGemini3(model: string): boolean {
  return /(^|\/)gemini-([3-9]|\d\d)/.test(model);
}

/** Stricter than the vendor, who looks only at the turn that is going on: every step's first call needs its signature. */
function unsignedProblem(turn: JsonObject, index: number): string | null {
  const first = objectsIn(turn.parts).find((part) => isObject(part.functionCall));
  if (first === undefined || stringOr(first.thoughtSignature, "") !== "") return null;
  const name = isObject(first.functionCall) ? stringOr(first.functionCall.name, "") : "";
  return `Function call is missing a thought_signature in functionCall parts. (function call \`${name}\`, position ${index})`;
}
