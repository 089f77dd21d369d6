/**
 * A long day of work in a whole workspace: bursts, steers, stops, retries, restarts, gaps short and long, a date that changes,
 * instruction files that are edited. What each request read is compared with what it could have read.
 */
import { isFault } from "@varve/protocol";
import { createPrng, type FakeProviderOptions, type RecordedCall, type Reply, type ReplyBlock } from "@varve/sim";
import { makeRig, type Rig } from "./rig.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
/** Looks of `settle`, each with the clock moved on: enough for the longest back-off. */
const looksMax = 4_000;
/** While an answer streams time hardly moves; between, a back-off passes in a few looks. */
const lookMs = { streaming: 2, waiting: 200 } as const;

export interface CacheDayOptions {
  readonly model: string;
  readonly seed: number;
  readonly cache?: FakeProviderOptions["cache"];
}

export interface DayCall {
  /** The first words that the tab was ever sent. */
  readonly tab: string;
  readonly startedAtMs: number;
  readonly total: number;
  readonly read: number;
  readonly attainable: number;
  /** Only then it left something in the cache. */
  readonly hasBegun: boolean;
}

export interface DayOutcome {
  readonly refusals: readonly string[];
  readonly calls: readonly DayCall[];
  /** Thinking that a request should have brought back and did not. */
  readonly droppedThinking: number;
  /** Requests that show a call of an answer that never came to its end. */
  readonly halfCalls: number;
}

export async function cacheDay(options: CacheDayOptions): Promise<DayOutcome> {
  const files: Record<string, string> = { "/project/AGENTS.md": instructions("first") };
  const provider = { reply: agentOf(options.seed), cache: { minimumPrefix: true, ...options.cache } };
  await using rig = await makeRig({ model: options.model, files, provider });
  const day = new Day(rig);
  await day.work();
  await day.interrupted();
  await day.failures();
  for (const gap of [20 * second, 4 * minute, 6 * minute, 29 * minute, 61 * minute, 26 * hour]) await day.after(gap);
  files["/project/AGENTS.md"] = instructions("second");
  await day.after(30 * second);
  const secondTab = await day.anotherTab(options.model);
  await secondTab.work();
  await day.after(10 * second);
  files["/project/AGENTS.md"] = instructions("third");
  await using again = await rig.restarted();
  const later = new Day({ ...again, tab: rig.tab }, "again");
  await later.after(5 * second);
  await later.work();
  await later.after(40 * second);
  return outcomeOf(rig.provider.calls);
}

/** Long enough that every vendor keeps it. */
const instructions = (name: string): string =>
  `Rules, ${name} edition.\n${`Keep ${name} things in order. `.repeat(800)}`;

/** A model that decides by what it was asked: calls in bursts now and then, thinking of every kind, an end after a few steps. */
function agentOf(seed: number): NonNullable<FakeProviderOptions["reply"]> {
  return ({ index, lastResults, messages }): Reply => {
    const prng = createPrng(seed * 1_000 + index);
    const steps = messages.length - messages.findLastIndex(({ role, text }) => role === "user" && text !== "");
    const thinking: readonly ReplyBlock[] = prng.chance(0.7) ? [{ type: "thinking", text: `I look at ${index}.` }] : [];
    const text: ReplyBlock = { type: "text", text: `Step ${index}: ${"so it goes. ".repeat(prng.int(1, 20))}` };
    const isOver = lastResults.length > 0 && (steps > 60 || prng.chance(0.5));
    if (isOver) return { blocks: [...thinking, text] };
    const count = prng.chance(0.2) ? prng.int(20, 32) : prng.int(1, 3);
    const calls = Array.from({ length: count }, (_, at): ReplyBlock => {
      return { type: "tool_use", name: "work", input: { z: 1, at, index } };
    });
    return { blocks: [...thinking, ...(prng.chance(0.8) ? [text] : []), ...calls] };
  };
}

class Day {
  readonly #rig: Rig;
  readonly #name: string;
  #sent = 0;

  constructor(rig: Rig, name = "one") {
    this.#rig = rig;
    this.#name = name;
  }

