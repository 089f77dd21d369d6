/**
 * The bytes of a released fold, pinned. A difference here means that open logs would send other bytes than before: then
 * the change belongs into another fold version, beside this one.
 */
import type { JsonObject, StoredRow } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { chooseProfile } from "./choose-profile.ts";
import { canonicalJson, sha256 } from "./digest.ts";
import { type ConstantsName, wireTarget } from "./profile.ts";
import { defaultConstants, laterConstants } from "./profile-constants.ts";
import { anthropic } from "./profiles/anthropic.ts";
import { adapter, adapters } from "./testing/adapters.ts";
import { anthropicModel, capture, compatibleModel, requestFor } from "./testing/capture.ts";
import { toCompatible, toDeepseek, toMistral } from "./testing/folded.ts";
import { blobHash, C, K, KN, KR, logOf, N, P, R, RE, RI, T, testTools, U, UA, V } from "./testing/rows.ts";
import { callRow, textRow, thinkingRow } from "./testing/scoped-rows.ts";
import { send } from "./testing/send.ts";

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

/** One of everything that a model of this scope leaves behind, and of another's in between. */
const rowsOf = (scope: string, constants: Record<string, JsonObject> | null = null) => {
  const spoken = (kind: "signed" | "partial", token: string, text: string, place: { turn: string; step: number }) =>
    thinkingRow(kind, { scope, token, text, place });
  const call = (id: string, token: string | null, place: { turn: string; step: number }) =>
    callRow({ id, args: '{ "path":"a.ts", "n":1.0 }', name: "read" }, { scope, token, place });
  const at1 = { turn: "t1", step: 1 };
  const at0 = { turn: "t1", step: 0 };
  const frozen = P({ system: ["You are a test.", "Second block."], tools: testTools });
  const prefix = constants === null ? frozen : { ...frozen, data: { ...frozen.data, constants } };
  return logOf(
    prefix,
    N("directory: /a\ndate: 2026-01-31"),
    UA("look at this", [{ ...png, name: "a.png" }]),
    spoken("signed", "a", "look", at0),
    textRow("Reading. ", { scope, token: "b", partial: false, place: at0 }),
    call("toolu_1", "c", at0),
    call("call|odd", null, at0),
    RE("call|odd", "No such file."),
    RI("toolu_1", "", [png]),
    U("use vitest", at0),
    spoken("partial", "d", "cut", at1),
    C("toolu_2", '{"command":', at1),
    RE("toolu_2", "The arguments are not valid JSON.", at1),
    K("sig-other", { ...t2(), scope: "anthropic:model-z" }),
    C("toolu_3", "{}", t2()),
    R("toolu_3", "done\n", t2()),
    N("date: 2026-02-01", t2()),
    U("thanks 😀", t2()),
  );
};

const released = [
  ...adapters.filter(
    ({ name }) => /^(openai-|google|deepseek|openrouter|local)/.test(name) && name !== "openai-compatible",
  ),
  adapter("openai", "gpt-4.1", "openai-responses-plain"),
  adapter("google", "gemini-2.5-pro", "google-legacy"),
];

describe("golden bodies of logs from before servers on one's own network had a profile", () => {
  const older = rows.map((row): StoredRow => {
    if (row.type !== "system" || row.data.kind !== "prefix") return row;
    const { local: _, ...constants } = row.data.constants;
    return { ...row, data: { ...row.data, constants } };
  });

  const thoughtSince = older.map(
    (row): StoredRow =>
      row.type === "thinking" ? { ...row, data: { ...row.data, modelScope: "local:model-a" } } : row,
  );

  test.each([
    ["as it was", older],
    ["with thinking that was written since", thoughtSince],
  ])("[WIRE-71] the bytes are those of the released form: %s", async (_, log) => {
    const target = wireTarget(chooseProfile("local", "model-a"), "model-a");
    const { body } = await capture(requestFor(log, { target }), compatibleModel("model-a"));
    await expect(`${JSON.stringify(body, null, 1)}\n`).toMatchFileSnapshot(
      "testing/golden/fold-1.openai-compatible.txt",
    );
  });
});

describe("golden bodies of the profiles that came later", () => {
  test.each(released.map((one) => [one.name, one] as const))(
    "[WIRE-32] fold 1 for %s",
    async (name, { target, model }) => {
      const { text, warnings } = await send(requestFor(rowsOf(target.modelScope), { target, effort: "high" }), model);
      expect(warnings).toEqual([]);
      const file = name === "deepseek" ? "deepseek-api" : name;
      await expect(`${JSON.stringify(JSON.parse(text), null, 1)}\n`).toMatchFileSnapshot(
        `testing/golden/fold-1.${file}.txt`,
      );
    },
  );

  test.each(released.filter(({ name }) => name !== "local").map((one) => [one.name, one] as const))(
    "[WIRE-60] a log begun before the profile existed sends the same bytes: %s",
    async (_, { target, model }) => {
      const { anthropic: kept, "openai-compatible": compatible } = defaultConstants("5m", null);
      const older = rowsOf(target.modelScope, { anthropic: kept, "openai-compatible": compatible });
      const [now, then] = await Promise.all(
        [rowsOf(target.modelScope), older].map((log) => send(requestFor(log, { target, effort: "high" }), model)),
      );
      expect(then?.text).toBe(now?.text);
    },
  );

  test("[WIRE-60] what serves those logs is pinned, and belongs to fold 1 alone", () => {
    const names: readonly ConstantsName[] = ["openai", "google", "deepseek", "openrouter"];
    const hashes = names.map((name) => sha256(canonicalJson(laterConstants(1, name) ?? null)).slice(0, 16));
    expect(hashes).toMatchInlineSnapshot(`
      [
        "1241c2750230d32b",
        "0dff05a4abe82159",
        "8f04a84c5c19b6b7",
        "bb619df74dd51043",
      ]
    `);
    expect(laterConstants(1, "anthropic")).toBeUndefined();
    expect(laterConstants(1, "local")).toBeUndefined();
    expect(laterConstants(2, "openai")).toBeUndefined();
  });
});
