/** Recorded provider streams, assembled into rows, and those rows folded into the next request. */
import type { LanguageModelV3, LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import { isFault, type NewRow, type StoredRow } from "@varve/protocol";
import { newRowSchema } from "@varve/protocol/schema";
import { buildRequest, makePrefixData } from "@varve/wire";
import { describe, expect, test } from "vitest";
import { providerFactories } from "./model/factories.ts";
import { assembledRecording, credentialOf, type Recording, recordings, targetOf } from "./testing/recorded-stream.ts";

const found = recordings();
/** Recordings whose stream is broken on purpose, or that tell of an error. */
const broken = /spliced-message-start|openai-error/;
const whole = found.filter(({ name }) => !broken.test(name)).map((one) => [one.name, one] as const);

/** Every token in the recording that the provider will want back. Encrypted content is what it is when its item is done. */
function tokensOf({ dialect, events }: Recording): readonly string[] {
  const all = (pattern: RegExp, within = events): readonly string[] =>
    [...within.join("\n").matchAll(pattern)].map((match) => match[1] ?? "");
  const done = events.filter((event) => event.startsWith('{"type":"response.output_item.done"'));
  if (dialect === "openai") return all(/"encrypted_content":"([^"]+)"/g, done);
  return all(/"(?:signature|thoughtSignature)":"([^"]+)"/g).map((token) => JSON.parse(`"${token}"`));
}

describe.runIf(found.length > 0).each(whole)("recorded stream: %s", (_, recording) => {
  test("[ASM-1] it ends cleanly, its rows stand in opening order and hold every character", async () => {
    const { rows, starts, last, state } = await assembledRecording(recording);
    expect(last?.type).toBe("finish");
    expect(state.blocks).toEqual([]);
    // Blank blocks have no row: what is left of the openings is the rows' order.
    let at = 0;
    for (const row of rows) {
      const place = starts.indexOf(row.type, at);
      expect(place).toBeGreaterThanOrEqual(at);
      at = place + 1;
    }
    for (const row of rows) {
      if (row.type !== "tool_call" || "_invalid" in row.data.arguments) continue;
      expect(JSON.parse(row.data.argsText || "{}")).toEqual(row.data.arguments);
    }
    expect(state.finish?.usage.output).not.toBe(undefined);
  });

  test("[ASM-2] every block that a provider signed keeps its token, and the model it is bound to", async () => {
    const { rows } = await assembledRecording(recording);
    const scope = targetOf(recording).modelScope;
    const kept = JSON.stringify(rows.map((row) => ("metadata" in row.data ? row.data.metadata : tokenOf(row, scope))));
    for (const token of tokensOf(recording)) expect(kept).toContain(JSON.stringify(token));
  });

  test("[ASM-2] through the fold and the provider's package everything goes back in its order", async () => {
    const { rows } = await assembledRecording(recording);
    const body = await nextBody(recording, rows);
    // A token on a block that is not sent again has nowhere to stand: there must be another block to say so.
    for (const token of tokensOf(recording)) expect(body).toContain(JSON.stringify(token));
    const sent = rows.flatMap((row) => {
      if (row.type === "text") return /\S/.test(row.data.text) ? [JSON.stringify(row.data.text)] : [];
      return row.type === "tool_call" ? [`"${row.data.name}"`] : [];
    });
    let at = 0;
    for (const text of sent) {
      const place = body.indexOf(text, at);
      expect(place).toBeGreaterThanOrEqual(at);
      at = place;
    }
  });
});

const tokenOf = (row: NewRow, scope: string): unknown =>
  (row.type === "text" || row.type === "tool_call") && row.data.modelScope === scope ? row.data.providerMetadata : null;

/** What goes out after the recorded answer: its rows, a result for each call, and a person's next message. */
async function nextBody(recording: Recording, rows: readonly NewRow[]): Promise<string> {
  const base = (id: string, turnId: string) => ({ id, turnId, step: 0, createdAt: 0 });
  const prefix = makePrefixData({ system: ["SYS"], tools: [] });
  const results = rows.flatMap((row) =>
    row.type === "tool_call"
      ? [
          {
            ...base(`r-${row.id}`, "t1"),
            role: "tool",
            type: "tool_result",
            data: { callId: row.data.callId, name: row.data.name, result: "ok", isError: false },
          },
        ]
      : [],
  );
  const log = [
    { ...base("p", ""), role: "system", type: "system", data: prefix },
    { ...base("u1", "t1"), role: "user", type: "text", data: { text: "go" } },
    ...rows,
    ...results,
    { ...base("u2", "t2"), role: "user", type: "text", data: { text: "next" } },
  ].map((row, index): StoredRow => ({ ...newRowSchema.parse(row), seq: index + 1, term: 1 }));
  const built = buildRequest({ rows: log, target: targetOf(recording), modelName: "x", effort: "default" });
  if (isFault(built)) throw new Error(built.message);
  expect(built.violations).toEqual([]);
  let body = "";
  const fetch: typeof globalThis.fetch = async (_input, init) => {
    body = String(init?.body);
    return new Response("data: [DONE]\n\n", { headers: { "content-type": "text/event-stream" } });
  };
  const { dialect, model } = recording;
  const instance: LanguageModelV3 = (await providerFactories(fetch)[dialect](credentialOf(dialect)))(model);
  await instance.doStream({ ...built.options, prompt: built.messages });
  return body;
}

describe.runIf(found.length > 0)("a call that wraps several", () => {
  test("[ASM-1] it becomes the calls inside it, each with an id of its own", async () => {
    const recording = found.find(({ name }) => name.includes("parallel-tool-call-wrapper"));
    if (recording === undefined) expect.fail("the recording is there");
    const tools = ["weather", "cityAttractions"].map((name): LanguageModelV3FunctionTool => {
      return { type: "function", name, inputSchema: { type: "object" } };
    });
    const { rows } = await assembledRecording(recording, { tools });
    const calls = rows.flatMap((row) => (row.type === "tool_call" ? [row.data] : []));
    expect(calls.map(({ name }) => name)).toEqual(["weather", "cityAttractions"]);
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(2);
    const body = JSON.parse(await nextBody(recording, rows));
    const kinds = body.input.map((item: { type?: string; role?: string }) => item.type ?? item.role);
    expect(kinds.slice(2)).toEqual([
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
      "user",
    ]);
  });
});

describe.runIf(found.length > 0)("broken recordings", () => {
  test.each(found.filter(({ name }) => broken.test(name)).map((one) => [one.name, one] as const))(
    "[ASM-1] %s ends in a failure",
    async (_, recording) => {
      const { last } = await assembledRecording(recording);
      expect(last?.type).toBe("failure");
    },
  );
});

if (found.length === 0)
  test.skip("[ASM-1] no recorded streams lie beside this checkout: nothing to replay", () => undefined);
