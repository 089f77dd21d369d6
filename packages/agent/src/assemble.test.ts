import { type ChunkId, idMaker, limits, type NewRow, parseTurnId, type TurnId } from "@varve/protocol";
import { countingIdTexts } from "@varve/sim";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AssembleOp, AssembleState } from "./assemble.ts";
import { assemble, cutStep, mergeMetadata, startStep, voidStep } from "./assemble.ts";
import type { ModelPart } from "./model/model.ts";
import { finish, say } from "./testing/script-model.ts";
import { wordsOf } from "./testing/world.ts";

const turnId: TurnId = parseTurnId("t1") ?? expect.fail("a legal id");

function run(parts: readonly ModelPart[], used: readonly string[] = []) {
  const ids = idMaker(countingIdTexts());
  const env = { now: 5, newId: () => ids.chunk() };
  let state: AssembleState = startStep({
    turnId,
    step: 3,
    model: "c/m",
    modelScope: "anthropic:m",
    usedCallIds: new Set(used),
  });
  const ops: AssembleOp[] = [];
  for (const part of parts) {
    const next = assemble(state, part, env);
    state = next.state;
    ops.push(...next.ops);
  }
  return { state, ops, env, rows: rowsOf(ops) };
}

const rowsOf = (ops: readonly AssembleOp[]): readonly NewRow[] =>
  ops.flatMap((op) => (op.op === "seal" ? [op.row] : []));
const words = (rows: readonly NewRow[]) => wordsOf(rows.map((row, index) => ({ ...row, seq: index + 1, term: 1 })));

const think = (text: string, id = "k", signature?: string): readonly ModelPart[] => [
  { type: "reasoning-start", id },
  { type: "reasoning-delta", id, delta: text },
  ...(signature === undefined
    ? []
    : [{ type: "reasoning-delta" as const, id, delta: "", providerMetadata: { anthropic: { signature } } }]),
  { type: "reasoning-end", id },
];
const call = (toolCallId: string, input = "{}", toolName = "bash"): ModelPart => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input,
});

describe("order", () => {
  test("[ASM-1] B15: blocks seal in opening order, a text that ends behind a call stands before it", () => {
    const { ops, rows } = run([
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "hi" },
      { type: "tool-input-start", id: "A", toolName: "bash" },
      { type: "tool-input-end", id: "A" },
      call("A"),
      { type: "text-end", id: "0" },
      finish("tool-calls"),
    ]);
    expect(words(rows)).toEqual(["text:hi", "call:A"]);
    expect(ops.map((op) => op.op)).toEqual(["open", "grow", "seal", "seal"]);
  });

  test("[ASM-1] a block seals as soon as all before it have, not at the finish", () => {
    const { rows } = run([...think("hm", "k", "S"), ...say("one", "0"), { type: "text-start", id: "1" }]);
    expect(words(rows)).toEqual(["thinking:hm", "text:one"]);
  });

  test("[ASM-1] text that opens before the thinking ends waits for it", () => {
    const { rows } = run([
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      ...say("answer"),
      { type: "reasoning-end", id: "r" },
      finish(),
    ]);
    expect(words(rows)).toEqual(["thinking:hm", "text:answer"]);
  });

  test("[ASM-1] ids of a provider may repeat within a step", () => {
    const { rows } = run([...say("a", "0"), call("A"), ...say("b", "0"), call("B"), finish("tool-calls")]);
    expect(words(rows)).toEqual(["text:a", "call:A", "text:b", "call:B"]);
  });

  test("[ASM-11] rows carry the step, and their index rises in opening order", () => {
    const { ops } = run([...think("x"), ...say("y"), finish()]);
    const opened = ops.flatMap((op) => (op.op === "open" ? [[op.block.type, op.block.index, op.block.step]] : []));
    expect(opened).toEqual([
      ["thinking", 0, 3],
      ["text", 1, 3],
    ]);
  });
});

