/** A value that fits a JSON schema, made of what the server under fire knows where it can be. */
import { isObject, type JsonObject, objectsIn, stringOr } from "../json.ts";
import type { Prng } from "../prng.ts";
import type { Tree } from "./json-tree.ts";
import type { Known } from "./known.ts";

/** Arrays and depths of generated values stay small: size is what garbage is for. */
const itemsMax = 3;
const depthMax = 6;
const optionalShare = 0.4;
const knownShare = 0.7;

export interface Making {
  readonly prng: Prng;
  readonly known: Known;
  /** Definitions that a `$ref` may name. */
  readonly definitions: JsonObject;
}

/** `name`: under which it stands, by which a fitting known value is chosen. */
export function fromSchema(schema: unknown, name: string, making: Making, depth = 0): Tree {
  const { prng, known } = making;
  if (!isObject(schema) || depth > depthMax) return null;
  const { type, anyOf, oneOf, allOf } = schema;
  const options = [...objectsIn(anyOf), ...objectsIn(oneOf), ...objectsIn(allOf)];
  const [first, ...rest] = options;
  if (first !== undefined) return fromSchema(prng.pick([first, ...rest]), name, making, depth + 1);
  if ("const" in schema) return scalar(schema.const);
  const [one, ...others] = Array.isArray(schema.enum) ? schema.enum : [];
  if (one !== undefined) return scalar(prng.pick([one, ...others]));
  if (typeof schema.$ref === "string") {
    return fromSchema(making.definitions[schema.$ref.split("/").at(-1) ?? ""], name, making, depth + 1);
  }
  const told = known.like(name, prng);
  switch (type) {
    case "object":
      return objectFrom(schema, making, depth);
    case "array":
      return Array.from({ length: prng.int(0, itemsMax) }, () => fromSchema(schema.items, name, making, depth + 1));
    case "integer":
    case "number":
      return typeof told === "number" && prng.chance(0.7) ? told : prng.int(0, 12);
    case "boolean":
      return prng.chance(0.5);
    case "null":
      return null;
    default:
      return typeof told === "string" && prng.chance(knownShare) ? told : `text-${prng.uint32()}`;
  }
}

function objectFrom(schema: JsonObject, making: Making, depth: number): Tree {
  const { prng } = making;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const chosen = fields.filter(([name]) => required.includes(name) || prng.chance(optionalShare));
  const members = chosen.map(([name, field]) => [name, fromSchema(field, name, making, depth + 1)] as const);
  if (fields.length > 0 || !isObject(schema.additionalProperties)) return { members };
  const more = Array.from({ length: prng.int(0, itemsMax) }, (_, index) => {
    const name = stringOr(making.known.like("member", prng), `field-${index}`);
    return [name, fromSchema(schema.additionalProperties, name, making, depth + 1)] as const;
  });
  return { members: more };
}

const scalar = (value: unknown): Tree =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
