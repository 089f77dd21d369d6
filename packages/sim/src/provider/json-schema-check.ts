import { isObject, type JsonObject } from "../json.ts";

const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);
const NESTED_LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;
const NESTED_MAPS = ["properties", "patternProperties", "$defs", "definitions"] as const;
const NESTED = ["items", "additionalProperties", "not", "contains", "propertyNames"] as const;

/**
 * Why a tool's input schema would be refused, or null. It looks at the shape of the keywords that tool definitions use;
 * unknown keywords pass, as JSON Schema wants.
 */
export function schemaProblem(schema: unknown, path = "input_schema"): string | null {
  if (!isObject(schema)) return `${path}: must be an object`;
  if (schema.type !== "object") return `${path}.type: must be "object"`;
  return keywordProblem(schema, path);
}

function keywordProblem(schema: unknown, path: string): string | null {
  if (typeof schema === "boolean") return null;
  if (!isObject(schema)) return `${path}: must be an object or a boolean`;
  return ownProblem(schema, path) ?? nestedProblem(schema, path);
}

function ownProblem(schema: JsonObject, path: string): string | null {
  const { type, required, description } = schema;
  const types = Array.isArray(type) ? type : [type];
  if (type !== undefined && !(types.length > 0 && types.every((one) => typeof one === "string" && TYPES.has(one)))) {
    return `${path}.type: is not a JSON Schema type`;
  }
  if (required !== undefined && !(Array.isArray(required) && required.every((one) => typeof one === "string"))) {
    return `${path}.required: must be a list of names`;
  }
  if (schema.enum !== undefined && !(Array.isArray(schema.enum) && schema.enum.length > 0)) {
    return `${path}.enum: must be a list with at least one value`;
  }
  if (description !== undefined && typeof description !== "string") return `${path}.description: must be a string`;
  return null;
}

function nestedProblem(schema: JsonObject, path: string): string | null {
  for (const key of NESTED) {
    const problem = schema[key] === undefined ? null : keywordProblem(schema[key], `${path}.${key}`);
    if (problem !== null) return problem;
  }
  for (const key of NESTED_MAPS) {
    const map = schema[key];
    if (map === undefined) continue;
    if (!isObject(map)) return `${path}.${key}: must be an object`;
    for (const [name, field] of Object.entries(map)) {
      const problem = keywordProblem(field, `${path}.${key}.${name}`);
      if (problem !== null) return problem;
    }
  }
  for (const key of NESTED_LISTS) {
    const list = schema[key];
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.length === 0) return `${path}.${key}: must be a list with at least one schema`;
    for (const [index, element] of list.entries()) {
      const problem = keywordProblem(element, `${path}.${key}.${index}`);
      if (problem !== null) return problem;
    }
  }
  return null;
}
