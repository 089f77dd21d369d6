/** Interrupted histories: for each situation what stands in the rows afterwards, and what the next request says of it. */
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { memoryLog, verifyRows } from "@varve/log";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { fakeToolBox, ok, untilStopped } from "./testing/fake-tools.ts";
import type { PlainTab } from "./testing/plain-owner.ts";
import type { Answer, ScriptedPart } from "./testing/script-model.ts";
import { call, finish, say, scriptModel } from "./testing/script-model.ts";
import { startTab, wordsOf } from "./testing/world.ts";

const overloaded: ScriptedPart = { type: "throw", error: { message: "Overloaded", type: "overloaded_error" } };
const refused: Answer = { refuse: { message: "no", type: "invalid_request_error" } };
const hang: ScriptedPart = { type: "hang" };
const fine: Answer = [...say("fine"), finish()];
const half = (text: string): readonly ScriptedPart[] => say(text).slice(0, 2);
const thinks = (signature?: string): readonly ScriptedPart[] => [
  { type: "reasoning-start", id: "r" },
  { type: "reasoning-delta", id: "r", delta: "hmm" },
  ...(signature === undefined
    ? []
    : ([{ type: "reasoning-delta", id: "r", delta: "", providerMetadata: { anthropic: { signature } } }] as const)),
];
const thought: ScriptedPart = { type: "reasoning-end", id: "r" };
const inputBegan: readonly ScriptedPart[] = [
  { type: "tool-input-start", id: "B", toolName: "echo" },
  { type: "tool-input-delta", id: "B", delta: '{"a' },
];

async function world(answers: readonly Answer[]) {
  const clock = createFakeClock();
  const model = scriptModel(clock, answers);
  const tools = fakeToolBox([
    { name: "echo", run: () => ok("done") },
    { name: "slow", run: (run) => untilStopped(run) },
  ]);
  const ids = createFakeIds();
  const limits = { retriesMax: 1 };
  const tab = await startTab({ log: memoryLog(), clock, ids, tools, models: model.models, limits });
  return { tab, clock, requests: model.requests };
}

/** `U[go] A[th text call(A)] T[done]`: the prompt without its system messages. */
function short({ prompt }: LanguageModelV3CallOptions): string {
  return prompt
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) => `${role.charAt(0).toUpperCase()}[${[...content].map(partOf).join(" ")}]`)
    .join(" ");
}
function partOf(part: string | { readonly type: string }): string {
  if (typeof part === "string") return part;
  const told = JSON.stringify(part);
  if (part.type === "tool-call") return `call(${/"toolCallId":"([^"]+)"/.exec(told)?.[1]})`;
  if (part.type === "reasoning") return "th";
  if (part.type === "tool-result")
    return `${/"toolCallId":"([^"]+)"/.exec(told)?.[1]}=${/"value":"([^"]*)"/.exec(told)?.[1]}`;
  return /"text":"([^"]*)"/.exec(told)?.[1] ?? part.type;
}

interface Repair {
  readonly answers: readonly Answer[];
  /** What happens while the first turn runs. */
  readonly when?: (tab: PlainTab) => Promise<void>;
  /** Rows of the first turn. */
  readonly rows: readonly string[];
  /** The request that answers the next message. */
  readonly wire: string;
}

const stopAt = (met: (tab: PlainTab) => boolean) => async (tab: PlainTab) => {
  await tab.until(() => met(tab));
  tab.stop();
};
const neverRun = "not run: the answer that asked for this call broke off";

