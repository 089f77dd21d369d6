/**
 * A tab without a server: rows, the wire's folder, and one real request at a time through the registry's model. The script
 * answers the calls; nothing is run. What a request asks beyond what the wire would send comes in as an `Edit`.
 */
import type { ResolvedModel, UsageData } from "@varve/agent";
import type { CacheTtl, Effort, NewRow, StoredRow, TurnId } from "@varve/protocol";
import { assert, isFault, noTurn, parseChunkId, parseTurnId } from "@varve/protocol";
import { createFolder, makePrefixData, type WireRequest } from "@varve/wire";
import type { JsonObject } from "../json.ts";
import type { Edit } from "./edited-fetch.ts";
import { StepFailed } from "./failures.ts";
import { headText, lineText, longLineText, lookTool } from "./live-text.ts";
import { type SendPorts, type Sent, sendRequest, warmRequest } from "./send.ts";

export interface TabOptions {
  readonly model: ResolvedModel;
  /** Tabs of one name have the same head, and share what a provider caches of it. */
  readonly head: string;
  readonly ttl: CacheTtl;
}

export interface StepOptions {
  readonly edit?: Edit;
  /** The answer is thrown away, as if the step had been broken off behind its first event. */
  readonly discard?: boolean;
  /** A refusal is an answer too. */
  readonly mayFail?: boolean;
  /** Another model for this one step. */
  readonly model?: ResolvedModel;
}

export interface Step {
  readonly usage: UsageData | null;
  /** Why it was refused, with `mayFail`. */
  readonly refusal: string | null;
  readonly calls: number;
  readonly body: JsonObject;
  /** Whole input, and the whole input of the request to this model before it. Tokens; null: not told. */
  readonly total: number | null;
  readonly before: number | null;
  /** Read of what the request before it had left to read, from 0 to 1. Null: the first, or not told. */
  readonly ratio: number | null;
}

export class LiveTab {
  readonly #options: TabOptions;
  readonly #ports: SendPorts;
  readonly #folder = createFolder();
  /** Whole input of the newest answered request, by model. */
  readonly #totals = new Map<string, number | null>();
  #rows: StoredRow[] = [];
  #turn = 0;
  #step = 0;
  #lines = 0;
  #last: { readonly request: WireRequest; readonly model: ResolvedModel } | null = null;

  constructor(ports: SendPorts, options: TabOptions) {
    this.#ports = ports;
    this.#options = options;
    const { head, ttl } = options;
    const system = [headText(head)];
    const data = makePrefixData({ system, tools: [lookTool], cacheTtl: ttl, workspace: head });
    this.#seal([{ ...this.#base(noTurn), role: "system", type: "system", data }]);
  }

  get rows(): readonly StoredRow[] {
    return this.#rows;
  }

  /** A person's words: a turn begins. */
  say(text: string): void {
    this.#turn += 1;
    this.#step = 0;
    this.#seal([{ ...this.#base(), role: "user", type: "text", data: { text } }]);
  }

  /** The results of the calls that are open, of which one is long; or an order where the model called nothing. */
  goOn(order: string): void {
    const open = this.#openCalls();
    if (open.length === 0) this.say(order);
    else this.#seal(open.map((callId, index) => this.#result(callId, index === 0 ? longLineText : lineText)));
    if (open.length > 0) this.#step += 1;
  }

