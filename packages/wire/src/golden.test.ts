/**
 * The bytes of a released fold, pinned. A difference here means that open logs would send other bytes than before: then
 * the change belongs into another fold version, beside this one.
 */
import { describe, expect, test } from "vitest";
import { wireTarget } from "./profile.ts";
import { anthropic } from "./profiles/anthropic.ts";
import { anthropicModel, capture, compatibleModel, requestFor } from "./testing/capture.ts";
import { toCompatible, toDeepseek, toMistral } from "./testing/folded.ts";
import { blobHash, C, K, KN, KR, logOf, N, P, R, RE, RI, T, testTools, U, UA, V } from "./testing/rows.ts";

const at = (step: number) => ({ step });
const t2 = (step = 0) => ({ turn: "t2", step });
const opus = wireTarget(anthropic, "claude-opus-4-8");
const scope = opus.modelScope;
const png = { blob: blobHash("a"), mediaType: "image/png" };

/** One of everything. */
const rows = logOf(
  P({ system: ["You are a test.", "Second block."], tools: testTools }),
  N("directory: /a\ndate: 2026-01-31"),
  UA("look at this", [{ ...png, name: "a.png" }]),
  K("sig-1", { scope, text: "look" }),
  T("Reading. "),
  C("toolu_1", '{ "path":"a.ts", "n":1.0 }', { name: "read" }),
  C("call|odd", '{"command":'),
  RE("call|odd", "The arguments are not valid JSON."),
  RI("toolu_1", "", [png]),
  U("use vitest", at(0)),
  T("cut", at(1)),
  V("t1", 1),
  KR("sealed", at(2)),
  C("toolu_1", "", at(2)),
  R("toolu_1", "done\n", at(2)),
  KN("no token", { ...at(3), scope: "deepseek:model-a" }),
  T("All good.", at(3)),
  N("date: 2026-02-01", t2()),
  U("thanks 😀", t2()),
);

describe("golden bodies", () => {
  test.each([
    ["anthropic", opus, anthropicModel(opus.model)],
    ["openai-compatible", toCompatible, compatibleModel("model-a")],
    ["deepseek", toDeepseek, compatibleModel("model-a")],
    ["mistral", toMistral, compatibleModel("model-a")],
  ] as const)("[WIRE-32] fold 1 for %s", async (name, target, model) => {
    const { body } = await capture(requestFor(rows, { target }), model);
    await expect(`${JSON.stringify(body, null, 1)}\n`).toMatchFileSnapshot(`testing/golden/fold-1.${name}.txt`);
  });
});
