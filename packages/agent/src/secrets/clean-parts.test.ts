import { createFakeIds } from "@varve/sim";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assemble, cutStep, startStep } from "../assemble.ts";
import type { ModelPart } from "../model/model.ts";
import { cleanParts } from "./clean-parts.ts";
import { KnownSecrets } from "./known-secrets.ts";

const secret = "sk-canary-0123456789";
const secrets = new KnownSecrets();
secrets.know("test", [secret]);

async function* from(parts: readonly ModelPart[]): AsyncGenerator<ModelPart> {
  yield* parts;
}
/** What a person watches, and what is sealed. */
async function heard(parts: readonly ModelPart[]) {
  const ids = createFakeIds("p");
  const env = { now: 0, newId: () => ids.chunk() };
  let state = startStep({ turnId: ids.turn(), step: 0, model: "m", modelScope: "s", usedCallIds: new Set() });
  const ops: ReturnType<typeof assemble>["ops"][number][] = [];
  for await (const part of cleanParts(from(parts), secrets)) {
    const next = assemble(state, part, env);
    state = next.state;
    ops.push(...next.ops);
  }
  ops.push(...cutStep(state, env).ops);
  return { grown: ops.flatMap((op) => (op.op === "grow" ? [op.text] : [])).join(""), ops };
}
const text = (...deltas: readonly string[]): readonly ModelPart[] => [
  { type: "text-start", id: "t" },
  ...deltas.map((delta): ModelPart => ({ type: "text-delta", id: "t", delta })),
];

describe("a model that says a secret", () => {
  test("[SECRET-1] however it is split, neither what is watched nor what is sealed holds it, and both are the same", async () => {
    const whole = `It is ${secret}, I say.`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 12 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const deltas = places.slice(1).map((to, at) => whole.slice(places[at], to));
        const { grown, ops } = await heard([...text(...deltas), { type: "text-end", id: "t" }]);
        expect(grown).toBe("It is [secret], I say.");
        expect(ops.at(-1)).toMatchObject({ op: "seal", row: { data: { text: grown } } });
      }),
      { numRuns: 60 },
    );
  });

  test.each(["failure", "cancelled", "end"] as const)(
    "[SECRET-2] a stream that breaks off in the middle of one shows nothing of it: %s",
    async (how) => {
      const failure = { code: "provider-cut", message: "", retry: null } as const;
      const last: readonly ModelPart[] =
        how === "end" ? [] : [how === "failure" ? { type: how, failure } : { type: how }];
      const { ops, grown } = await heard([...text("so: ", secret.slice(0, 15)), ...last]);
      expect(grown).toBe("so: [secret]");
      expect(ops.at(-1)).toMatchObject({ op: "seal", row: { data: { text: "so: [secret]", partial: true } } });
    },
  );

  test("[SECRET-7] thinking that held one loses its signature; thinking beside it keeps its own", async () => {
    const signed = (id: string, delta: string): readonly ModelPart[] => [
      { type: "reasoning-start", id },
      { type: "reasoning-delta", id, delta },
      { type: "reasoning-delta", id, delta: "", providerMetadata: { anthropic: { signature: `for ${id}` } } },
      { type: "reasoning-end", id },
    ];
    const { ops } = await heard([...signed("a", `the key ${secret}`), ...signed("b", "no key")]);
    const rows = ops.flatMap((op) => (op.op === "seal" ? [op.row.data] : []));
    expect(rows).toEqual([
      { text: "the key [secret]", modelScope: "s" },
      { text: "no key", modelScope: "s", metadata: { anthropic: { signature: "for b" } } },
    ]);
  });

  test("[SECRET-6] the name of a call and the id that the provider gave it hold none", async () => {
    const { ops } = await heard([{ type: "tool-call", toolCallId: secret, toolName: secret, input: "{}" }]);
    expect(JSON.stringify(ops)).not.toContain(secret);
    expect(ops.at(-1)).toMatchObject({ op: "seal", row: { type: "tool_call", data: { callId: "call-1" } } });
  });
});
