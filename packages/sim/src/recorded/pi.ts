import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  assert,
  type Effort,
  type Json,
  type JsonObject,
  type NewRow,
  noTurn,
  type PrefixData,
  type StoredRow,
  type TurnEndReason,
  type TurnId,
} from "@varve/protocol";
import { createFakeIds } from "../fake-ids.ts";
import { type JsonObject as Fields, isObject, objectsIn, parseJson, stringOr } from "../json.ts";

/** A recorded run as rows of our log. */
export interface RecordedLog {
  readonly rows: readonly StoredRow[];
  /** For each model request, in order: the seq of the last row that it was made from. */
  readonly requestPoints: readonly number[];
}

/** The recording's thinking levels in our words; `off` and unknown ones are the model's default. */
const EFFORTS: Readonly<Record<string, Effort>> = { minimal: "low", low: "low", medium: "medium", high: "high" };
const INTERRUPTED = "[interrupted: no result was recorded]";

/** The long recorded run of `recordedDataDir()`. */
export function readPiRecording(dataDir: string, options: { readonly prefix?: PrefixData } = {}): RecordedLog {
  const text = readFileSync(join(dataDir, "sessions/pi/large-session.jsonl"), "utf8");
  return convertPiRecording(text, options);
}

/**
 * Converts a recording of pi (format 1: linear, one JSON value a line) to what our loop would have sealed.
 *
 * A recorded assistant message is one step. A user message that comes while results wait to be sent is a steer of the
 * running turn, any other begins a turn. A message that was aborted ends its turn as stopped, with its last text marked
 * partial; one that failed ends it with an error row. Calls without a recorded result get an error result there. The
 * recording cannot say whether the last call of a broken message was whole; it is taken as whole. A change of model or
 * effort is sealed when the next turn begins. Where an answer follows a finished turn without a message between them, the
 * user row `continue` begins the turn, as our loop would have sealed it. Rows of kind `request` are left out: they carry hashes of bodies.
 */
export function convertPiRecording(text: string, options: { readonly prefix?: PrefixData } = {}): RecordedLog {
  const lines = text.split("\n").flatMap((line) => {
    const value = parseJson(line);
    return isObject(value) ? [value] : [];
  });
  const writer = new RecordingWriter(options.prefix ?? defaultPrefix(lines));
  let upcoming = "";
  for (const [index, line] of lines.entries()) {
    if (line.type === "thinking_level_change") writer.effort(EFFORTS[stringOr(line.thinkingLevel, "")] ?? "default");
    const message = line.message;
    if (line.type !== "message" || !isObject(message)) continue;
    const at = Number(message.timestamp);
    if (message.role === "user") {
      upcoming = modelOfNextAnswer(lines, index) ?? upcoming;
      writer.user(textOf(message.content), { at, model: upcoming });
    } else if (message.role === "assistant") writer.assistant(message, at);
    else if (message.role === "toolResult") writer.result(message, at);
  }
  return writer.end();
}

/** Seals rows as the loop does; it holds what the loop would know of the running turn. */
class RecordingWriter {
  readonly #ids = createFakeIds("row");
  readonly #turnIds = createFakeIds("turn");
  readonly #rows: StoredRow[] = [];
  readonly #requestPoints: number[] = [];
  /** Calls of the newest step that have no result yet, with their names. */
  readonly #open = new Map<string, string>();
  readonly #prefix: PrefixData;
  #turn: { readonly id: TurnId; steps: number; ended: boolean } | null = null;
  #setting: { readonly model: string; readonly effort: Effort } = { model: "", effort: "default" };
  #sealedSetting = "";
  #now = 0;

  constructor(prefix: PrefixData) {
    this.#prefix = prefix;
  }

  effort(effort: Effort): void {
    this.#setting = { ...this.#setting, effort };
  }