describe("metadata", () => {
  test.each<[string, readonly ModelPart[], unknown]>([
    ["an empty delta", think("", "k", "SIG"), { anthropic: { signature: "SIG" } }],
    [
      "the start alone",
      [
        { type: "reasoning-start", id: "k", providerMetadata: { anthropic: { redactedData: "RD" } } },
        { type: "reasoning-end", id: "k" },
      ],
      { anthropic: { redactedData: "RD" } },
    ],
    [
      "start and end: the end wins, null does not",
      [
        {
          type: "reasoning-start",
          id: "k",
          providerMetadata: { openai: { itemId: "rs", reasoningEncryptedContent: "early" } },
        },
        {
          type: "reasoning-end",
          id: "k",
          providerMetadata: { openai: { itemId: null, reasoningEncryptedContent: "final" } },
        },
      ],
      { openai: { itemId: "rs", reasoningEncryptedContent: "final" } },
    ],
  ])("[ASM-2] B16: thinking keeps what came with %s", (_name, parts, metadata) => {
    const { rows } = run([...parts, finish()]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.data).toMatchObject({ metadata, modelScope: "anthropic:m" });
  });

  test("[ASM-2] what came with a call is kept with the model that may see it, and a bare call names none", () => {
    const call = (id: string, providerMetadata?: { google: { thoughtSignature: string } }): ModelPart => ({
      type: "tool-call",
      toolCallId: id,
      toolName: "bash",
      input: "{}",
      ...(providerMetadata && { providerMetadata }),
    });
    const { rows } = run([call("a", { google: { thoughtSignature: "G" } }), call("b"), finish()]);
    expect(rows.map(({ data }) => data)).toMatchObject([
      { callId: "a", providerMetadata: { google: { thoughtSignature: "G" } }, modelScope: "anthropic:m" },
      { callId: "b" },
    ]);
    expect(rows[1]?.data).not.toHaveProperty("modelScope");
  });

  test("[ASM-2] a token on an empty text is kept with the models that may see it", () => {
    const { rows } = run([
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "", providerMetadata: { google: { thoughtSignature: "G" } } },
      { type: "text-end", id: "t" },
      finish(),
    ]);
    expect(rows[0]?.data).toEqual({
      text: "",
      providerMetadata: { google: { thoughtSignature: "G" } },
      modelScope: "anthropic:m",
    });
  });

  test("[ASM-2] merging is last non-null per key for any sequence", () => {
    const values = fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom(null, 1, 2, "x"));
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.constantFrom("p", "q"), values)), (parts) => {
        const merged = parts.reduce<ReturnType<typeof mergeMetadata>>(mergeMetadata, undefined);
        const expected: Record<string, Record<string, unknown>> = {};
        for (const part of parts) {
          for (const [provider, keys] of Object.entries(part)) {
            for (const [key, value] of Object.entries(keys)) {
              if (value !== null) expected[provider] = { ...expected[provider], [key]: value };
            }
          }
        }
        expect(merged ?? {}).toEqual(expected);
      }),
    );
  });
});

