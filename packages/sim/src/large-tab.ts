/**
 * A tab of any length, made in the home of a server that does not run: turns of the usual shape, through the real log and
 * all its rules, many rows to one transaction. The tab is there already, with the first turn that a real server gave it.
 */
import { type Claim, type Log, openSqliteLog } from "@varve/log";
import { assert, type Clock, type IdMaker, isFault, type NewRow, noTurn, type TabId } from "@varve/protocol";

export interface LargeTabOptions {
  /** `VARVE_HOME`. Nobody else may hold it. */
  readonly home: string;
  readonly tabId: TabId;
  /** The tail that the tab shall have at least: the last turn is finished. */
  readonly rows: number;
  readonly ids: IdMaker;
  readonly clock: Clock;
  /** UTF-16 units of a tool's result; a row has a kilobyte on average with the default. */
  readonly resultChars?: number;
}

export interface LargeTab {
  readonly tail: number;
  /** Seq of the summary in force: what stands before it is not sent to the model any more. */
  readonly compactionSeq: number;
}

/** Rows of one transaction. */
const batchRows = 5_000;
const words = "The quick brown fox jumps over the lazy dog and looks at what the build has left behind. ";

export async function growTab(options: LargeTabOptions): Promise<LargeTab> {
  const log = await openSqliteLog({ home: options.home, clock: options.clock });
  assert(!isFault(log), "the home can be opened");
  try {
    const claim = await log.claim(options.tabId, options.clock.now());
    assert(claim !== null && !isFault(claim), "the tab is there");
    return await new TabWriter(log, claim, options).write();
  } finally {
    await log.close();
  }
}

class TabWriter {
  readonly #log: Log;
  readonly #claim: Claim;
  readonly #options: LargeTabOptions;
  readonly #at: number;
  readonly #result: string;
  #batch: NewRow[] = [];
  #made: number;

  constructor(log: Log, claim: Claim, options: LargeTabOptions) {
    this.#log = log;
    this.#claim = claim;
    this.#options = options;
    this.#at = options.clock.now();
    this.#made = claim.tail;
    const chars = options.resultChars ?? 2_400;
    this.#result = words.repeat(Math.ceil(chars / words.length)).slice(0, chars);
  }

  async write(): Promise<LargeTab> {
    let [number, keepFrom] = [0, this.#made + 1];
    while (this.#made < this.#options.rows - 1) {
      keepFrom = this.#made + 1;
      this.#addTurn(number);
      number += 1;
      if (this.#batch.length >= batchRows) await this.#seal();
    }
    // A tab of this length was summed up many times; the last summary is the one that counts.
    const { ids } = this.#options;
    this.#add({ id: ids.chunk(), turnId: noTurn, step: 0, createdAt: this.#at, ...summary(keepFrom) });
    await this.#seal();
    return { tail: this.#made, compactionSeq: this.#made };
  }

  /** Ten rows: a message, two steps with a call each, a last step, the end. */
  #addTurn(number: number): void {
    const { ids } = this.#options;
    const turnId = ids.turn();
    const say = (step: number, text: string): void =>
      this.#add({ ...this.#base(turnId, step), role: "assistant", type: "text", data: { text } });
    this.#add({
      ...this.#base(turnId, 0),
      role: "user",
      type: "text",
      data: { text: `Message ${number}. ${words.repeat(2)}` },
      by: "large-tab",
    });
    for (const step of [0, 1]) {
      say(step, `Turn ${number}, step ${step}.\n\n${words.repeat(4)}\n\n- *one*\n- \`two\``);
      const callId = `call-${number}-${step}`;
      const input = { command: `cat notes/${number}.txt` };
      const name = "bash";
      const call = { callId, name, arguments: input, argsText: JSON.stringify(input) };
      this.#add({ ...this.#base(turnId, step), role: "assistant", type: "tool_call", data: call });
      const data = { callId, name, result: `${number}: ${this.#result}`, isError: false };
      this.#add({ ...this.#base(turnId, step), role: "tool", type: "tool_result", data });
    }
    say(2, `Turn ${number} is done. ${words.repeat(3)}`);
    this.#add({
      ...this.#base(turnId, 2),
      role: "system",
      type: "system",
      data: { kind: "notice", level: "info", code: "made", text: `Notice ${number}.` },
    });
    this.#add({
      ...this.#base(turnId, 2),
      role: "system",
      type: "system",
      data: { kind: "turn-end", reason: "done" },
    });
  }

  #base(turnId: NewRow["turnId"], step: number): Pick<NewRow, "id" | "turnId" | "step" | "createdAt"> {
    return { id: this.#options.ids.chunk(), turnId, step, createdAt: this.#at };
  }

  #add(row: NewRow): void {
    this.#batch.push(row);
    this.#made += 1;
  }

  async #seal(): Promise<void> {
    const outcome = await this.#log.commit(this.#claim, { rows: this.#batch });
    assert(outcome.kind === "committed" && outcome.tail === this.#made, `the rows are sealed: ${outcome.kind}`);
    this.#batch = [];
  }
}

const summary = (keepFrom: number): Pick<Extract<NewRow, { type: "system" }>, "role" | "type" | "data"> => ({
  role: "system",
  type: "system",
  data: { kind: "compaction", summary: "A long job went well.", keepFrom, keptUserSeqs: [], trigger: "auto" },
});
