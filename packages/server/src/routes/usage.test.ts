import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ledgerBodySchema, recordingSchema, tabRecordSchema, usageBodySchema } from "@varve/protocol/schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type House, openHouse } from "../testing/house.ts";

const usage = { input: 100_000, cacheRead: 0, cacheWrite: 0, output: 0 };
const model = "openai-compatible/test-model";
let house: House;
beforeAll(async () => {
  house = await openHouse({
    script: Array.from({ length: 9 }, () => ({ blocks: [{ type: "text", text: "ok" }], usage })),
  });
});
afterAll(() => house[Symbol.asyncDispose]());

const settings = (values: Readonly<Record<string, unknown>>) => house.call("PATCH", "/api/settings", values);
const valuesOf = async (): Promise<unknown> =>
  Reflect.get(Object((await house.call("GET", "/api/settings")).json), "values");
const recordOf = async (tab: string) => tabRecordSchema.parse((await house.call("GET", `/api/tabs/${tab}`)).json);

async function answered(tab: string, id: string): Promise<void> {
  const before = (await recordOf(tab)).tail;
  expect(await house.call("POST", `/api/tabs/${tab}/messages`, { id, text: "hi" })).toMatchObject({ status: 202 });
  for (let look = 0; look < 2_000; look++) {
    const { state, tail } = await recordOf(tab);
    if (state === "idle" && tail > before) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("the turn never ended");
}

describe("settings of money", () => {
  test("[HTTP-100] are set, shown, and put back by null", async () => {
    expect(await valuesOf()).toEqual({
      defaultModel: null,
      hiddenEnv: [],
      fetchPrivateHosts: [],
      dayMoneyMax: null,
      defaultStepsMax: 200,
      priceOverrides: {},
    });
    const priceOverrides = { [model]: { contextTokens: 1_000, prices: { input: 5, output: 0 } } };
    expect(await settings({ dayMoneyMax: 12.5, defaultStepsMax: 40, priceOverrides })).toMatchObject({
      status: 200,
      json: { values: { dayMoneyMax: 12.5, defaultStepsMax: 40, priceOverrides } },
    });
    await settings({ dayMoneyMax: null, defaultStepsMax: null, priceOverrides: null });
    expect(await valuesOf()).toEqual({
      defaultModel: null,
      hiddenEnv: [],
      fetchPrivateHosts: [],
      dayMoneyMax: null,
      defaultStepsMax: 200,
      priceOverrides: {},
    });
  });

  test("[TOOL-153] hosts of private networks are set, shown, and put back", async () => {
    const fetchPrivateHosts = ["localhost:3000", "[::1]"];
    expect(await settings({ fetchPrivateHosts })).toMatchObject({
      status: 200,
      json: { values: { fetchPrivateHosts } },
    });
    await settings({ fetchPrivateHosts: null });
    expect(await valuesOf()).toMatchObject({ fetchPrivateHosts: [] });
  });

  test.each([
    ["any host", { fetchPrivateHosts: ["*"] }],
    ["an address with a path", { fetchPrivateHosts: ["http://localhost/"] }],
    ["no money", { dayMoneyMax: 0 }],
    ["money that is no number", { dayMoneyMax: "5" }],
    ["half a step", { defaultStepsMax: 1.5 }],
    ["prices of no model", { priceOverrides: { nothing: {} } }],
    ["a negative price", { priceOverrides: { "a/b": { prices: { input: -1 } } } }],
    ["a price of something else", { priceOverrides: { "a/b": { prices: { inputs: 1 } } } }],
    ["prices as a list", { priceOverrides: [] }],
    [
      "too many prices",
      { priceOverrides: Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`a/${at}`, {}])) },
    ],
  ])("[HTTP-100] %s: refused, and what is legal beside it is not set either", async (_, wrong) => {
    expect(await settings({ dayMoneyMax: 3, ...wrong, defaultModel: null })).toMatchObject({
      status: 400,
      json: { error: { code: "bad-request" } },
    });
    expect(await valuesOf()).toMatchObject({ dayMoneyMax: null, defaultStepsMax: 200, priceOverrides: {} });
  });
});

