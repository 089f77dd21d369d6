/** What every profile's bodies must hold, through its real adapter; and what each of them alone must. */
import type { StoredRow } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { makePrefixData } from "./prefix.ts";
import type { RequestInput } from "./request.ts";
import { type Adapter, adapter, adapters, extendsBody, olderAdapters, splitBody } from "./testing/adapters.ts";
import { requestFor } from "./testing/capture.ts";
import { blobHash, C, E, logOf, M, N, P, R, RE, RI, T, testTools, U, UA } from "./testing/rows.ts";
import { callRow, textRow, thinkingRow } from "./testing/scoped-rows.ts";
import { send } from "./testing/send.ts";

const at = (step: number) => ({ step });
const t2 = { turn: "t2" };
const t3 = { turn: "t3" };
const place = { turn: "t1", step: 0 };
const png = { blob: blobHash("a"), mediaType: "image/png", name: "a.png" };
const every = [...adapters, ...olderAdapters].map((one) => [one.name, one] as const);
const countOf = (text: string, what: string) => text.split(what).length - 1;

/** The body's text; a warning of the adapter fails the test. */
async function bodyOf(one: Adapter, rows: readonly StoredRow[], rest: Partial<RequestInput> = {}): Promise<string> {
  const { text, warnings } = await send(requestFor(rows, { target: one.target, ...rest }), one.model);
  expect(warnings).toEqual([]);
  return text;
}
const splitOf = async (one: Adapter, rows: readonly StoredRow[]) =>
  splitBody(await bodyOf(one, rows), one.target.profile.name);

const signed = (one: Adapter, token: string, text = "hm", where: { turn: string; step: number } = place) =>
  thinkingRow("signed", { scope: one.target.modelScope, token, text, place: where });

