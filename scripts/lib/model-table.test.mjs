import { expect, test } from "vitest";
import { contradictions, modelTable, tableText } from "./model-table.mjs";

const model = (id, cost, more = {}) => ({ type: "chat", id, cost, contextWindow: 1000, maxTokens: 100, ...more });
const cost = (input, output, cacheRead = 0, cacheWrite = 0, more = {}) => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  ...more,
});
const tableOf = (provider, ...models) =>
  modelTable({ [provider]: { api: Object.fromEntries(models.map((one) => [one.id, one])) } }, "source 1").providers[
    provider
  ];

test("a row holds limits and prices, by ascending id", () => {
  const rows = tableOf("anthropic", model("b", cost(2, 10, 0.1, 2.5)), model("a", cost(1, 5, 0.05, 1.25)));
  expect(Object.entries(rows)).toEqual([
    ["a", [1000, 100, 1, 5, 0.05, 1.25]],
    ["b", [1000, 100, 2, 10, 0.1, 2.5]],
  ]);
});

test("0 is what the source says where it knows nothing, except for what is sold as free", () => {
  expect(tableOf("openai", model("old", cost(30, 60)))).toEqual({ old: [1000, 100, 30, 60, null, null] });
  expect(tableOf("google", model("open", cost(0, 0)))).toEqual({ open: [1000, 100, null, null, null, null] });
  expect(tableOf("google", model("half", cost(1, 0, 0.1)))).toEqual({ half: [1000, 100, null, null, null, null] });
  expect(tableOf("openrouter", model("x/y:free", cost(0, 0)))).toEqual({ "x/y:free": [1000, 100, 0, 0, 0, 0] });
  expect(tableOf("openai", model("m", cost(1, 2), { contextWindow: 0 }))).toEqual({ m: [null, 100, 1, 2, null, null] });
});

test("tiers ascend and follow the same rule", () => {
  const tiers = [
    { inputTokensAbove: 500, ...cost(4, 8, 0.4) },
    { inputTokensAbove: 200, ...cost(2, 4, 0.2) },
    { inputTokensAbove: 900, ...cost(0, 0) },
  ];
  expect(tableOf("google", model("m", cost(1, 2, 0.1, 0, { tiers })))).toEqual({
    m: [
      1000,
      100,
      1,
      2,
      0.1,
      null,
      [
        [200, 2, 4, 0.2, null],
        [500, 4, 8, 0.4, null],
      ],
    ],
  });
});

test("what answers later, changes its model or is no model for talking is left out", () => {
  const models = [
    model("a/b:batch", cost(1, 2)),
    model("~a/latest", cost(1, 2)),
    model("openrouter/auto", cost(0, 0)),
    model("a/image", cost(1, 2), { type: "image" }),
  ];
  expect(tableOf("openrouter", ...models)).toEqual({});
});

test("the file has one model a line and parses to the table", () => {
  const table = modelTable({ deepseek: { api: { m: model("m", cost(1, 2)) } } }, "source 1");
  const text = tableText(table);
  expect(JSON.parse(text)).toEqual(table);
  expect(text.split("\n")).toContain('      "m": [1000,100,1,2,null,null]');
});

test("a second package contradicts where both know a price and differ by more than rounding", () => {
  const providers = { openai: { m: [1000, 100, 1, 2, null, 1.25], n: [1000, 100, 1, 2, 0.1, null] } };
  const theirs = (inputPer1MTokens, outputPer1MTokens, more = {}) => ({ inputPer1MTokens, outputPer1MTokens, ...more });
  const more = { cacheReadPer1MTokens: 0.5, cacheWritePer1MTokens: 0 };
  expect(contradictions(providers, { openai: { m: theirs(1.005, 2, more), other: theirs(9, 9) } })).toEqual([]);
  expect(contradictions(providers, { openai: { m: theirs(1.1, 2), n: theirs(1, 2, more) } })).toEqual([
    { model: "openai/m", field: "input", ours: 1, theirs: 1.1 },
    { model: "openai/n", field: "read", ours: 0.1, theirs: 0.5 },
  ]);
});
