import type { StoredRow } from "@varve/protocol";
import { storedRowSchema } from "@varve/protocol/schema";
import {
  anthropic,
  canonicalBlocks,
  chainOf,
  chunksToModelMessages,
  makePrefixData,
  openaiCompatible,
  validateMessages,
  type WireTarget,
  wireTarget,
} from "@varve/wire";
import { median, rounded } from "./lib/statistics.ts";

// How long one request's part of the wire takes on logs of three lengths: fold, validation, hash chain. Always from the
// first row, as after a start; a step of a running turn adds few rows to all this.

const LENGTHS = [1000, 10_000, 100_000];
const TARGETS: readonly WireTarget[] = [wireTarget(anthropic, "m"), wireTarget(openaiCompatible, "m")];
const ROWS_A_STEP = 5;
const STEPS_A_TURN = 40;

function main(): void {
  const figures: Record<string, number> = {};
  for (const length of LENGTHS) {
    const rows = makeRows(length);
    for (const target of TARGETS) measure(rows, target, figures);
  }
  process.stdout.write(`${JSON.stringify({ name: "fold", counts: { lengths: LENGTHS }, seed: 0, figures })}\n`);
}

function measure(rows: readonly StoredRow[], target: WireTarget, figures: Record<string, number>): void {
  const runs = rows.length > 50_000 ? 5 : 15;
  const times: { fold: number[]; validate: number[]; chain: number[] } = { fold: [], validate: [], chain: [] };
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now();
    const fold = chunksToModelMessages(rows, target);
    if (fold.kind !== "fold") throw new Error(fold.message);
    const folded = performance.now();
    const violations = validateMessages(fold.messages, target.profile);
    if (violations.length > 0) throw new Error(JSON.stringify(violations[0]));
    const validated = performance.now();
    const chain = chainOf(canonicalBlocks(fold.messages));
    if (chain.length < rows.length / 2) throw new Error("a chain shorter than the log");
    times.fold.push(folded - start);
    times.validate.push(validated - folded);
    times.chain.push(performance.now() - validated);
  }
  for (const [part, values] of Object.entries(times)) {
    figures[`${target.profile.name} ${rows.length} rows ${part} ms`] = rounded(median(values));
  }
}

/** Turns of forty steps: signed thinking, a text, a call, its result, a usage row. */
function makeRows(length: number): readonly StoredRow[] {
  const prefix = makePrefixData({ system: ["You are a bench."], tools: [] });
  const rows: StoredRow[] = [rowAt(1, { turnId: "", step: 0 }, { role: "system", type: "system", data: prefix })];
  while (rows.length < length) {
    const at = rows.length;
    const step = Math.floor(at / ROWS_A_STEP) % STEPS_A_TURN;
    const turnId = `t${Math.floor(at / (ROWS_A_STEP * STEPS_A_TURN))}`;
    if (step === 0) rows.push(rowAt(at + 1, { turnId, step }, { role: "user", type: "text", data: { text: "go on" } }));
    for (const kind of stepKinds(rows.length)) rows.push(rowAt(rows.length + 1, { turnId, step }, kind));
  }
  return rows;
}

interface Kind {
  readonly role: string;
  readonly type: string;
  readonly data: unknown;
}

function stepKinds(at: number): readonly Kind[] {
  const callId = `toolu_${at}`;
  const argsText = JSON.stringify({ path: `src/file-${at}.ts`, from: at });
  const metadata = { anthropic: { signature: `sig-${at}-${"x".repeat(200)}` } };
  const usage = { kind: "usage", model: "m", fresh: 1, read: 1, write5m: 1, write1h: null, output: 1, reasoning: null };
  return [
    { role: "assistant", type: "thinking", data: { text: "", metadata, modelScope: "anthropic:m" } },
    { role: "assistant", type: "text", data: { text: `Reading file ${at}. ${"words ".repeat(20)}` } },
    { role: "assistant", type: "tool_call", data: { callId, name: "read", arguments: JSON.parse(argsText), argsText } },
    { role: "tool", type: "tool_result", data: { callId, name: "read", result: "line\n".repeat(60), isError: false } },
    { role: "system", type: "system", data: { ...usage, price: null, attainable: null } },
  ];
}

function rowAt(seq: number, place: { readonly turnId: string; readonly step: number }, kind: Kind): StoredRow {
  return storedRowSchema.parse({ id: `r${seq}`, seq, term: 1, createdAt: 0, ...place, ...kind });
}

main();
