import { hash } from "node:crypto";
import type { Json } from "@varve/protocol";
import { isList } from "./well-formed.ts";

/** Lower-case hex SHA-256 of a text's UTF-8 bytes. */
export const sha256 = (text: string): string => hash("sha256", text, "hex");

/** JSON with the keys of every object in ascending order of UTF-16 units: equal values give equal texts. */
export function canonicalJson(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const fields: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const inner = value[key];
    if (inner !== undefined) fields.push(`${JSON.stringify(key)}:${canonicalJson(inner)}`);
  }
  return `{${fields.join(",")}}`;
}
