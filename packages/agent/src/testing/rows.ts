/** Rows for tests, from short words: what `wordsOf` writes, this reads. */
import type { LimitChoice, LimitName, NewRow, StoredRow, SystemData, TurnId } from "@varve/protocol";
import { parseChunkId, parseTurnId } from "@varve/protocol";
import { parseArguments } from "@varve/wire";

export function turnIdOf(text: string): TurnId {
  const id = parseTurnId(text);
  if (id === null) throw new Error(`${text} is no id`);
  return id;
}

function chunkIdOf(text: string) {
  const id = parseChunkId(text);
  if (id === null) throw new Error(`${text} is no id`);
  return id;
}

/** Builds a log: each call appends a row to turn and step as they stand. */
export class RowList {
  readonly rows: StoredRow[] = [];
  turn: TurnId;
  step = 0;

  constructor(turn = "t1") {
    this.turn = turnIdOf(turn);
  }

  at(turn: string, step: number): this {
    this.turn = turnIdOf(turn);
    this.step = step;
    return this;
  }
  user(text: string): this {
    return this.#add({ role: "user", type: "text", data: { text } });
  }
  text(text: string, partial = false): this {
    return this.#add({ role: "assistant", type: "text", data: { text, ...(partial ? { partial } : {}) } });
  }
  call(callId: string, name = "bash", argsText = "{}"): this {
    const data = { callId, name, argsText, arguments: parseArguments(argsText).value };
    return this.#add({ role: "assistant", type: "tool_call", data });
  }
  result(callId: string, result = "ok", isError = false): this {
    return this.#add({ role: "tool", type: "tool_result", data: { callId, name: "bash", result, isError } });
  }
  /** A result that tells of a background job. */
  job(callId: string, job: string, summary: string): this {
    const data = { callId, name: "bash", result: summary, isError: false, details: { job, summary } };
    return this.#add({ role: "tool", type: "tool_result", data });
  }
  error(message = "no"): this {
    return this.#add({ role: "assistant", type: "error", data: { message } });
  }
  system(data: SystemData): this {
    return this.#add({ role: "system", type: "system", data });
  }
  request(): this {
    return this.system({ kind: "request", model: "script/m", scopeHash: "s", tailHash: "h" });
  }
  usage(more: Partial<Extract<SystemData, { kind: "usage" }>> = {}): this {
    const none = { fresh: null, read: null, write5m: null, write1h: null, output: null, reasoning: null };
    return this.system({ kind: "usage", model: "script/m", ...none, price: null, attainable: null, ...more });
  }
  limitAsked(limit: LimitName, used: number, max: number): this {
    const askId = chunkIdOf(`limit-${this.rows.length + 1}`);
    return this.system({ kind: "limit", state: "asked", askId, limit, used, max });
  }
  /** Answers the newest question about a limit. */
  limitAnswered(choice: LimitChoice): this {
    const asked = this.rows.findLast((row) => row.type === "system" && row.data.kind === "limit");
    if (asked?.type !== "system" || asked.data.kind !== "limit") throw new Error("no limit was asked about");
    const { askId, limit } = asked.data;
    return this.system({ kind: "limit", state: "answered", askId, limit, choice, by: "c" });
  }
  end(reason: Extract<SystemData, { kind: "turn-end" }>["reason"] = "done"): this {
    return this.system({ kind: "turn-end", reason });
  }
  voided(step = this.step): this {
    return this.system({ kind: "step-void", turnId: this.turn, step, reason: "cut" });
  }
  asked(callId: string): this {
    const askId = chunkIdOf(`ask-${callId}`);
    return this.system({ kind: "permission", state: "asked", askId, callId, subject: { tool: "bash", key: "k" } });
  }
  answered(callId: string, verdict: "once" | "tab" | "deny" = "once"): this {
    const askId = chunkIdOf(`ask-${callId}`);
    const allows = verdict === "tab" ? { allows: { tool: "bash", key: "k" } } : {};
    return this.system({ kind: "permission", state: "answered", askId, callId, verdict, by: "c", ...allows });
  }

  append(rows: readonly NewRow[]): this {
    for (const row of rows) this.rows.push({ ...row, seq: this.rows.length + 1, term: 1 });
    return this;
  }

  #add(row: RowBody): this {
    const id = chunkIdOf(`r${this.rows.length + 1}`);
    return this.append([{ ...row, id, turnId: this.turn, step: this.step, createdAt: 0 }]);
  }
}

type WithoutPlace<R> = R extends NewRow ? Omit<R, "id" | "turnId" | "step" | "createdAt"> : never;
type RowBody = WithoutPlace<NewRow>;