describe("what was spent", () => {
  test("[HTTP-101] a tab's ledger and the server's usage answer in their shapes, at the prices that were set", async () => {
    const prices = { input: 10, output: 0, read: 0, write5m: 0, write1h: 0 };
    await settings({ priceOverrides: { [model]: { prices } } });
    const { id } = await house.tab({ options: { stepsMax: 9 } });
    await answered(id, "u1");
    await answered(id, "u2");
    const ledger = await house.call("GET", `/api/tabs/${id}/ledger?limit=1`);
    const body = ledgerBodySchema.parse(ledger.json);
    expect([body.own.price, body.own.requests, body.steps.length, body.more]).toEqual([2, 2, 1, true]);
    const before = body.steps[0]?.usageSeq ?? 0;
    const next = ledgerBodySchema.parse((await house.call("GET", `/api/tabs/${id}/ledger?before=${before}`)).json);
    expect([next.steps.length, next.more]).toEqual([1, false]);
    const used = usageBodySchema.parse((await house.call("GET", "/api/usage?days=3")).json);
    expect([used.days.length, used.today.price, used.tabs.map((tab) => tab.tab)]).toEqual([3, 2, [id]]);
    expect(usageBodySchema.parse((await house.call("GET", "/api/usage")).json).days).toHaveLength(30);
    expect(await recordOf(id)).toMatchObject({ cost: { price: 2, unpriced: 0 }, options: { stepsMax: 9 } });
    await settings({ priceOverrides: null });
  });

  test.each([
    ["no days", "/api/usage?days=0", 400, "bad-request"],
    ["too many days", "/api/usage?days=367", 400, "bad-request"],
    ["half a day", "/api/usage?days=1.5", 400, "bad-request"],
    ["words for days", "/api/usage?days=all", 400, "bad-request"],
    ["a tab that is none", "/api/tabs/none/ledger", 404, "unknown-tab"],
    ["an id that is none", "/api/tabs/a%20b/ledger", 400, "bad-id"],
    ["a cursor that is none", "/api/tabs/none/ledger?before=x", 400, "bad-request"],
    ["nothing at all", "/api/tabs/none/ledger?limit=0", 400, "bad-request"],
    ["a recording that is none", "/api/recordings/abc/bill", 404, "unknown-recording"],
  ])("[HTTP-101] %s", async (_, path, status, code) => {
    expect(await house.call("GET", path)).toMatchObject({ status, json: { error: { code } } });
  });

  test("[HTTP-102] recordings of other tools are listed and billed; nothing else can be read that way", async () => {
    const list = async () => {
      const { json } = await house.call("GET", "/api/recordings");
      return z.object({ recordings: z.array(recordingSchema) }).parse(json).recordings;
    };
    expect(await list()).toEqual([]);
    // The house's user lives in its project folder.
    const folder = join(house.project, ".claude", "projects", "p");
    mkdirSync(folder, { recursive: true });
    const line = (type: string, more: object) =>
      JSON.stringify({ type, sessionId: "s", uuid: type, parentUuid: null, ...more });
    const told = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const message = { id: "m1", role: "assistant", model: "claude-opus-5-5", content: [], usage: told };
    const at = "2026-11-01T00:00:00.000Z";
    writeFileSync(
      join(folder, "s.jsonl"),
      `${line("user", { timestamp: at, message: { role: "user", content: "hello" } })}\n${line("assistant", { timestamp: at, message })}\n`,
    );
    const [recording] = await list();
    expect(recording).toMatchObject({ format: "claude-code" });
    const bill = await house.call("GET", `/api/recordings/${recording?.id}/bill`);
    expect(bill).toMatchObject({ status: 200, json: { format: "claude-code", sum: { requests: 1, output: 5 } } });
    const path = encodeURIComponent(join(house.home, "token"));
    expect(await house.call("GET", `/api/recordings/${path}/bill`)).toMatchObject({ status: 404 });
  });
});

describe("options of a tab", () => {
  test.each([
    ["no money", { moneyMax: -1 }],
    ["half a step", { stepsMax: 0.5 }],
    ["a lifetime that is none", { cacheTtl: "2h" }],
    ["keep-warm without an end", { keepWarm: { on: true } }],
  ])("[HTTP-103] %s: refused, for a new tab and for one that is there", async (_, options) => {
    const { id } = await house.tab();
    expect(await house.call("POST", "/api/tabs", { cwd: house.project, options })).toMatchObject({ status: 400 });
    expect(await house.call("PATCH", `/api/tabs/${id}`, { options })).toMatchObject({ status: 400 });
    expect((await recordOf(id)).options).toEqual({});
  });

  test("[HTTP-103] are changed by a patch and taken back by null", async () => {
    const { id } = await house.tab();
    const keepWarm = { on: true, countMax: 3, moneyMax: 0.5 };
    await house.call("PATCH", `/api/tabs/${id}`, { options: { keepWarm, cacheTtl: "1h" } });
    await house.call("PATCH", `/api/tabs/${id}`, { options: { cacheTtl: null } });
    expect((await recordOf(id)).options).toEqual({ keepWarm });
  });
});
