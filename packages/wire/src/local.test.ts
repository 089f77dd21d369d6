/** Servers on one's own network: thinking comes back there, and logs from before that was so stay what they were. */
import type { JsonObject, StoredRow } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalBlocks, chainOf } from "./canonical.ts";
import { createFolder } from "./folder.ts";
import { makePrefixData } from "./prefix.ts";
import { targetUnder } from "./profile.ts";
import { local } from "./profiles/local.ts";
import { openaiCompatible } from "./profiles/openai-compatible.ts";
import { sentBlocks } from "./sent-blocks.ts";
import { type Adapter, adapter, extendsBody, splitBody } from "./testing/adapters.ts";
import { requestFor } from "./testing/capture.ts";
import { pixelBlob } from "./testing/folded.ts";
import { randomLogsFor } from "./testing/random-log.ts";
import { C, type Draft, logOf, P, R, T, testTools, U, X } from "./testing/rows.ts";
import { thinkingRow } from "./testing/scoped-rows.ts";
import { send } from "./testing/send.ts";

const one = adapter("local", "qwen3.5:35b");
const gateway = adapter("openai-compatible", "qwen3.5:35b");
const scope = one.target.modelScope;
const at = (step: number, turn = "t1") => ({ turn, step });

const thought = (text: string, place = at(0), more: { scope?: string; kind?: "partial" } = {}) =>
  thinkingRow(more.kind ?? "signed", { scope: more.scope ?? scope, token: "k", text, place });

const withoutLocal = ({ local: _, ...older }: Readonly<Record<string, JsonObject>>) => older;

/** A prefix row as it was sealed before the profile existed. */
const olderPrefix = (system = "SYS"): Draft => {
  const data = makePrefixData({ system: [system], tools: testTools });
  return { ...P(), data: { ...data, constants: withoutLocal(data.constants) } };
};

interface Body {
  readonly messages: readonly JsonObject[];
  readonly chat_template_kwargs?: JsonObject;
}

async function bodyOf(rows: readonly StoredRow[], by: Adapter = one): Promise<Body> {
  const { text, warnings } = await send(requestFor(rows, { target: by.target }), by.model);
  expect(warnings).toEqual([]);
  // The text was made by JSON.stringify of the adapter's body; the tests then look at what is in it.
  return JSON.parse(text) as Body;
}

const thoughtsOf = ({ messages }: Body) =>
  messages.flatMap(({ role, reasoning, reasoning_content }) =>
    role === "assistant" ? [[reasoning, reasoning_content]] : [],
  );

describe("thinking goes back", () => {
  test("[WIRE-70] under both names, all of a step's as one text, with the template's switch and the arguments as written", async () => {
    const args = '{ "path":"a.ts", "n":1.0 }';
    const rows = logOf(
      P({ tools: testTools }),
      U("a"),
      thought("first, "),
      T("t"),
      thought("then\n"),
      C("c1", args, { name: "read" }),
      R("c1"),
      U("b", { turn: "t2" }),
    );
    const body = await bodyOf(rows);
    expect(body.messages[2]).toEqual({
      role: "assistant",
      content: "t",
      reasoning: "first, then\n",
      reasoning_content: "first, then\n",
      tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: args } }],
    });
    expect(body.chat_template_kwargs).toEqual({ preserve_thinking: true });
    expect(body.messages.filter(({ reasoning }) => reasoning !== undefined)).toHaveLength(1);
  });

  test("[WIRE-70] an interrupted turn keeps its thinking: what was sent before a steer is the beginning of what follows", async () => {
    const rows = logOf(
      P({ tools: testTools }),
      U("a"),
      thought("one"),
      C("c1"),
      R("c1"),
      U("steer"),
      thought("two", at(1)),
      T("t", at(1)),
      U("b", { turn: "t2" }),
    );
    const [before, after] = await Promise.all([rows.slice(0, 5), rows].map(splitOf));
    expect(before !== undefined && after !== undefined && extendsBody(after, before)).toBe(true);
    expect(thoughtsOf(await bodyOf(rows))).toEqual([
      ["one", "one"],
      ["two", "two"],
    ]);
  });

  test.each<[string, Draft]>([
    ["cut", thought("x", at(0), { kind: "partial" })],
    ["blank", thought(" \n")],
    ["of another model", thought("x", at(0), { scope: "local:other" })],
    ["of the same name at a gateway", thought("x", at(0), { scope: gateway.target.modelScope })],
  ])("[WIRE-70] never what is %s", async (_, row) => {
    const body = await bodyOf(logOf(P(), U("a"), row, T("t"), U("b", { turn: "t2" })));
    expect(thoughtsOf(body)).toEqual([[undefined, undefined]]);
  });

  test("[WIRE-70] never from another epoch", async () => {
    const rows = logOf(P(), U("a"), thought("old"), T("t"), X("sum", 2), U("c", { turn: "t2" }));
    expect(thoughtsOf(await bodyOf(rows.slice(0, 4)))).toEqual([["old", "old"]]);
    const body = await bodyOf(rows);
    expect(JSON.stringify(body)).not.toContain("old");
  });

  test("[WIRE-72] the copy is no block, no link and no length of what a request says", () => {
    const request = requestFor(
      logOf(P({ tools: testTools }), U("a"), thought("hm"), T("t"), C("c1"), R("c1"), U("b", { turn: "t2" })),
      { target: one.target },
    );
    const blocks = sentBlocks(request);
    expect(chainOf(blocks)).toEqual(request.chain);
    expect(chainOf(canonicalBlocks(request.messages, request.options.tools))).toEqual(request.chain);
    expect(request.chars).toBe(blocks.reduce((sum, { json }) => sum + json.length, 0));
    expect(blocks.map(({ kind }) => kind)).toEqual([
      "tools",
      "text",
      "text",
      "reasoning",
      "text",
      "tool-call",
      "tool-result",
      "text",
    ]);
    for (const { json } of blocks) expect(() => JSON.parse(json)).not.toThrow();
  });
});

