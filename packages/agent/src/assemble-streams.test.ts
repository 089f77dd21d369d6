/** Recorded provider streams through the real packages, the model port and the assembler. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { idMaker, type NewRow, parseTurnId } from "@varve/protocol";
import { countingIdTexts, createFakeClock, recordedDataDir } from "@varve/sim";
import { describe, expect, test } from "vitest";
import type { AssembleState } from "./assemble.ts";
import { assemble, startStep } from "./assemble.ts";
import { providerFactories } from "./model/factories.ts";
import type { ModelPart } from "./model/model.ts";
import { streamModel } from "./model/provider-model.ts";

const data = recordedDataDir();
const has = data !== null;
const recorded = join(data ?? "", "streams");
const filesOf = (folder: string): readonly string[] =>
  has ? readdirSync(join(recorded, folder)).map((name) => join(folder, name)) : [];

type Dialect = "anthropic" | "openai-compatible";

/** Answers any request with the recorded events, a few bytes at a time, so that characters are cut between reads. */
function replay(file: string, dialect: Dialect): typeof globalThis.fetch {
  const lines = readFileSync(join(recorded, file), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const text = lines.map((line) => `data: ${line}\n\n`).join("") + (dialect === "anthropic" ? "" : "data: [DONE]\n\n");
  const bytes = new TextEncoder().encode(text);
  return async () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, at + 97));
        at += 97;
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

async function assembled(file: string, dialect: Dialect) {
  const credential = {
    id: "x",
    provider: dialect,
    key: "k",
    baseUrl: "http://127.0.0.1:9/v1",
    source: "stored",
  } as const;
  const open = async (): Promise<LanguageModelV3> =>
    (await providerFactories(replay(file, dialect))[dialect](credential))("m");
  const rules = { clock: createFakeClock(), idleMs: 1_000, firstMs: 1_000, redact: (text: string) => text };
  const ids = idMaker(countingIdTexts());
  const env = { now: 0, newId: () => ids.chunk() };
  const turnId = parseTurnId("t1") ?? expect.fail("a legal id");
  let state: AssembleState = startStep({
    turnId,
    step: 0,
    model: "x/m",
    modelScope: `${dialect}:m`,
    usedCallIds: new Set(),
  });
  const rows: NewRow[] = [];
  const starts: string[] = [];
  let last: ModelPart | undefined;
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "go" }] }];
  for await (const part of streamModel(open, { prompt }, rules)) {
    last = part;
    if (part.type === "reasoning-start") starts.push("thinking");
    if (part.type === "text-start") starts.push("text");
    if (part.type === "tool-input-start" && part.providerExecuted !== true) starts.push("tool_call");
    const next = assemble(state, part, env);
    state = next.state;
    rows.push(...next.ops.flatMap((op) => (op.op === "seal" ? [op.row] : [])));
  }
  return { rows, starts, last, state };
}

/** Recordings whose stream is broken on purpose. */
const broken = /spliced-message-start/;

describe
  .runIf(has)
  .each<[Dialect, string]>([
    ...filesOf("anthropic").map((file): [Dialect, string] => ["anthropic", file]),
    ...[...filesOf("openai-chat"), ...filesOf("deepseek")].map((file): [Dialect, string] => [
      "openai-compatible",
      file,
    ]),
  ])("recorded %s stream %s", (dialect, file) => {
  test("[ASM-1] ends cleanly, its rows stand in opening order and hold every character", async () => {
    const { rows, starts, last, state } = await assembled(file, dialect);
    if (broken.test(file)) {
      expect(last?.type).toBe("failure");
      return;
    }
    expect(last?.type).toBe("finish");
    expect(state.blocks).toEqual([]);
    // Blank blocks have no row: what is left of the openings is the rows' order.
    let at = 0;
    for (const row of rows) {
      const found = starts.indexOf(row.type, at);
      expect(found).toBeGreaterThanOrEqual(at);
      at = found + 1;
    }
    for (const row of rows)
      if (row.type === "tool_call") expect(JSON.parse(row.data.argsText || "{}")).toEqual(row.data.arguments);
    expect(state.finish?.usage.output).not.toBe(undefined);
  });

  test("[ASM-2] every thinking block that a provider signed keeps its token", async () => {
    const signatures = [...readFileSync(join(recorded, file), "utf8").matchAll(/"signature":"([^"]+)"/g)].map(
      (match) => match[1],
    );
    if (broken.test(file)) return;
    const { rows } = await assembled(file, dialect);
    const kept = JSON.stringify(rows.flatMap((row) => (row.type === "thinking" ? [row.data.metadata] : [])));
    for (const signature of signatures) expect(kept).toContain(signature);
  });
});

if (!has) test.skip("[ASM-1] no recorded streams lie beside this checkout: nothing to replay", () => undefined);
