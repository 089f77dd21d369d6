import type { StoredRow } from "@varve/protocol";
import { storedRowSchema } from "@varve/protocol/schema";
import {
  anthropic,
  buildRequest,
  createFolder,
  type Folder,
  makePrefixData,
  openaiCompatible,
  type WireRequest,
  type WireTarget,
  wireTarget,
} from "@varve/wire";
import { median, rounded } from "./lib/statistics.ts";

// What the wire's part of one request costs on logs of three lengths: view, fold, hash chain, checks, breakpoints. Full:
// from the first row, as after a start or a change of model. Step: the request after one more step, by a folder that made
// the ones before; its longest cases are a step that is voided and tried again and a turn that begins. Serialising and
// sending the body is not in it. Lengths and targets take turns, so that all see the same machine.

const LENGTHS = [1000, 10_000, 100_000];
const TARGETS: readonly WireTarget[] = [wireTarget(anthropic, "m"), wireTarget(openaiCompatible, "m")];
const STEPS_A_TURN = 40;
const ROUNDS = 5;
const STEPS_A_ROUND = 60;
const BUDGET_MS = 2;

interface Case {
  readonly name: string;
  readonly length: number;
  readonly target: WireTarget;
  readonly rows: StoredRow[];
  readonly folder: Folder;
  readonly full: number[];
  readonly step: number[];
  /** Putting the list of messages together, which the adapter's serialising begins with. */
  readonly list: number[];
}

function main(): void {
  const cases = LENGTHS.flatMap((length) => TARGETS.map((target) => caseOf(length, target)));
  const bytes = new Map(cases.map((one) => [one.name, memoryOf(one)]));
  for (let round = 0; round < ROUNDS; round++) for (const one of cases) measureFull(one);
  for (let step = 0; step < ROUNDS * STEPS_A_ROUND; step++) for (const one of cases) measureStep(one);
  const figures: Record<string, number> = {};
  for (const one of cases) {
    const steps = one.step.toSorted((a, b) => a - b);
    figures[`${one.name} full ms`] = rounded(median(one.full));
    figures[`${one.name} step ms`] = thousandths(median(steps));
    figures[`${one.name} step p95 ms`] = thousandths(steps[Math.floor(steps.length * 0.95)] ?? Number.NaN);
    figures[`${one.name} list ms`] = thousandths(median(one.list));
    figures[`${one.name} bytes a row`] = Math.round(bytes.get(one.name) ?? 0);
  }
  for (const { profile } of TARGETS) Object.assign(figures, growth(figures, profile.name));
  const counts = { lengths: LENGTHS, fullRuns: ROUNDS, steps: ROUNDS * STEPS_A_ROUND, budgetMs: BUDGET_MS };
  process.stdout.write(`${JSON.stringify({ name: "fold", counts, seed: 0, figures })}\n`);
}

const thousandths = (value: number): number => Math.round(value * 1000) / 1000;

function caseOf(length: number, target: WireTarget): Case {
  const rows = makeRows(length);
  const name = `${target.profile.name} ${length} rows`;
  return { name, length, target, rows, folder: createFolder(), full: [], step: [], list: [] };
}

/** What a folder holds beside the rows, by row. */
function memoryOf(one: Case): number {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  send(one.folder.request(inputOf(one)));
  globalThis.gc?.();
  return (process.memoryUsage().heapUsed - before) / one.rows.length;
}

const inputOf = ({ rows, target }: Case) => ({ rows, target, modelName: "m", effort: "default" }) as const;

function measureFull(one: Case): void {
  const start = performance.now();
  const request = buildRequest(inputOf(one));
  one.full.push(performance.now() - start);
  send(request);
}

/** Every tenth step is cut first, and tried again. */
function measureStep(one: Case): void {
  const { rows, folder, step, list } = one;
  addStep(rows, step.length % 10 === 9);
  const start = performance.now();
  const request = folder.request(inputOf(one));
  const made = performance.now();
  const { tailHash, scopeHash, messages } = send(request);
  list.push(performance.now() - made);
  step.push(made - start);
  if (messages.length < rows.length / 4) throw new Error("a request shorter than its log");
  const place = nextPlace(rows);
  if (place.step === 0)
    rows.push(rowAt(rows.length + 1, place, { role: "user", type: "text", data: { text: "go on" } }));
  else rows.push(rowAt(rows.length + 1, place, system({ kind: "request", model: "m", scopeHash, tailHash })));
}