const splitOf = async (rows: readonly StoredRow[]) =>
  splitBody((await send(requestFor(rows, { target: one.target }), one.model)).text, "local");

describe("logs from before", () => {
  test("[WIRE-71] every request of any of them is the gateway's, to the last byte and hash", async () => {
    const logs = fc.sample(randomLogsFor(scope), { seed: 20_261_130, numRuns: 25 });
    let compared = 0;
    for (const { rows, points } of logs) {
      const older = rows.map((row): StoredRow => {
        if (row.type !== "system" || row.data.kind !== "prefix") return row;
        return { ...row, data: { ...row.data, constants: withoutLocal(row.data.constants) } };
      });
      for (const { end } of points.slice(-3)) {
        const [here, there] = [one, gateway].map(({ target }) =>
          requestFor(older.slice(0, end), { target, effort: "high", modelName: "x/qwen" }),
        );
        if (here === undefined || there === undefined) throw new Error("two requests were made");
        expect({ ...here, messages: here.messages }).toEqual({ ...there, messages: there.messages });
        expect((await send(here, one.model)).text).toBe((await send(there, gateway.model)).text);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(40);
  });

  test("[WIRE-71] with the next prefix row thinking comes back, but none that was made before it", async () => {
    const drafts = [
      olderPrefix(),
      U("a"),
      thought("made before"),
      T("t"),
      U("b", { turn: "t2" }),
      P({ system: ["SYS"], tools: testTools }),
      thought("made behind", at(0, "t2")),
      T("u", at(0, "t2")),
      U("c", { turn: "t3" }),
    ];
    const rows = logOf(...drafts);
    const older = await bodyOf(rows.slice(0, 5));
    expect([thoughtsOf(older), older.chat_template_kwargs]).toEqual([[[undefined, undefined]], undefined]);
    const newer = await bodyOf(rows);
    expect(thoughtsOf(newer)).toEqual([
      [undefined, undefined],
      ["made behind", "made behind"],
    ]);
    expect(newer.chat_template_kwargs).toEqual({ preserve_thinking: true });
    const back = await bodyOf(logOf(...drafts, olderPrefix("OLD"), U("d", { turn: "t4" })));
    expect(JSON.stringify(back)).not.toMatch(/made|preserve_thinking/);
  });

  test("[WIRE-71] one folder makes them across the change as a fold of all rows does", () => {
    const rows = logOf(
      olderPrefix(),
      U("a"),
      thought("before"),
      T("t"),
      U("b", { turn: "t2" }),
      thought("before too", at(0, "t2")),
      C("c1", "{}", at(0, "t2")),
      R("c1", "ok", at(0, "t2")),
      P({ system: ["SYS"], tools: testTools }),
      thought("behind", at(1, "t2")),
      C("c2", "{}", at(1, "t2")),
      R("c2", "ok", at(1, "t2")),
      U("c", { turn: "t3" }),
    );
    const folder = createFolder();
    const input = { target: one.target, modelName: "x/qwen", effort: "default", blobs: pixelBlob } as const;
    for (const end of [2, 5, 8, 9, 12, 13]) {
      const made = folder.request({ ...input, rows: rows.slice(0, end) });
      if (made.kind === "fault") throw new Error(made.message);
      const whole = requestFor(rows.slice(0, end), input);
      expect([made.tailHash, made.scopeHash, made.messages]).toEqual([whole.tailHash, whole.scopeHash, whole.messages]);
      const isAsOne = made.options.providerOptions?.openaiCompatible?.chat_template_kwargs !== undefined;
      expect(isAsOne).toBe(end >= 9);
    }
  });

  test("[WIRE-71] who stands in is decided by the prefix row alone, and keeps the scope that is written beside thinking", () => {
    const older = withoutLocal(makePrefixData({ system: ["SYS"], tools: [] }).constants);
    expect(targetUnder({ constants: { ...older, local: {} } }, one.target)).toBe(one.target);
    expect(targetUnder(null, one.target)).toBe(one.target);
    expect(targetUnder({ constants: older }, one.target)).toEqual({ ...one.target, profile: openaiCompatible });
    expect(targetUnder({ constants: {} }, gateway.target)).toBe(gateway.target);
    expect(one.target.profile).toBe(local);
  });
});
