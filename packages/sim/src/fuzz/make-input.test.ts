import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createPrng } from "../prng.ts";
import { fromSchema } from "./from-schema.ts";
import type { FuzzInput } from "./fuzz-input.ts";
import { mutated } from "./garbage.ts";
import { changedAt, membersOf, placesIn, raw, textOf } from "./json-tree.ts";
import { Known } from "./known.ts";
import { type Maker, makeInput, published } from "./make-input.ts";
import { smaller } from "./shrink.ts";

const document = {
  paths: {
    "/api/tabs/{tab}": { get: { parameters: [{ name: "limit", in: "query" }] } },
    "/api/blobs": { post: { requestBody: { content: { "application/octet-stream": {} } } } },
    "/api/tabs": { post: { requestBody: { content: { "application/json": { schema: { type: "object" } } } } } },
  },
  components: { schemas: { Command: { oneOf: [{ const: "hello" }] } } },
};
const maker = (): Maker => ({
  published: published(document),
  known: new Known({ tab: ["t1"] }),
  admitted: () => ({ authorization: "Bearer x" }),
  host: "127.0.0.1:1",
});

describe("inputs", () => {
  test("[SIM-74] a seed names every one of them, and all kinds come up", () => {
    const many = (seed: number): readonly FuzzInput[] => {
      const prng = createPrng(seed);
      const made = maker();
      return Array.from({ length: 300 }, () => makeInput(prng, made));
    };
    expect(many(5)).toEqual(many(5));
    expect(many(5)).not.toEqual(many(6));
    expect(new Set(many(5).map(({ kind }) => kind))).toEqual(new Set(["rest", "frames", "raw"]));
    const paths = many(5).flatMap((input) => (input.kind === "rest" ? [input.path.split("?")[0]] : []));
    expect(paths).toEqual(expect.arrayContaining(["/api/tabs/t1", "/api/blobs", "/api/tabs"]));
  });

  test("[SIM-74] a value made of a schema fits it; most changes of it do not", () => {
    const schema = z.strictObject({
      type: z.literal("send"),
      re: z.number().int(),
      more: z.union([z.null(), z.enum(["a", "b"])]).optional(),
      list: z.array(z.boolean()),
      text: z.string().optional(),
    });
    const prng = createPrng(1);
    const making = { prng, known: new Known({}), definitions: {} };
    let misfits = 0;
    for (let time = 0; time < 100; time += 1) {
      const tree = fromSchema(z.toJSONSchema(schema), "", making);
      expect(schema.safeParse(JSON.parse(textOf(tree))).error).toBeUndefined();
      try {
        if (!schema.safeParse(JSON.parse(textOf(mutated(tree, prng)))).success) misfits += 1;
      } catch {
        misfits += 1; // Not even JSON.
      }
    }
    expect(misfits).toBeGreaterThan(60);
  });

  test("[SIM-74] a tree writes what no value can hold", () => {
    const tree = {
      members: [
        ["a", raw("1e400")],
        ["a", [1, "x"]],
        ["__proto__", membersOf({ b: null })],
      ] as const,
    };
    expect(textOf(tree)).toBe('{"a":1e400,"a":[1,"x"],"__proto__":{"b":null}}');
    expect(placesIn(tree)).toHaveLength(7);
    expect(textOf(changedAt(tree, [1, 0], () => true))).toBe('{"a":1e400,"a":[true,"x"],"__proto__":{"b":null}}');
  });
});

describe("shrinking", () => {
  test("[SIM-74] leaves what makes an input fail, and nothing else", async () => {
    const fails = async (input: FuzzInput): Promise<boolean> =>
      input.kind === "rest" && input.body.includes("!") && "x" in input.headers;
    const rest = {
      kind: "rest",
      method: "POST",
      path: "/",
      headers: { a: "1", x: "2" },
      body: `${"a".repeat(60)}!b`,
    } as const;
    expect(await smaller(rest, fails)).toEqual({ ...rest, headers: { x: "2" }, body: "!" });
    const frames = { kind: "frames", greets: true, frames: ["a", "bc!d", "e"] } as const;
    const bad = async (input: FuzzInput): Promise<boolean> =>
      input.kind === "frames" && input.frames.join("").includes("!");
    expect(await smaller(frames, bad)).toEqual({ ...frames, frames: ["!"] });
  });

  test("[SIM-74] gives up after a bounded number of attempts", async () => {
    let asked = 0;
    const fails = async (): Promise<boolean> => {
      asked += 1;
      return asked % 2 === 0;
    };
    await smaller({ kind: "raw", upgraded: false, bytes: "x".repeat(5_000) }, fails);
    expect(asked).toBeLessThanOrEqual(200);
  });
});
