/** Recorded provider streams through the real packages, the model port and the assembler: which rows they leave. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LanguageModelV3, LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { idMaker, type NewRow, parseTurnId } from "@varve/protocol";
import { countingIdTexts, createFakeClock, recordedDataDir } from "@varve/sim";
import { chooseProfile, type WireDialect, type WireTarget, wireTarget } from "@varve/wire";
import { expect } from "vitest";
import type { AssembleState } from "../assemble.ts";
import { assemble, startStep } from "../assemble.ts";
import { providerFactories } from "../model/factories.ts";
import type { KnownCredential, ModelPart } from "../model/model.ts";
import { streamModel } from "../model/provider-model.ts";

export interface Recording {
  /** Folder and file, and which of its answers where one file holds several. */
  readonly name: string;
  readonly dialect: WireDialect;
  readonly model: string;
  /** JSON texts, one an event. */
  readonly events: readonly string[];
}

const speakers: readonly (readonly [folder: string, dialect: WireDialect, model: string])[] = [
  ["anthropic", "anthropic", "claude-opus-5-5"],
  ["openai-responses", "openai", "gpt-5.6-sol"],
  ["google", "google", "gemini-3-flash-preview"],
  ["deepseek", "deepseek", "deepseek-v4-pro"],
  ["openai-chat", "openai-compatible", "grok-4"],
  ["openai-chat", "local", "grok-4"],
  ["deepseek", "openai-compatible", "deepseek-v4-pro"],
];

/** None where no recordings lie beside this checkout. */
export function recordings(): readonly Recording[] {
  const data = recordedDataDir();
  if (data === null) return [];
  return speakers.flatMap(([folder, dialect, model]) =>
    readdirSync(join(data, "streams", folder)).flatMap((file) => {
      const lines = readFileSync(join(data, "streams", folder, file), "utf8").split("\n");
      const events = lines.filter((line) => line.trim() !== "").map(closed);
      return answersIn(events).map((answer, index, all) => {
        const name = `${dialect} ${folder}/${file}${all.length > 1 ? ` (${index + 1})` : ""}`;
        return { name, dialect, model, events: answer };
      });
    }),
  );
}

/** One recording lost the last brace of two of its events. */
function closed(event: string): string {
  try {
    JSON.parse(event);
    return event;
  } catch {
    return `${event}}`; // If that was not what is missing, the stream fails and its test with it.
  }
}

/** A recording of several requests holds one answer after the other. */
function answersIn(events: readonly string[]): readonly (readonly string[])[] {
  const answers: string[][] = [];
  for (const event of events) {
    if (answers.length === 0 || event.startsWith('{"type":"response.created"')) answers.push([]);
    answers.at(-1)?.push(event);
  }
  return answers;
}

/** Answers any request with the recorded events, a few bytes at a time, so that characters are cut between reads. */
function replay({ dialect, events }: Recording): typeof globalThis.fetch {
  const marked = ["openai-compatible", "local", "deepseek", "openai-chat"].includes(dialect);
  const text = events.map((line) => `data: ${line}\n\n`).join("") + (marked ? "data: [DONE]\n\n" : "");
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

export const credentialOf = (dialect: WireDialect): KnownCredential => ({
  id: "x",
  provider: dialect === "openai-chat" ? "openai" : dialect === "local" ? "openai-compatible" : dialect,
  key: "k",
  baseUrl: "http://127.0.0.1:9/v1",
  source: "stored",
});

export const targetOf = ({ dialect, model }: Recording): WireTarget => wireTarget(chooseProfile(dialect, model), model);

export interface AssembledRecording {
  readonly rows: readonly NewRow[];
  /** Kinds of the blocks in the order in which the provider opened them. */
  readonly starts: readonly string[];
  readonly last: ModelPart | undefined;
  readonly state: AssembleState;
}

export async function assembledRecording(
  recording: Recording,
  options: Partial<LanguageModelV3CallOptions> = {},
): Promise<AssembledRecording> {
  const { dialect, model } = recording;
  const open = async (): Promise<LanguageModelV3> =>
    (await providerFactories(replay(recording))[dialect](credentialOf(dialect)))(model);
  const rules = { clock: createFakeClock(), idleMs: 1_000, firstMs: 1_000, redact: (text: string) => text };
  const ids = idMaker(countingIdTexts());
  const env = { now: 0, newId: () => ids.chunk() };
  const turnId = parseTurnId("t1") ?? expect.fail("a legal id");
  const scope = targetOf(recording).modelScope;
  let state = startStep({ turnId, step: 0, model: `x/${model}`, modelScope: scope, usedCallIds: new Set() });
  const rows: NewRow[] = [];
  const starts: string[] = [];
  let last: ModelPart | undefined;
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "go" }] }];
  for await (const part of streamModel(open, { prompt, ...options }, rules)) {
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
