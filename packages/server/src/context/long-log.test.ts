/** Looking at the context of a tab with a hundred thousand rows must not keep the server from its other work. */
import { memoryLog } from "@varve/log";
import { type Fault, isFault, type NewRow, type StoredRow, type SystemData, type TurnId } from "@varve/protocol";
import { makePrefixData } from "@varve/wire";
import { describe, expect, test } from "vitest";
import { makeRig } from "../workspace/testing/rig.ts";
import { LogReader, readLog } from "./log-reading.ts";

const opus = "anthropic/claude-opus-5-5";
const rowsMax = 100_000;
const stepsOfTurn = 10;

/** Turns of ten steps, each with a call, its result and its bill; a compaction now and then. */
class LongLog {
  readonly rows: NewRow[] = [];

  constructor() {
    const prefix = makePrefixData({ system: ["You are the agent. ".repeat(200)], tools: [] });
    this.#system({ kind: "model-changed", model: opus, effort: "default" });
    this.#system(prefix);
    for (let turn = 0; this.rows.length < rowsMax; turn++) {
      this.#turn(`t${turn}` as TurnId);
      if (turn % 300 === 299) {
        const keepFrom = this.rows.length - 200;
        this.#system({ kind: "compaction", summary: "S".repeat(5_000), keepFrom, keptUserSeqs: [] });
      }
    }
  }

  #turn(turnId: TurnId): void {
    this.rows.push({
      ...this.#place(turnId, 0),
      role: "user",
      type: "text",
      data: { text: "Please do it. ".repeat(9) },
    });
    for (let step = 0; step < stepsOfTurn; step++) this.#step(turnId, step);
    this.#system({ kind: "turn-end", reason: "done" }, turnId, stepsOfTurn - 1);
  }

  #step(turnId: TurnId, step: number): void {
    const place = () => this.#place(turnId, step);
    const tokens = 10_000 + this.rows.length;
    const asked = { kind: "request", model: opus, scopeHash: "s", ttl: "5m", chars: tokens * 4 } as const;
    this.#system({ ...asked, tailHash: `h${tokens}` }, turnId, step);
    const metadata = { anthropic: { signature: "x".repeat(200) } };
    const thought = { text: "thinking ".repeat(20), modelScope: opus, metadata };
    this.rows.push({ ...place(), role: "assistant", type: "thinking", data: thought });
    this.rows.push({ ...place(), role: "assistant", type: "text", data: { text: "I will look. ".repeat(5) } });
    if (step < stepsOfTurn - 1) {
      const call = { callId: `call${tokens}`, name: "work" };
      this.rows.push({
        ...place(),
        role: "assistant",
        type: "tool_call",
        data: { ...call, argsText: "{}", arguments: {} },
      });
      const result = { ...call, result: "out ".repeat(100), isError: false };
      this.rows.push({ ...place(), role: "tool", type: "tool_result", data: result });
    }
    const figures = { fresh: 10, read: tokens, write5m: 100, write1h: null, output: 100, reasoning: 40 };
    this.#system(
      { kind: "usage", model: opus, ...figures, price: 0.01, attainable: tokens, startedAt: tokens },
      turnId,
      step,
    );
  }

  #system(data: SystemData, turnId = "" as TurnId, step = 0): void {
    this.rows.push({ ...this.#place(turnId, step), role: "system", type: "system", data });
  }

  #place(turnId: TurnId, step: number) {
    // Ids of a test's own rows.
    return { id: `r${this.rows.length + 1}` as NewRow["id"], turnId, step, createdAt: this.rows.length };
  }
}

async function good<T>(answer: Promise<T | Fault | null>): Promise<T> {
  const value = await answer;
  if (value === null || isFault(value)) throw new Error(JSON.stringify(value));
  return value;
}

describe("a tab with a hundred thousand rows", () => {
  const { rows } = new LongLog();

  test("[CONTEXT-9] reading it lets whatever else waits have its turn", {
    timeout: 120_000,
  }, async () => {
    const log = memoryLog();
    await using rig = await makeRig({ model: opus, log, files: { "/project/AGENTS.md": "Use tabs." } });
    const fence = await good(log.claim(rig.tab, 1));
    for (let at = 0; at < rows.length; at += 1_000) {
      const outcome = await log.commit(fence, { rows: rows.slice(at, at + 1_000) });
      if (outcome.kind !== "committed") throw new Error(outcome.kind);
    }
    const { contexts } = rig.workspace;
    let letIn = 0;
    let isRead = false;
    const others = (): void => {
      letIn += 1;
      if (!isRead) setImmediate(others);
    };
    setImmediate(others);
    await good(contexts.look(rig.tab));
    isRead = true;
    expect(letIn).toBeGreaterThan(100);
    expect((await good(contexts.preview(rig.tab, { effort: "high" }))).preview.tokens).toBeGreaterThan(0);
  });

  test("[CONTEXT-9] each row is read once, and what was read on is what reading it all gives", () => {
    const log: readonly StoredRow[] = rows.slice(0, 30_000).map((row, index) => ({ ...row, seq: index + 1, term: 1 }));
    const read: number[] = [];
    const watched = (upTo: number): readonly StoredRow[] =>
      new Proxy(log.slice(0, upTo), {
        get(target, name, receiver) {
          if (typeof name === "string" && /^\d+$/.test(name)) read.push(Number(name));
          return Reflect.get(target, name, receiver);
        },
      });
    const reader = new LogReader();
    const early = reader.read(watched(20_000));
    const before = JSON.stringify(early);
    read.length = 0;
    const late = reader.read(watched(20_500));
    expect(read.length).toBeLessThanOrEqual(502);
    expect(JSON.stringify(early)).toBe(before);
    for (const upTo of [20_500, log.length]) {
      const whole = readLog(log.slice(0, upTo));
      const grown = upTo === 20_500 ? late : reader.read(log);
      expect(JSON.stringify(grown)).toBe(JSON.stringify(whole));
      for (const seq of [1, 5_000, 18_400, upTo]) {
        expect(JSON.stringify(whole.viewAt(seq))).toBe(JSON.stringify(viewOf(readLog(log.slice(0, seq)))));
      }
    }
  });
});

const viewOf = ({ epoch, prefixSeq, compaction }: ReturnType<typeof readLog>) => ({ epoch, prefixSeq, compaction });