describe("calls", () => {
  test.each([
    ['{"z":1.0,"a":12345678901234567890}', { z: 1, a: 12345678901234567000 }],
    ["", {}],
    ["  ", {}],
    ['{"todos":[{"content" "x"}]}', { _invalid: '{"todos":[{"content" "x"}]}' }],
    ["[1]", { _invalid: "[1]" }],
    ["null", { _invalid: "null" }],
  ])("[ASM-3] %s is kept as it was written, beside an object", (argsText, args) => {
    const { rows } = run([call("A", argsText), finish("tool-calls")]);
    expect(rows[0]?.data).toMatchObject({ argsText, arguments: args });
  });

  test("[ASM-3] arguments nested without end count as invalid, so that they can be written", () => {
    const deep = `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    const { rows } = run([call("A", deep), finish("tool-calls")]);
    expect(rows[0]?.data).toMatchObject({ arguments: { _invalid: deep } });
  });

  test("[ASM-4] an id that is missing, used in the log or twice in the step is replaced and kept beside", () => {
    const { rows } = run([call("old"), call("B"), call("B"), call(""), finish("tool-calls")], ["old"]);
    const data = rows.flatMap((row) => (row.type === "tool_call" ? [row.data] : []));
    expect(new Set(data.map((one) => one.callId)).size).toBe(4);
    expect(data.map((one) => one.callId === "B")).toEqual([false, true, false, false]);
    expect(data.map((one) => one.providerMetadata)).toEqual([
      { varve: { providerCallId: "old" } },
      undefined,
      { varve: { providerCallId: "B" } },
      { varve: { providerCallId: "" } },
    ]);
  });

  test("[ASM-4] a name with illegal letters is made legal, the model's own is kept beside", () => {
    const { rows } = run([call("A", "{}", "functions.bash 1"), finish("tool-calls")]);
    expect(rows[0]?.data).toMatchObject({
      name: "functions_bash_1",
      providerMetadata: { varve: { providerName: "functions.bash 1" } },
    });
  });

  test("[ASM-8] a call whose whole never came has no row, at a finish and at a stop", () => {
    const half: readonly ModelPart[] = [
      ...say("I run it."),
      { type: "tool-input-start", id: "A", toolName: "bash" },
      { type: "tool-input-delta", id: "A", delta: '{"command":"rm -rf /tmp/a' },
    ];
    expect(words(run([...half, finish("length")]).rows)).toEqual(["text:I run it."]);
    const stopped = run(half);
    expect(words([...stopped.rows, ...rowsOf(cutStep(stopped.state, stopped.env).ops)])).toEqual(["text:I run it."]);
  });

  test("[ASM-8] calls that the provider runs itself are none of ours", () => {
    const { rows } = run([
      { ...call("A"), type: "tool-call", toolCallId: "A", toolName: "web", input: "{}", providerExecuted: true },
      finish(),
    ]);
    expect(rows).toEqual([]);
  });
});

describe("text", () => {
  test("[ASM-5] H08(c) halves of a pair in two deltas are one character in the row", () => {
    const { ops, rows } = run([
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "\ud83d" },
      { type: "text-delta", id: "t", delta: "\ude00" },
      { type: "text-end", id: "t" },
      finish(),
    ]);
    expect(rows[0]?.data).toEqual({ text: "😀" });
    expect(ops.flatMap((op) => (op.op === "grow" ? [op.text] : []))).toEqual(["\ud83d", "\ude00"]);
  });

  test("[ASM-5] a half that stays alone becomes U+FFFD", () => {
    expect(run([...say("a\ud83d b"), finish()]).rows[0]?.data).toEqual({ text: "a\ufffd b" });
  });

  test("[ASM-6] a text over the limit goes on in a new block, no character is cut or lost", () => {
    const long = `${"x".repeat(limits.openTextCharsMax - 1)}😀${"y".repeat(10)}`;
    const { rows } = run([...say(long), finish()]);
    const texts = rows.flatMap((row) => (row.type === "text" ? [row.data.text] : []));
    expect(texts.map((text) => text.length)).toEqual([limits.openTextCharsMax - 1, 12]);
    expect(texts.join("")).toBe(long);
  });

  test("[ASM-6] one huge delta is cut as often as needed, and thinking never", () => {
    const long = "x".repeat(limits.openTextCharsMax * 2 + 3);
    const { rows } = run([...think(long, "k", "S"), ...say(long), finish()]);
    expect(rows.map((row) => row.type)).toEqual(["thinking", "text", "text", "text"]);
  });

  test("[ASM-7] blank text is never opened and has no row", () => {
    const { ops } = run([...say("  \n"), call("A"), ...say(""), finish("tool-calls")]);
    expect(ops.map((op) => op.op)).toEqual(["seal"]);
  });

  test("[ASM-7] leading blanks come with the first ink", () => {
    const { ops, rows } = run([
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: " \n" },
      { type: "text-delta", id: "t", delta: "a" },
      { type: "text-end", id: "t" },
    ]);
    expect(ops.flatMap((op) => (op.op === "grow" ? [op.text] : []))).toEqual([" \na"]);
    expect(words(rows)).toEqual(["text: \na"]);
  });

  test.each<[string, readonly ModelPart[], readonly string[]]>([
    [
      "between two thinking blocks it is kept as one space",
      [...think("a", "1", "S"), ...say(""), ...think("b", "2", "S")],
      ["thinking:a", "text: ", "thinking:b"],
    ],
    [
      "behind thinking and before text it goes",
      [...think("a", "1", "S"), ...say("\n"), ...say("x")],
      ["thinking:a", "text:x"],
    ],
    ["at the end it goes", [...think("a", "1", "S"), ...say(" ")], ["thinking:a"]],
    [
      "of two, one is kept",
      [...think("a", "1", "S"), ...say(""), ...say(" "), ...think("b", "2", "S")],
      ["thinking:a", "text: ", "thinking:b"],
    ],
  ])("[ASM-7] blank text: %s", (_name, parts, expected) => {
    expect(words(run([...parts, finish()]).rows)).toEqual(expected);
  });

  test("[ASM-7] thinking without text and token is dropped, with a token it is kept", () => {
    expect(run([...think(""), ...say("x"), finish()]).ops.map((op) => op.op)).toEqual([
      "open",
      "drop",
      "open",
      "grow",
      "seal",
    ]);
    expect(words(run([...think("", "k", "S"), ...say("x"), finish()]).rows)).toEqual(["thinking:", "text:x"]);
  });
});

describe("cut steps", () => {
  const begun: readonly ModelPart[] = [
    ...think("hm", "k", "S"),
    call("A"),
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "half" },
  ];
  test("[ASM-9] at a stop the open text is sealed as partial under its own id", () => {
    const { state, ops, env } = run(begun);
    const opened = ops.flatMap((op) => (op.op === "open" && op.block.type === "text" ? [op.block.id] : []));
    const rows = rowsOf(cutStep(state, env).ops);
    expect(words(rows)).toEqual(["text?:half"]);
    expect(rows.map((row) => row.id)).toEqual(opened);
  });
  test("[ASM-9] open thinking is partial, and a block that had ended is whole", () => {
    const { state, env } = run([
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      ...say("whole"),
    ]);
    expect(words(rowsOf(cutStep(state, env).ops))).toEqual(["thinking?:hm", "text:whole"]);
  });
  test("[ASM-9] for a retry what is open is dropped and nothing sealed", () => {
    const { state, ops } = run(begun);
    const opened = ops.flatMap((op) => (op.op === "open" && op.block.type === "text" ? [op.block.id] : []));
    expect(voidStep(state)).toEqual(opened.map((id) => ({ op: "drop", id })));
  });
});

/** Any stream that a provider could send, well-behaved or not. */
const anyPart: fc.Arbitrary<ModelPart> = fc.oneof(
  fc.record({
    type: fc.constantFrom("text-start", "reasoning-start", "text-end", "reasoning-end"),
    id: fc.constantFrom("0", "1"),
  }),
  fc.record({
    type: fc.constantFrom("text-delta", "reasoning-delta"),
    id: fc.constantFrom("0", "1", "2"),
    delta: fc.constantFrom("", " ", "\n", "a", "bc", "\ud83d", "\ude00"),
  }),
  fc.record({
    type: fc.constantFrom("reasoning-delta", "text-delta"),
    id: fc.constantFrom("0", "1"),
    delta: fc.constant(""),
    providerMetadata: fc.constant({ anthropic: { signature: "S" } }),
  }),
  fc.record({ type: fc.constant("tool-input-start"), id: fc.constantFrom("A", "B"), toolName: fc.constant("bash") }),
  fc.record({
    type: fc.constant("tool-call"),
    toolCallId: fc.constantFrom("A", "B", ""),
    toolName: fc.constant("bash"),
    input: fc.constantFrom("{}", "", "{"),
  }),
);

test("[ASM-12] in any stream every opened block is sealed or dropped once, and what grew is what is sealed", () => {
  fc.assert(
    fc.property(fc.array(anyPart, { maxLength: 30 }), fc.constantFrom("finish", "cut", "void"), (parts, ending) => {
      const made = run(parts);
      const last =
        ending === "void"
          ? voidStep(made.state)
          : ending === "cut"
            ? cutStep(made.state, made.env).ops
            : assemble(made.state, finish(), made.env).ops;
      check([...made.ops, ...last]);
    }),
    { numRuns: 3000 },
  );
});

function check(ops: readonly AssembleOp[]): void {
  const open = new Map<ChunkId, string>();
  const closed = new Set<ChunkId>();
  const callIds: string[] = [];
  for (const op of ops) {
    const id = op.op === "open" ? op.block.id : op.op === "seal" ? op.row.id : op.id;
    expect(closed.has(id)).toBe(false);
    if (op.op === "open") open.set(id, "");
    else if (op.op === "grow") open.set(id, (open.get(id) ?? expect.fail("grew unopened")) + op.text);
    else {
      closed.add(id);
      if (op.op === "seal" && (op.row.type === "text" || op.row.type === "thinking")) {
        expect(op.row.data.text.length).toBe((open.get(id) ?? op.row.data.text).length);
        expect(op.row.data.text.isWellFormed()).toBe(true);
      }
      if (op.op === "seal" && op.row.type === "tool_call") callIds.push(op.row.data.callId);
      open.delete(id);
    }
  }
  expect([...open.keys()]).toEqual([]);
  expect(new Set(callIds).size).toBe(callIds.length);
}
