/** The loop over the real provider packages and real HTTP: what a person's key would go through. */
import { memoryLog, verifyRows } from "@varve/log";
import {
  anthropicBlocks,
  createFakeClock,
  createFakeIds,
  createFakeProvider,
  type FakeProvider,
  isBlockPrefix,
  openaiMessages,
  type ScriptItem,
  settle,
} from "@varve/sim";
import { describe, expect, test } from "vitest";
import { createModelRegistry } from "./model/registry.ts";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import { providerTab } from "./testing/provider-tab.ts";
import { wordsOf } from "./testing/world.ts";
import { isKind } from "./turn-rows.ts";

const vendors = [
  {
    name: "anthropic",
    model: "anthropic/claude-sonnet-4-5",
    env: (url: string) => ({ ANTHROPIC_API_KEY: "sk-ant-test-key", ANTHROPIC_BASE_URL: url }),
    blocks: anthropicBlocks,
  },
  {
    name: "openai-compatible",
    model: "openai-compatible/some-model",
    env: (url: string) => ({ OPENAI_COMPATIBLE_API_KEY: "compat-test-key", OPENAI_COMPATIBLE_BASE_URL: `${url}/v1/` }),
    blocks: openaiMessages,
  },
] as const;
type VendorUnderTest = (typeof vendors)[number];

async function tabOn(provider: FakeProvider, vendor: VendorUnderTest) {
  const clock = createFakeClock();
  const tools = fakeToolBox([{ name: "bash", run: (_run, args) => ok(`ran ${String(args.command)}`) }]);
  const models = createModelRegistry({ env: vendor.env(provider.url), clock, fetch: globalThis.fetch, idleMs: 2_000 });
  const model = vendor.model;
  const tab = await providerTab({ clock, ids: createFakeIds(), log: memoryLog(), tools, models, model });
  return { clock, tab };
}

const script: readonly ScriptItem[] = [
  {
    blocks: [
      { type: "text", text: "I look first." },
      { type: "tool_use", id: "call_1", name: "bash", input: { command: "ls" } },
      { type: "tool_use", id: "call_2", name: "bash", rawInput: '{ "command": "pwd" }' },
    ],
  },
  { blocks: [{ type: "text", text: "Two files 😀." }], usage: { input: 30, cacheRead: 20, cacheWrite: 5, output: 7 } },
  { blocks: [{ type: "text", text: "You are welcome." }] },
];