  /** A step that no model made: so many calls at once, and their results. */
  playCalls(count: number): void {
    const ids = Array.from({ length: count }, (_, index) => `call_${this.#rows.length}_${index + 1}`);
    const calls = ids.map((callId, index): NewRow => {
      const args = { n: index + 1 };
      const data = { callId, name: lookTool.name, arguments: args, argsText: JSON.stringify(args) };
      return { ...this.#base(), role: "assistant", type: "tool_call", data };
    });
    this.#seal(calls);
    this.#seal(ids.map((callId) => this.#result(callId, lineText)));
    this.#step += 1;
  }

  async step(options: StepOptions = {}): Promise<Step> {
    const model = options.model ?? this.#options.model;
    const request = this.#build(model);
    const { scopeHash, tailHash, chars } = request;
    const asked = {
      kind: "request" as const,
      model: model.info.id,
      scopeHash,
      tailHash,
      purpose: "step" as const,
      chars,
    };
    this.#seal([{ ...this.#base(), role: "system", type: "system", data: asked }]);
    this.#last = { request, model };
    const place = { turnId: this.#turnId(), step: this.#step, usedCallIds: this.#callIds() };
    const isLong = this.#options.ttl === "1h";
    const sent = await sendRequest(this.#ports, { request, model, place, isLong, edit: options.edit ?? null });
    if (sent.refusal !== null && options.mayFail !== true) throw new StepFailed(sent.refusal);
    if (options.discard !== true) this.#seal(sent.rows);
    return this.#stepOf(sent, model);
  }

  /** The last request again, without output. */
  async warm(edit: Edit | null = null): Promise<Step> {
    const last = this.#last;
    assert(last !== null, "something was sent before");
    const sent = await warmRequest(this.#ports, { ...last, isLong: true, edit });
    if (sent.refusal !== null) throw new StepFailed(sent.refusal);
    return this.#stepOf(sent, last.model);
  }

  #stepOf(sent: Sent, model: ResolvedModel): Step {
    const before = this.#totals.get(model.info.id) ?? null;
    if (sent.refusal === null) this.#totals.set(model.info.id, sent.total);
    const read = sent.usage?.read ?? null;
    const ratio = before === null || before === 0 || read === null ? null : Math.min(1, read / before);
    const calls = sent.rows.filter(({ type }) => type === "tool_call").length;
    const { usage, refusal, body, total } = sent;
    return { usage, refusal, body, total, calls, before, ratio };
  }

  #build(model: ResolvedModel): WireRequest {
    const ask = (effort: Effort): WireRequest => {
      const { info, target } = model;
      const request = this.#folder.request({ rows: this.#rows, target, modelName: info.id, effort });
      assert(!isFault(request), "the rows of a script can be folded");
      return request;
    };
    const low = ask("low");
    // A budget of tokens is more than the whole output that is paid for here: such a model doesn't think.
    const request = takesBudget(low) ? ask("default") : low;
    assert(request.violations.length === 0 && !request.endsDerived, "the rows of a script make a request");
    return request;
  }

  #openCalls(): readonly string[] {
    const answered = new Set(this.#rows.flatMap((row) => (row.type === "tool_result" ? [row.data.callId] : [])));
    return [...this.#callIds()].filter((id) => !answered.has(id));
  }

  #callIds(): ReadonlySet<string> {
    return new Set(this.#rows.flatMap((row) => (row.type === "tool_call" ? [row.data.callId] : [])));
  }

  #result(callId: string, text: (number: number) => string): NewRow {
    this.#lines += 1;
    const data = { callId, name: lookTool.name, result: text(this.#lines), isError: false };
    return { ...this.#base(), role: "tool", type: "tool_result", data };
  }

  #turnId(): TurnId {
    const id = parseTurnId(`turn${this.#turn}`);
    assert(id !== null, "a legal id");
    return id;
  }

  #base(turnId = this.#turnId()) {
    return { id: this.#ports.newId(), turnId, step: this.#step, createdAt: this.#ports.clock.now() };
  }

  #seal(rows: readonly NewRow[]): void {
    // A new list each time: the folder tells a list that goes on by its rows.
    this.#rows = [
      ...this.#rows,
      ...rows.map((row, index) => ({ ...row, seq: this.#rows.length + index + 1, term: 1 })),
    ];
  }
}

function takesBudget({ options }: WireRequest): boolean {
  return JSON.stringify(options.providerOptions ?? {}).includes('"budgetTokens"');
}

/** Ids that count up: a run needs no better ones. */
export function countingIds(): SendPorts["newId"] {
  let count = 0;
  return () => {
    count += 1;
    const id = parseChunkId(`row${count}`);
    assert(id !== null, "a legal id");
    return id;
  };
}