describe("every profile", () => {
  test.each(every)("[WIRE-1] B1: three steps, each body a pure extension of the one before: %s", async (_, one) => {
    const rows = logOf(
      P({ tools: testTools }),
      U("a"),
      signed(one, "s1"),
      T("t"),
      C("c1"),
      R("c1"),
      C("c2", "{}", at(1)),
      R("c2", "ok", at(1)),
      T("end", at(2)),
      U("b", t2),
    );
    const bodies = await Promise.all([2, 6, 8, 10].map((end) => splitOf(one, rows.slice(0, end))));
    bodies.slice(1).forEach((body, index) => {
      const before = bodies[index];
      expect(before !== undefined && extendsBody(body, before)).toBe(true);
      expect(body.items.length).toBeGreaterThan(before?.items.length ?? 0);
    });
  });

  test.each(every)("[WIRE-4] B2: a steer before a result and behind it give one body: %s", async (_, one) => {
    const early = logOf(P(), U("a"), C("c1"), C("c2"), U("stop that"), R("c2"), RE("c1", "no"));
    const late = logOf(P(), U("a"), C("c1"), C("c2"), RE("c1", "no"), R("c2"), U("stop that"));
    expect(await bodyOf(one, early)).toBe(await bodyOf(one, late));
  });

  test.each(every)(
    "[WIRE-24] B3: a streamed body and a plain one differ in what asks for the stream: %s",
    async (_, one) => {
      const request = requestFor(logOf(P({ tools: testTools }), U("a"), C("c1"), R("c1")), { target: one.target });
      const streamed = JSON.parse((await send(request, one.model)).text);
      const { stream: _stream, stream_options: _options, ...rest } = streamed;
      const plain = await send(request, one.model, "generate");
      expect(JSON.stringify(rest)).toBe(plain.text);
      expect(plain.warnings).toEqual([]);
    },
  );

  test.each(every)("[WIRE-23] B7: tools stand in the order of the snapshot: %s", async (_, one) => {
    const named = ["z", "2", "1"].map((name) => ({ name, description: "d", inputSchema: { type: "object" } }));
    const text = await bodyOf(one, logOf(P({ tools: named }), U("a")));
    const order = [...text.matchAll(/"name":"(\w)"/g)].map((match) => match[1]);
    expect(order).toEqual(["1", "2", "z"]);
  });

  test.each(every)("[WIRE-2] B12: the system prompt stands first, whatever notes there are: %s", async (_, one) => {
    const rows = logOf(P(), N("in front"), U("a"), N("behind"), T("t"), U("b", t2));
    for (const end of [2, 3, 4, 6]) {
      const text = await bodyOf(one, rows.slice(0, end));
      const { head, items } = splitBody(text, one.target.profile.name);
      const inHead = /"system(Instruction)?":/.test(head);
      expect((inHead ? head : items[0])?.includes("SYS")).toBe(true);
      expect(countOf(text, "SYS")).toBe(1);
    }
  });

  test.each(every)("[WIRE-23] B13: a tool changed in code leaves an old log's body as it was: %s", async (_, one) => {
    const rows = logOf(P({ tools: testTools }), U("a"));
    const before = await bodyOf(one, rows);
    const changed = testTools.map((tool) => ({ ...tool, description: "Changed in code." }));
    makePrefixData({ system: ["SYS"], tools: changed });
    expect(await bodyOf(one, rows)).toBe(before);
    expect(await bodyOf(one, logOf(P({ tools: changed }), U("a")))).not.toBe(before);
  });

  test.each(every)("[WIRE-16] B19: to another model and back, the first one's body is extended: %s", async (_, one) => {
    const other = adapter("anthropic", "claude-opus-4-8");
    const rows = logOf(
      P(),
      U("a"),
      signed(one, "own"),
      callRow({ id: "c1", args: "{}", name: "bash" }, { scope: one.target.modelScope, token: "call", place }),
      R("c1"),
      M("other"),
      U("b", t2),
      signed(other, "foreign", "x", { turn: "t2", step: 0 }),
      callRow({ id: "c2", args: "{}", name: "bash" }, { scope: "google:other", token: "strange", place: t2 }),
      R("c2", "ok", t2),
      M("own"),
      U("c", t3),
    );
    const [first, again] = [await bodyOf(one, rows.slice(0, 5)), await bodyOf(one, rows)];
    const name = one.target.profile.name;
    expect(extendsBody(splitBody(again, name), splitBody(first, name))).toBe(true);
    expect(again).not.toMatch(/foreign|strange/);
  });

  test.each(every)("[WIRE-12] B20: arguments are what the model wrote, with nothing added: %s", async (_, one) => {
    const schema = { type: "object", properties: { path: { type: "string" }, limit: { type: "number", default: 7 } } };
    const tool = { name: "read", description: "d", inputSchema: schema };
    const bare = logOf(P({ tools: [tool] }), U("a"));
    const called = logOf(P({ tools: [tool] }), U("a"), C("c1", '{"path":"x"}', { name: "read" }), R("c1"));
    const [before, after] = [await bodyOf(one, bare), await bodyOf(one, called)];
    expect(countOf(after, "limit")).toBe(countOf(before, "limit"));
    expect(after.replaceAll("\\", "")).toContain('{"path":"x"}');
  });

  test.each(every)(
    "[WIRE-11] B21: a body whose end is derived says so, and a ping never has one: %s",
    async (_, one) => {
      const open = requestFor(logOf(P(), U("a"), T("t")), { target: one.target });
      const closed = requestFor(logOf(P(), U("a"), T("t"), U("[continue]", t2)), { target: one.target });
      expect([open.endsDerived, closed.endsDerived]).toEqual([true, false]);
    },
  );

  test.each(every)("[WIRE-15] B22: half an emoji leaves as U+FFFD: %s", async (_, one) => {
    const rows = logOf(P(), U("a\ud83d"), T("\ud83d"), C("c1", '{"a":"\ud83d"}'), R("c1", "\ud83d"));
    const text = await bodyOf(one, rows);
    expect(text.isWellFormed() && !text.includes("\\ud83d")).toBe(true);
    expect(countOf(text, "\ufffd")).toBe(4);
  });

  test.each(every)("[WIRE-25] no warning at any effort, with pictures, files and errors: %s", async (_, one) => {
    const pdf = { blob: blobHash("b"), mediaType: "application/pdf", name: "a.pdf" };
    const rows = logOf(
      P({ tools: testTools }),
      UA("see", [png, pdf]),
      C("c1"),
      RI("c1", "", [png]),
      E(at(1)),
      U("b", t2),
    );
    for (const effort of ["default", "low", "medium", "high"] as const) await bodyOf(one, rows, { effort });
  });

  test.each(every)("[WIRE-61] thinking goes back to its own model and to no other: %s", async (_, one) => {
    const own = await bodyOf(one, logOf(P(), U("a"), signed(one, "zzq"), T("t"), U("b", t2)));
    const elsewhere = thinkingRow("signed", { scope: "anthropic:else", token: "zzq", text: "secret", place });
    const other = await bodyOf(one, logOf(P(), U("a"), elsewhere, T("t"), U("b", t2)));
    const replays = /^(anthropic|openai-responses|google|openrouter)$/.test(one.target.profile.name);
    expect(own.includes("zzq")).toBe(replays);
    expect(other).not.toMatch(/zzq|secret/);
  });
});

