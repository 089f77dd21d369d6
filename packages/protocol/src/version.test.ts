import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import * as schemas from "./schema.ts";
import { protocolVersion, protocolVersions } from "./version.ts";

/**
 * The shape of everything that crosses the wire, by version. A change that an older peer cannot read gets a new number
 * and a new line; an additive one renews the hash of the line it belongs to.
 */
const hashes: Readonly<Record<number, string>> = {
  1: "d903d9fcb5c09389",
};

function schemaHash(): string {
  const exported: Readonly<Record<string, unknown>> = schemas;
  const shapes = Object.entries(exported)
    .filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => [name, z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })]);
  return createHash("sha256").update(JSON.stringify(shapes)).digest("hex").slice(0, 16);
}

test("[VERSION-1] no change of the wire goes unseen: the hash of all schemas belongs to the version", () => {
  expect(schemaHash()).toBe(hashes[protocolVersion]);
});
test("[VERSION-1] every version that is spoken has a hash, and the newest is among them", () => {
  expect(Object.keys(hashes).map(Number)).toEqual([...protocolVersions]);
  expect(Math.max(...protocolVersions)).toBe(protocolVersion);
});