  user(text: string, given: { readonly at: number; readonly model: string }): void {
    this.#now = given.at;
    if (this.#rows.length === 0) this.#seal({ ...OUTSIDE, data: this.#prefix });
    if (this.#turn === null || this.#turn.ended) {
      this.#setting = { ...this.#setting, model: given.model };
      this.#sealSetting();
      this.#turn = { id: this.#turnIds.turn(), steps: 0, ended: false };
    }
    this.#seal({ ...this.#place(), role: "user", type: "text", data: { text: wellFormed(text) } });
  }

  assistant(message: Fields, at: number): void {
    if (this.#turn === null || this.#turn.ended) this.user("continue", { at, model: modelName(message, "/") });
    this.#now = at;
    this.#requestPoints.push(this.#rows.length);
    if (this.#turn !== null) this.#turn.steps += 1;
    this.#blocks(message);
    const usage = usageData(message);
    if (usage !== null) this.#seal({ ...this.#place(), role: "system", type: "system", data: usage });
    if (message.stopReason === "aborted") this.#endTurn("stopped");
    else if (message.stopReason === "error") {
      this.#answerOpenCalls();
      const data = { message: stringOr(message.errorMessage, "the provider failed") };
      this.#seal({ ...this.#place(), role: "assistant", type: "error", data });
      this.#endTurn("error");
    } else if (this.#open.size === 0) this.#endTurn("done");
  }

  /** A result of a call that is not open (any more) is left out: the first result wins. */
  result(message: Fields, at: number): void {
    this.#now = at;
    const callId = stringOr(message.toolCallId, "");
    if (!this.#open.delete(callId)) return;
    const text = wellFormed(textOf(message.content));
    const result = text === "" ? "(no output)" : text;
    const data = { callId, name: stringOr(message.toolName, ""), result, isError: message.isError === true };
    this.#seal({ ...this.#place(), role: "tool", type: "tool_result", data });
  }

  end(): RecordedLog {
    this.#endTurn("restart");
    return { rows: this.#rows, requestPoints: this.#requestPoints };
  }

  #blocks(message: Fields): void {
    const isBroken = message.stopReason === "aborted" || message.stopReason === "error";
    const blocks = objectsIn(message.content);
    for (const [index, block] of blocks.entries()) {
      const isCut = isBroken && index === blocks.length - 1;
      const row = blockRow(block, { modelScope: modelName(message, ":"), isCut });
      if (row !== null) this.#seal({ ...this.#place(), ...row });
      if (row?.type === "tool_call") this.#open.set(row.data.callId, row.data.name);
    }
  }

  #answerOpenCalls(): void {
    for (const [callId, name] of this.#open) {
      const data = { callId, name, result: INTERRUPTED, isError: true };
      this.#seal({ ...this.#place(), role: "tool", type: "tool_result", data });
    }
    this.#open.clear();
  }

  #endTurn(reason: TurnEndReason): void {
    if (this.#turn === null || this.#turn.ended) return;
    this.#answerOpenCalls();
    this.#seal({ ...this.#place(), role: "system", type: "system", data: { kind: "turn-end", reason } });
    this.#turn.ended = true;
  }

  #sealSetting(): void {
    const wanted = JSON.stringify(this.#setting);
    if (wanted === this.#sealedSetting) return;
    this.#sealedSetting = wanted;
    this.#seal({ ...OUTSIDE, data: { kind: "model-changed", ...this.#setting } });
  }

  #place() {
    assert(this.#turn !== null, "a recording begins with a user message");
    return { turnId: this.#turn.id, step: Math.max(0, this.#turn.steps - 1) };
  }

  #seal(row: RowBody): void {
    const seq = this.#rows.length + 1;
    this.#rows.push({ ...row, id: this.#ids.chunk(), seq, term: 1, createdAt: this.#now });
  }
}

const OUTSIDE = { turnId: noTurn, step: 0, role: "system", type: "system" } as const;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type RowBody = DistributiveOmit<NewRow, "id" | "createdAt">;
type BlockRow = Extract<DistributiveOmit<RowBody, "turnId" | "step">, { type: "text" | "thinking" | "tool_call" }>;

function blockRow(block: Fields, told: { readonly modelScope: string; readonly isCut: boolean }): BlockRow | null {
  const cut = told.isCut ? { partial: true } : {};
  if (block.type === "text") {
    const data = { text: wellFormed(stringOr(block.text, "")), modelScope: told.modelScope, ...cut };
    return { role: "assistant", type: "text", data };
  }
  if (block.type === "thinking") {
    const signature = stringOr(block.thinkingSignature, "");
    const metadata = signature === "" ? {} : { metadata: { anthropic: { signature } } };
    const text = wellFormed(stringOr(block.thinking, ""));
    return { role: "assistant", type: "thinking", data: { text, modelScope: told.modelScope, ...metadata, ...cut } };
  }
  if (block.type !== "toolCall") return null;
  const argsText = wellFormed(JSON.stringify(block.arguments ?? {}));
  const parsed = asJson(parseJson(argsText));
  const args: JsonObject = isJsonObject(parsed) ? parsed : { _invalid: argsText };
  const data = { callId: stringOr(block.id, ""), name: stringOr(block.name, ""), arguments: args, argsText };
  return { role: "assistant", type: "tool_call", data };
}

/** Parsed JSON as the protocol's type. */
function asJson(value: unknown): Json {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  if (Array.isArray(value)) return value.map(asJson);
  if (!isObject(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, asJson(field)]));
}

function isJsonObject(value: Json): value is JsonObject {
  return isObject(value);
}

function usageData(message: Fields): Extract<RowBody, { type: "system" }>["data"] | null {
  const usage = message.usage;
  if (!isObject(usage) || Number(usage.output) + Number(usage.input) + Number(usage.cacheRead) === 0) return null;
  const cost = isObject(usage.cost) ? Number(usage.cost.total) : null;
  return {
    kind: "usage",
    model: modelName(message, "/"),
    fresh: Number(usage.input),
    read: Number(usage.cacheRead),
    write5m: Number(usage.cacheWrite),
    write1h: null,
    output: Number(usage.output),
    reasoning: null,
    price: cost,
    attainable: null,
  };
}

function modelName(message: Fields, separator: string): string {
  return `${stringOr(message.provider, "unknown")}${separator}${stringOr(message.model, "unknown")}`;
}

function modelOfNextAnswer(lines: readonly Fields[], from: number): string | null {
  for (const { message } of lines.slice(from)) {
    if (isObject(message) && message.role === "assistant") return modelName(message, "/");
  }
  return null;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map((part) => stringOr(part.text, ""))
    .join("\n");
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** A prefix whose tools are those that the recording calls, by ascending name. */
function defaultPrefix(lines: readonly Fields[]): PrefixData {
  const names = new Set<string>();
  for (const { message } of lines) {
    if (!isObject(message)) continue;
    for (const block of objectsIn(message.content)) if (block.type === "toolCall") names.add(stringOr(block.name, ""));
  }
  const tools = [...names].sort().map((name) => ({
    name,
    description: `The recorded tool ${name}.`,
    inputSchema: { type: "object", additionalProperties: true },
  }));
  const head = { system: ["You are a coding agent."], tools, constants: {} };
  const hash = createHash("sha256").update(JSON.stringify(head)).digest("hex");
  return { kind: "prefix", foldVersion: 1, ...head, instructions: [], hash };
}