function send(request: ReturnType<typeof buildRequest>): WireRequest {
  if (request.kind !== "wire-request") throw new Error(request.message);
  const { violations, guard, endsDerived } = request;
  if (violations.length > 0 || guard.kind === "changed" || endsDerived) {
    throw new Error(JSON.stringify({ violations: violations.slice(0, 1), guard, endsDerived }));
  }
  return request;
}

/** Milliseconds that a hundred thousand rows add to a step. */
function growth(figures: Readonly<Record<string, number>>, name: string): Record<string, number> {
  const [short = 0, , long = 0] = LENGTHS;
  const of = (length: number): number => figures[`${name} ${length} rows step ms`] ?? Number.NaN;
  return { [`${name} growth us a 1000 rows`]: thousandths(((of(long) - of(short)) * 1e6) / (long - short)) };
}

/** Turns of forty steps: a request row, signed thinking, a text, a call, its result, a usage row. */
function makeRows(length: number): StoredRow[] {
  const tools = [{ name: "read", description: "Reads a file.", inputSchema: { type: "object", properties: {} } }];
  const prefix = makePrefixData({ system: ["You are a bench."], tools });
  const rows: StoredRow[] = [rowAt(1, { turnId: "", step: 0 }, system(prefix))];
  rows.push(rowAt(2, { turnId: "t0", step: 0 }, { role: "user", type: "text", data: { text: "go on" } }));
  while (rows.length < length) {
    addStep(rows, false);
    const place = nextPlace(rows);
    if (place.step === 0)
      rows.push(rowAt(rows.length + 1, place, { role: "user", type: "text", data: { text: "go on" } }));
  }
  return rows;
}

interface Place {
  readonly turnId: string;
  readonly step: number;
}

/** Of the step after the newest. */
function nextPlace(rows: readonly StoredRow[]): Place {
  const { turnId = "t0", step = 0 } = rows.at(-1) ?? {};
  if (step + 1 < STEPS_A_TURN) return { turnId, step: step + 1 };
  return { turnId: `t${Number(turnId.slice(1)) + 1}`, step: 0 };
}

function addStep(rows: StoredRow[], cut: boolean): void {
  const last = rows.at(-1);
  const isStep =
    last !== undefined && last.role !== "user" && !(last.type === "system" && last.data.kind === "request");
  let place: Place = isStep ? nextPlace(rows) : { turnId: last?.turnId ?? "t0", step: last?.step ?? 0 };
  const add = (kind: Kind): unknown => rows.push(rowAt(rows.length + 1, place, kind));
  if (cut) {
    add({ role: "assistant", type: "text", data: { text: "cut" } });
    add(system({ kind: "step-void", turnId: place.turnId, step: place.step, reason: "cut" }));
    place = { turnId: place.turnId, step: place.step + 1 };
  }
  for (const kind of stepKinds(rows.length)) add(kind);
}

interface Kind {
  readonly role: string;
  readonly type: string;
  readonly data: unknown;
}

const system = (data: object): Kind => ({ role: "system", type: "system", data });

function stepKinds(at: number): readonly Kind[] {
  const callId = `toolu_${at}`;
  const argsText = JSON.stringify({ path: `src/file-${at}.ts`, from: at });
  const metadata = { anthropic: { signature: `sig-${at}-${"x".repeat(200)}` } };
  const usage = { kind: "usage", model: "m", fresh: 1, read: 1, write5m: 1, write1h: null, output: 1, reasoning: null };
  return [
    { role: "assistant", type: "thinking", data: { text: "", metadata, modelScope: "anthropic:m" } },
    { role: "assistant", type: "text", data: { text: `Reading file ${at}. ${"words ".repeat(20)}` } },
    { role: "assistant", type: "tool_call", data: { callId, name: "read", arguments: JSON.parse(argsText), argsText } },
    system({ ...usage, price: null, attainable: null }),
    { role: "tool", type: "tool_result", data: { callId, name: "read", result: "line\n".repeat(60), isError: false } },
  ];
}

function rowAt(seq: number, place: Place, kind: Kind): StoredRow {
  return storedRowSchema.parse({ id: `r${seq}`, seq, term: 1, createdAt: 0, ...place, ...kind });
}

main();