describe("OpenAI Responses", () => {
  const one = adapter("openai", "gpt-5.6-sol");
  const rows = logOf(P({ tools: testTools }), U("a"), signed(one, "k"), T("t"), C("c1"), RE("c1", "boom"), U("b", t2));

  test("[WIRE-62] B9: no state at the vendor, reasoning encrypted, the system item of one form", async () => {
    const bodies = await Promise.all([2, 6, 7].map((end) => bodyOf(one, rows.slice(0, end))));
    for (const text of bodies) {
      expect(text).not.toContain("item_reference");
      expect(JSON.parse(text)).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
      expect(JSON.parse(text).input[0]).toEqual({
        role: "developer",
        content: [{ type: "input_text", text: "SYS", prompt_cache_breakpoint: { mode: "explicit" } }],
      });
      expect(countOf(text, "prompt_cache_breakpoint")).toBe(1);
    }
  });

  test("[WIRE-62] texts and calls go without the ids that the vendor gave them", async () => {
    const scope = one.target.modelScope;
    const named = logOf(
      P(),
      U("a"),
      signed(one, "k"),
      textRow("t", { scope, token: "m", partial: false, place }),
      callRow({ id: "c1", args: "{}", name: "bash" }, { scope, token: "f", place }),
      R("c1"),
    );
    const text = await bodyOf(one, named);
    expect(text).not.toMatch(/msg_m|fc_f/);
    expect(text).toContain('"phase":"commentary"');
  });

  test.each([null, "a later word", 7])(
    "[WIRE-62] a phase that the adapter does not know is left out: %j",
    async (phase) => {
      const text = textRow("t", { scope: one.target.modelScope, token: "m", partial: false, place });
      const odd = { ...text, data: { ...text.data, providerMetadata: { openai: { phase } } } };
      expect(await bodyOf(one, logOf(P(), U("a"), odd, U("b", t2)))).not.toContain("phase");
    },
  );

  test("[WIRE-62] several summaries of one reasoning item are one item again, with what was encrypted last", async () => {
    const summary = (text: string, content: string) => ({
      ...signed(one, "k"),
      data: {
        text,
        modelScope: one.target.modelScope,
        metadata: { openai: { itemId: "rs_1", reasoningEncryptedContent: content } },
      },
    });
    const text = await bodyOf(
      one,
      logOf(P(), U("a"), summary("one", "early"), summary("two", "final"), T("t"), U("b", t2)),
    );
    const items = JSON.parse(text).input.filter((item: { type?: string }) => item.type === "reasoning");
    expect(items).toEqual([
      {
        type: "reasoning",
        id: "rs_1",
        encrypted_content: "final",
        summary: [
          { type: "summary_text", text: "one" },
          { type: "summary_text", text: "two" },
        ],
      },
    ]);
  });

  test("[WIRE-63] an error has no flag there, so its text says it; a picture stands in the output", async () => {
    expect(await bodyOf(one, rows)).toContain('"output":"ERROR: boom"');
    const shown = await bodyOf(one, logOf(P(), U("a"), C("c1"), RI("c1", "seen", [png])));
    expect(shown).toContain('"output":[{"type":"input_text","text":"seen"},{"type":"input_image"');
  });

  test("[WIRE-62] all tabs of a workspace share one cache key; other workspaces have another", async () => {
    const keyOf = async (workspace?: string) =>
      JSON.parse(await bodyOf(one, logOf(P(workspace === undefined ? {} : { workspace }), U("a")))).prompt_cache_key;
    expect(await keyOf("/home/a/.varve")).toMatch(/^varve-[0-9a-f]{24}$/);
    expect(await keyOf("/home/a/.varve")).toBe(await keyOf("/home/a/.varve"));
    expect(await keyOf("/home/a/.varve")).not.toBe(await keyOf("/home/b/.varve"));
    expect(await keyOf()).toBeUndefined();
  });

  test.each([
    ["gpt-4.1", "system", undefined],
    ["gpt-5.4", "developer", { summary: "auto" }],
    ["o4-mini", "developer", undefined],
    ["gpt-6-luna", "developer", { summary: "auto" }],
  ] as const)("[WIRE-62] %s: the system prompt's role is %s", async (model, role, reasoning) => {
    const body = JSON.parse(await bodyOf(adapter("openai", model), logOf(P(), U("a"))));
    expect([body.input[0].role, body.reasoning]).toEqual([role, reasoning]);
  });
});