describe.each(vendors)("over real HTTP: $name", (vendor) => {
  test("[LOOP-18] a turn with tools, then another: every request extends the last one", async () => {
    await using provider = await createFakeProvider({ script });
    const { tab } = await tabOn(provider, vendor);
    await tab.send("what is here?");
    await tab.idle();
    await tab.send("thanks");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual([
      "user:what is here?",
      "text:I look first.",
      "call:call_1",
      "call:call_2",
      "result:call_1=ran ls",
      "result:call_2=ran pwd",
      "text:Two files 😀.",
      "end:done",
      "user:thanks",
      "text:You are welcome.",
      "end:done",
    ]);
    expect(verifyRows(tab.rows)).toEqual([]);
    await provider.idle();
    expect(provider.calls.map((call) => call.outcome())).toEqual(["answered", "answered", "answered"]);
    const bodies = provider.calls.map((call) => vendor.blocks(call.body));
    expect(isBlockPrefix(bodies[0] ?? [], bodies[1] ?? [])).toBe(true);
    expect(isBlockPrefix(bodies[1] ?? [], bodies[2] ?? [])).toBe(true);
    const call = tab.rows.find((row) => row.type === "tool_call" && row.data.callId === "call_2");
    expect(call?.data).toMatchObject({ argsText: '{ "command": "pwd" }', arguments: { command: "pwd" } });
  });

  test("[ASM-10] the second step's usage is what the provider told", async () => {
    await using provider = await createFakeProvider({ script });
    const { tab } = await tabOn(provider, vendor);
    await tab.send("what is here?");
    await tab.idle();
    const usage = tab.rows.findLast((row) => isKind(row, "usage"));
    expect(usage?.data).toMatchObject({ model: vendor.model, read: 20, output: 7 });
  });

  test("[LOOP-5] H24(a) 429 with Retry-After is waited for", async () => {
    const busy = { fail: { kind: "status" as const, status: 429, headers: { "retry-after": "3" } } };
    await using provider = await createFakeProvider({ script: [busy, { blocks: [{ type: "text", text: "ok" }] }] });
    const { tab, clock } = await tabOn(provider, vendor);
    await tab.send("go");
    await tab.until(() => tab.retries.length === 1);
    expect((tab.retries[0]?.at ?? 0) - clock.now()).toBe(3_000);
    await clock.advance(3_000);
    await tab.idle();
    expect(provider.calls).toHaveLength(2);
    expect(wordsOf(tab.rows)).toEqual(["user:go", "text:ok", "end:done"]);
  });

  test.each<[string, ScriptItem]>([
    [
      "overloaded inside a good answer",
      { blocks: [{ type: "text", text: "Hel" }], fail: { kind: "error-event", at: "start" } },
    ],
    [
      "overloaded behind some text",
      { blocks: [{ type: "text", text: "Hel" }], fail: { kind: "error-event", at: "end" } },
    ],
    [
      "cut in the middle",
      { blocks: [{ type: "text", text: "Hello, how are you today?" }], fail: { kind: "cut", at: 1 } },
    ],
    [
      "ended without the end event",
      { blocks: [{ type: "text", text: "Hel" }], fail: { kind: "clean-end", at: "end" } },
    ],
    [
      "ended inside a call's arguments",
      {
        blocks: [{ type: "tool_use", name: "bash", input: { command: "rm -rf /tmp/never" } }],
        fail: { kind: "cut", at: 1 },
      },
    ],
  ])("[LOOP-6] H24(b)(c) H06 %s: tried again, no trace of the failed try on the wire", async (_name, first) => {
    await using provider = await createFakeProvider({ script: [first, { blocks: [{ type: "text", text: "whole" }] }] });
    const { tab, clock } = await tabOn(provider, vendor);
    await tab.send("go");
    await tab.until(() => tab.retries.length === 1);
    await clock.advance(60_000);
    await tab.idle();
    const words = wordsOf(tab.rows).filter((word) => !word.startsWith("void"));
    expect(words.slice(-2)).toEqual(["text:whole", "end:done"]);
    expect(words.some((word) => word.startsWith("result"))).toBe(false);
    expect(vendor.blocks(provider.calls[1]?.body)).toEqual(vendor.blocks(provider.calls[0]?.body));
  });

  test("[LOOP-5] H24(d) an open socket that says nothing is given up after its limit", async () => {
    const silent: ScriptItem = {
      blocks: [{ type: "text", text: "Hello there, you" }],
      fail: { kind: "silence", at: 1 },
    };
    await using provider = await createFakeProvider({
      script: [silent, { blocks: [{ type: "text", text: "whole" }] }],
    });
    const { tab, clock } = await tabOn(provider, vendor);
    await tab.send("go");
    await tab.until(() => tab.open.size === 1);
    await clock.advance(2_500);
    await tab.until(() => tab.retries.length === 1);
    await clock.advance(60_000);
    await tab.idle();
    expect(wordsOf(tab.rows).slice(-2)).toEqual(["text:whole", "end:done"]);
  });

  test("[LOOP-7] H24(f) a bad key is told without the key, and not tried again", async () => {
    const refused: ScriptItem = { fail: { kind: "status", status: 401, message: "invalid key", echoKey: true } };
    await using provider = await createFakeProvider({ script: [refused] });
    const { tab } = await tabOn(provider, vendor);
    await tab.send("go");
    await tab.idle();
    expect(provider.calls).toHaveLength(1);
    expect(wordsOf(tab.rows)).toEqual(["user:go", "error:credential-refused", "end:error"]);
    expect(JSON.stringify(tab.rows)).not.toMatch(/test-key/);
  });

  test("[LOOP-8] H25 a stop during text ends the request, and the partial text is in the next one", async () => {
    const long: ScriptItem = {
      blocks: [{ type: "text", text: "one two three four five six seven eight" }],
      holdAfter: 1,
    };
    await using provider = await createFakeProvider({ script: [long, { blocks: [{ type: "text", text: "fine" }] }] });
    const { tab } = await tabOn(provider, vendor);
    await tab.send("go");
    await tab.until(() => tab.open.size === 1);
    tab.stop();
    await tab.idle();
    await provider.idle();
    expect(provider.calls[0]?.outcome()).toBe("caller-gone");
    await tab.send("and now?");
    await tab.idle();
    const kept = tab.rows.find((row) => row.type === "text" && row.data.partial === true);
    expect(kept?.type === "text" && JSON.stringify(provider.calls[1]?.body).includes(kept.data.text)).toBe(true);
    await settle();
  });
});

test("[ASM-2] H01 a signature that comes by an empty delta is sealed, sent back, and accepted by the provider's own rules", async () => {
  await using provider = await createFakeProvider({
    script: [
      {
        blocks: [
          { type: "thinking", text: "" },
          { type: "text", text: "Looking." },
          { type: "thinking", text: "again" },
          { type: "tool_use", name: "bash", input: { command: "ls" } },
        ],
      },
      { blocks: [{ type: "redacted_thinking" }, { type: "text", text: "done" }] },
      { blocks: [{ type: "text", text: "fine" }] },
    ],
  });
  const { tab } = await tabOn(provider, { ...vendors[0], model: "anthropic/claude-sonnet-4-5" });
  await tab.send("go");
  await tab.idle();
  await tab.send("more");
  await tab.idle();
  expect(wordsOf(tab.rows).at(-1)).toBe("end:done");
  const thinking = tab.rows.flatMap((row) => (row.type === "thinking" ? [row.data] : []));
  expect(thinking).toHaveLength(3);
  for (const data of thinking) expect(Object.keys(data.metadata ?? {})).toEqual(["anthropic"]);
  const [first, second, third] = provider.calls.map((call) => anthropicBlocks(call.body));
  expect(isBlockPrefix(first ?? [], second ?? [])).toBe(true);
  expect(isBlockPrefix(second ?? [], third ?? [])).toBe(true);
  expect(JSON.stringify(provider.calls[1]?.body)).toContain('"type":"thinking"');
});