  async #send(delivery?: "steer" | "stop"): Promise<void> {
    this.#sent += 1;
    const id = `${this.#name}-${this.#sent}`;
    const message = {
      id: this.#rig.id(id),
      text: `tab ${this.#name}, message ${this.#sent}`,
      ...(delivery && { delivery }),
    };
    const sent = await this.#rig.workspace.send(this.#rig.tab, message, "test");
    if (isFault(sent)) throw new Error(sent.message);
  }

  /** Until the tab rests; what its tools were asked to do is done at once. */
  async #settle(): Promise<void> {
    await this.#look("the tab rests", () => {
      this.#endWorks();
      return this.#state() === "idle";
    });
  }

  #endWorks(): void {
    for (const [callId, { end }] of this.#rig.works) end(`done ${callId} ${"line of output\n".repeat(20)}`);
  }

  #state(): string {
    const record = this.#rig.workspace.get(this.#rig.tab);
    return isFault(record) ? record.code : record.state;
  }

  async #look(what: string, condition: () => boolean): Promise<void> {
    for (let look = 0; look < looksMax; look++) {
      if (condition()) return;
      const isStreaming = this.#rig.provider.calls.some((call) => call.outcome() === null);
      await this.#rig.clock.advance(isStreaming ? lookMs.streaming : lookMs.waiting);
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`it never came true: ${what} (${this.#state()})`);
  }

  async after(gapMs: number): Promise<void> {
    await this.#rig.clock.advance(gapMs);
    await this.#send();
    await this.#settle();
  }

  /** Turns in quick succession, a steer in the middle of the last. */
  async work(): Promise<void> {
    await this.after(5 * second);
    await this.#rig.clock.advance(10 * second);
    await this.#send();
    await this.#look("a tool runs, or all is over", () => this.#rig.works.size > 0 || this.#state() === "idle");
    await this.#send(this.#state() === "idle" ? undefined : "steer");
    await this.#settle();
  }

  /** Stopped in the middle of an answer, and before its first word. */
  async interrupted(): Promise<void> {
    for (const deltas of [4, 0]) {
      const gate = this.#rig.provider.gate();
      const arrived = this.#rig.provider.calls.length;
      await this.#send();
      await this.#look("the request arrives", () => this.#rig.provider.calls.length > arrived);
      await gate.started;
      if (deltas > 0) await gate.step(deltas);
      await this.#send("stop");
      await this.#settle();
    }
  }

  /** Refused, cut before and in the middle, overloaded inside the stream, ended without an end: each comes again. */
  async failures(): Promise<void> {
    const call: ReplyBlock = { type: "tool_use", name: "work", input: { never: "to be run" } };
    const text: ReplyBlock = { type: "text", text: "Half of an answer that never comes to its end." };
    this.#rig.provider.add(
      { fail: { kind: "status", status: 529 } },
      { fail: { kind: "cut", at: "start" } },
      { blocks: [text], fail: { kind: "cut", at: 2 } },
    );
    await this.after(second);
    this.#rig.provider.add(
      { blocks: [text], fail: { kind: "error-event", at: 1 } },
      { blocks: [text], fail: { kind: "clean-end", at: 2 } },
      { blocks: [text, call], fail: { kind: "clean-end", at: "end" } },
    );
    await this.after(second);
  }

  async anotherTab(model: string): Promise<Day> {
    const made = await this.#rig.workspace.create({ cwd: "/project", model, permissions: "allow" });
    if (isFault(made)) throw new Error(made.message);
    return new Day({ ...this.#rig, tab: made.id }, "two");
  }
}

function outcomeOf(calls: readonly RecordedCall[]): DayOutcome {
  const counted = calls.flatMap((call): readonly DayCall[] => {
    const figures = call.counted();
    if (figures === null) return [];
    const { read, write5m, write1h, fresh, attainable } = figures;
    const tab = /tab (\w+), message 1\b/.exec(call.rawBody)?.[1] ?? "";
    return [
      {
        tab,
        hasBegun: call.hasBegun(),
        startedAtMs: call.startedAtMs,
        total: read + write5m + write1h + fresh,
        read,
        attainable,
      },
    ];
  });
  return {
    refusals: calls.flatMap(({ refusal }) => (refusal === null ? [] : [refusal])),
    calls: counted,
    halfCalls: calls.filter(({ rawBody }) => rawBody.includes("to be run")).length,
    droppedThinking: calls.reduce((sum, { droppedThinking }) => sum + droppedThinking, 0),
  };
}