describe("Gemini", () => {
  const one = adapter("google", "gemini-3.5-flash");
  const scope = one.target.modelScope;
  const call = (id: string, token: string | null) => callRow({ id, args: "{}", name: "bash" }, { scope, token, place });
  const partsOf = async (rows: readonly StoredRow[], index: number) =>
    JSON.parse(await bodyOf(one, rows)).contents[index].parts;

  test("[WIRE-64] B11: of parallel calls the first alone is signed, and a note does not throw", async () => {
    const rows = logOf(P(), U("a"), N("note"), call("c1", "s"), call("c2", null), R("c2"), R("c1"), N("more"), U("b"));
    const parts = await partsOf(rows, 2);
    expect(parts.map((part: { thoughtSignature?: string }) => part.thoughtSignature)).toEqual(["tc-s", undefined]);
  });

  test("[WIRE-64] a step whose first call has no signature of this model gets the vendor's word for that", async () => {
    const foreign = logOf(P(), U("a"), C("c1"), C("c2"), R("c1"), R("c2"));
    const parts = await partsOf(foreign, 1);
    expect(parts.map((part: { thoughtSignature?: string }) => part.thoughtSignature)).toEqual([
      "skip_thought_signature_validator",
      undefined,
    ]);
    const older = adapter("google", "gemini-2.5-pro");
    expect(await bodyOf(older, foreign)).not.toContain("thoughtSignature");
  });

  test("[WIRE-64] a signed thought without text is left out, and no message is ever empty", async () => {
    const rows = logOf(
      P(),
      U("a"),
      signed(one, "k", ""),
      T("t"),
      U("b", t2),
      signed(one, "l", "", { turn: "t2", step: 0 }),
      U("c", t3),
    );
    const text = await bodyOf(one, rows);
    expect(text).not.toMatch(/ts-k|ts-l|"parts":\[\]/);
  });

  test("[WIRE-63] an error's text says so, and a picture stands in the response", async () => {
    const rows = logOf(P(), U("a"), call("c1", "s"), RE("c1", "boom"));
    expect(await bodyOf(one, rows)).toContain('"content":"ERROR: boom"');
    const shown = logOf(P(), U("a"), call("c1", "s"), RI("c1", "seen", [png]));
    const [response] = await partsOf(shown, 2);
    expect(response.functionResponse.parts).toMatchObject([{ inlineData: { mimeType: "image/png" } }]);
  });
});