const table: Readonly<Record<string, Repair>> = {
  "a call without a result (stopped)": {
    answers: [[call("A", "slow", {}), finish("tool-calls")], fine],
    when: stopAt((tab) => tab.rows.some((row) => row.type === "tool_call")),
    rows: ["call:A", "result!:A=stopped by user", "end:stopped"],
    wire: "U[go] A[call(A)] T[A=stopped by user] U[next]",
  },
  "partial text, stopped": {
    answers: [[...half("par"), hang], fine],
    when: stopAt((tab) => tab.open.size > 0),
    rows: ["text?:par", "end:stopped"],
    wire: "U[go] A[par] U[next]",
  },
  "partial text, tried again": {
    answers: [[...half("par"), overloaded], [...say("whole"), finish()], fine],
    rows: ["text:whole", "end:done"],
    wire: "U[go] A[whole] U[next]",
  },
  "sealed text, tried again: voided before the retry": {
    answers: [[...say("first"), overloaded], [...say("whole"), finish()], fine],
    rows: ["text:first", "void:0", "text:whole", "end:done"],
    wire: "U[go] A[whole] U[next]",
  },
  "thinking without a signature, stopped": {
    answers: [[...thinks(), hang], fine],
    when: stopAt((tab) => [...tab.open.values()].some(({ text }) => text === "hmm")),
    rows: ["thinking?:hmm", "end:stopped"],
    wire: "U[go] U[next]",
  },
  "signed thinking, cut before text or call": {
    answers: [[...thinks("S1"), thought, hang], fine],
    when: stopAt((tab) => tab.rows.some((row) => row.type === "thinking")),
    rows: ["thinking:hmm", "end:stopped"],
    wire: "U[go] U[next]",
  },
  "a call's input cut in the middle": {
    answers: [[...say("I call"), ...inputBegan, hang], fine],
    when: stopAt((tab) => tab.rows.some((row) => row.role === "assistant")),
    rows: ["text:I call", "end:stopped"],
    wire: "U[go] A[I call] U[next]",
  },
  "all calls sealed, then cut: voided and tried again": {
    answers: [[call("A", "echo", {}), overloaded], [...say("whole"), finish()], fine],
    rows: ["call:A", "void:0", "text:whole", "end:done"],
    wire: "U[go] A[whole] U[next]",
  },
  "all calls sealed, then cut for good: error results": {
    answers: [[call("A", "echo", {}), overloaded], [call("B", "echo", {}), overloaded], fine],
    rows: ["call:A", "void:0", "call:B", `result!:B=${neverRun}`, "error:provider-overloaded", "end:error"],
    wire: `U[go] A[call(B)] T[B=${neverRun}] U[next]`,
  },
  "nothing came at all": {
    answers: [refused, fine],
    rows: ["error:provider-refused", "end:error"],
    wire: "U[go] U[next]",
  },
  "an empty answer": {
    answers: [[finish()], fine],
    rows: ["notice:empty-answer", "end:done"],
    wire: "U[go] U[next]",
  },
  "refused in the middle": {
    answers: [[...say("I can"), finish("content-filter")], fine],
    rows: ["text:I can", "void:0", "error:provider-refused", "end:error"],
    wire: "U[go] U[next]",
  },
  "the length limit behind text": {
    answers: [[...say("long"), finish("length")], [...say("rest"), finish()], fine],
    rows: ["text:long", "user:continue", "text:rest", "end:done"],
    wire: "U[go] A[long] U[continue] A[rest] U[next]",
  },
};

describe("repairs", () => {
  test.each(Object.entries(table))("[AGENT-135] %s", async (_name, repair) => {
    const { tab, clock, requests } = await world(repair.answers);
    await tab.send("go");
    await repair.when?.(tab);
    for (let round = 0; round < 4 && tab.turnId !== null; round++) await clock.advance(60_000);
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", ...repair.rows]);
    await tab.send("next");
    await tab.idle();
    expect(short(requests.at(-1) ?? expect.fail("a request"))).toBe(repair.wire);
    expect(wordsOf(tab.rows).slice(-2)).toEqual(["text:fine", "end:done"]);
    expect(verifyRows(tab.rows)).toEqual([]);
  });

  test("[AGENT-135] a request that failed before any byte is sent again, byte for byte", async () => {
    const busy: Answer = { refuse: { message: "Overloaded", type: "overloaded_error" } };
    const { tab, clock, requests } = await world([busy, fine]);
    await tab.send("go");
    await clock.advance(60_000);
    await tab.idle();
    expect(requests).toHaveLength(2);
    expect(JSON.stringify(requests[1]?.prompt)).toBe(JSON.stringify(requests[0]?.prompt));
    expect(wordsOf(tab.rows)).toEqual(["user:go", "text:fine", "end:done"]);
  });

  test("[AGENT-135] a message that came during a failing request is a message of its own behind the first", async () => {
    const { tab, requests } = await world([refused, fine]);
    await tab.send("go");
    await tab.idle();
    await tab.send("one more");
    await tab.idle();
    expect(short(requests.at(-1) ?? expect.fail("a request"))).toBe("U[go] U[one more]");
  });
});