describe("DeepSeek", () => {
  test("[WIRE-65] B10: a steer takes no reasoning of V4 away; models before V4 are never sent any", async () => {
    const rowsOf = (one: Adapter) =>
      logOf(P(), U("a"), signed(one, "k", "thought one"), C("c1"), R("c1"), U("steer"), T("t", at(1)), U("b", t2));
    const four = adapter("deepseek", "deepseek-v4-pro");
    const before = await splitOf(four, rowsOf(four).slice(0, 5));
    const after = await splitOf(four, rowsOf(four));
    expect(extendsBody(after, before)).toBe(true);
    expect(after.items.join("")).toContain('"reasoning_content":"thought one"');
    const old = adapter("deepseek", "deepseek-chat");
    expect(await bodyOf(old, rowsOf(old))).not.toContain("reasoning_content");
  });

  test("[WIRE-65] pictures go only to models that see", async () => {
    const rows = logOf(P(), UA("look", [png]));
    expect(await bodyOf(adapter("deepseek", "deepseek-v4-pro"), rows)).toContain("can't be sent to this model");
    expect(await bodyOf(adapter("deepseek", "deepseek-flash"), rows)).toContain('"type":"image_url"');
  });
});

describe("OpenRouter", () => {
  const one = adapter("openrouter", "anthropic/claude-opus-5.5");

  test("[WIRE-66] B5: one breakpoint on the system message and the automatic one, over 25 parallel results", async () => {
    const ids = Array.from({ length: 25 }, (_, index) => `c${index}`);
    const rows = logOf(P({ tools: testTools }), U("a"), ...ids.map((id) => C(id)), ...ids.map((id) => R(id)));
    for (const end of [2, rows.length]) {
      const body = JSON.parse(await bodyOf(one, rows.slice(0, end)));
      expect(body.cache_control).toEqual({ type: "ephemeral" });
      expect(countOf(JSON.stringify(body.messages), "cache_control")).toBe(1);
      expect(body.messages[0].content[0].cache_control).toEqual({ type: "ephemeral" });
    }
  });

  test("[WIRE-66] details of reasoning go back with the call that carries them, unsigned ones never", async () => {
    const scope = one.target.modelScope;
    const call = callRow({ id: "c1", args: "{}", name: "bash" }, { scope, token: "d", place });
    expect(await bodyOf(one, logOf(P(), U("a"), call, R("c1")))).toContain('"data":"sealed-d"');
    const cut = thinkingRow("unsigned", { scope, token: "x", text: "cut", place });
    expect(await bodyOf(one, logOf(P(), U("a"), cut, T("t"), U("b", t2)))).not.toContain("reasoning_details");
  });

  test("[WIRE-15] half an emoji among the details leaves as U+FFFD", async () => {
    const thought = thinkingRow("signed", { scope: one.target.modelScope, token: "s", text: "half \ud83d", place });
    const text = await bodyOf(one, logOf(P(), U("a"), thought, T("t"), U("b", t2)));
    expect(text).toContain('"text":"half \ufffd"');
    expect(text).not.toContain("\\ud83d");
  });

  test("[WIRE-66] a workspace's requests are routed as one", async () => {
    const body = JSON.parse(await bodyOf(one, logOf(P({ workspace: "home" }), U("a"))));
    expect(body).toMatchObject({ session_id: expect.stringMatching(/^varve-/), usage: { include: true } });
  });
});

describe("gateways", () => {
  test("[WIRE-67] thinking is never sent, so that no template can take it out of what was sent before", async () => {
    const one = adapter("openai-compatible", "qwen3:32b");
    const rows = logOf(
      P(),
      U("a"),
      signed(one, "k", "long thought"),
      C("c1"),
      R("c1"),
      U("steer"),
      T("t", at(1)),
      U("b", t2),
    );
    const [before, after] = [await splitOf(one, rows.slice(0, 5)), await splitOf(one, rows)];
    expect(extendsBody(after, before)).toBe(true);
    expect(after.items.join("")).not.toContain("long thought");
    expect(after.head).not.toContain("chat_template_kwargs");
  });
});
