/** The log against a model that is too simple to be wrong: arrays. Random batches, claims, forks, moves and pages. */
import type { LogId, NewRow, StoredRow } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Claim, Log, LogTarget } from "../log.ts";
import { verifyRows } from "../verify-rows.ts";
import {
  allRows,
  call,
  claimed,
  ids,
  notice,
  type OpenLog,
  outside,
  result,
  said,
  sound,
  startMs,
  userText,
} from "./fixtures.ts";

type Command =
  | { readonly do: "append"; readonly rows: readonly RowSketch[]; readonly stale: boolean }
  | { readonly do: "claim" }
  | { readonly do: "fork"; readonly at: number }
  | { readonly do: "back"; readonly pick: number }
  | {
      readonly do: "page";
      readonly a: number;
      readonly limit: number;
      readonly way: "before" | "after" | "end";
      readonly bytesMax: number;
    };
interface RowSketch {
  readonly kind: "say" | "ask" | "call" | "result" | "notice" | "repeat";
  /** Whether the row begins the next step. */
  readonly next: boolean;
  readonly callId: string;
  readonly text: string;
}

const sketch: fc.Arbitrary<RowSketch> = fc.record({
  kind: fc.constantFrom("say", "ask", "call", "call", "result", "result", "notice", "repeat"),
  next: fc.boolean(),
  callId: fc.constantFrom("a", "b", "c"),
  text: fc.string({ unit: "binary", maxLength: 40 }),
});
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      rows: fc.array(sketch, { maxLength: 6 }),
      stale: fc.boolean().map((flag) => flag && false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      rows: fc.array(sketch, { maxLength: 2 }),
      stale: fc.constant(true),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "claim" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("fork" as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("back" as const), pick: fc.nat(20) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("page" as const),
      a: fc.integer({ min: 0, max: 30 }),
      limit: fc.integer({ min: 1, max: 12 }),
      way: fc.constantFrom("before" as const, "after" as const, "end" as const),
      bytesMax: fc.constantFrom(1, 400, 900, 1_000_000),
    }),
  },
);

export function describeModel(open: OpenLog, runs: number): void {
  describe("against a model", () => {
    test("[LOG-1] [LOG-8] [LOG-9] [LOG-10] [LOG-12] random work reads back as the model says", async () => {
      await using opened = await open();
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
          const world = new Model(opened.log, await claimed(opened.log));
          for (const one of commands) await world.run(one);
          await world.compareAll();
        }),
        { numRuns: runs },
      );
    });
  });
}

class Model {
  readonly #log: Log;
  readonly #logs = new Map<LogId, StoredRow[]>();
  #claim: Claim;
  #stale: Claim;
  #step = 0;
  constructor(log: Log, claim: Claim) {
    this.#log = log;
    this.#claim = claim;
    this.#stale = { ...claim, term: claim.term - 1 };
    this.#logs.set(claim.logId, []);
  }

  async run(command: Command): Promise<void> {
    switch (command.do) {
      case "append":
        return this.#append(command.rows, command.stale);
      case "claim":
        return this.#reclaim();
      case "fork": {
        const parentSeq = Math.floor(command.at * this.#rows().length);
        await this.#point(
          { kind: "child", logId: ids.log(), parentId: this.#claim.logId, parentSeq },
          this.#rows().slice(0, parentSeq),
        );
        return;
      }
      case "back": {
        const known = [...this.#logs.keys()];
        const logId = known[command.pick % known.length] ?? this.#claim.logId;
        await this.#point({ kind: "earlier", logId }, this.#logs.get(logId) ?? []);
        return;
      }
      case "page":
        return this.#page(command);
    }
  }

  async compareAll(): Promise<void> {
    for (const [logId, rows] of this.#logs) {
      expect(await allRows(this.#log, logId)).toStrictEqual(rows);
      expect(verifyRows(rows).filter(({ problem }) => !problem.includes("without an open call"))).toEqual([]);
    }
    expect((await this.#log.logsOf(this.#claim.tabId)).map((entry) => [entry.id, entry.tail])).toEqual(
      [...this.#logs].map(([logId, rows]) => [logId, rows.length]),
    );
  }

  #rows(): StoredRow[] {
    return this.#logs.get(this.#claim.logId) ?? [];
  }

  async #append(sketches: readonly RowSketch[], stale: boolean): Promise<void> {
    const rows = sketches.map((one) => this.#draw(one));
    const outcome = await this.#log.commit(stale ? this.#stale : this.#claim, { rows });
    const expected = stale ? "fenced" : this.#isRefused(rows) ? "refused" : "committed";
    expect(outcome.kind).toBe(expected);
    if (outcome.kind !== "committed") return;
    expect(outcome.rows.map((row) => row.id)).toEqual(rows.map((row) => row.id));
    this.#rows().push(...outcome.rows);
  }

  #draw({ kind, next, callId, text }: RowSketch): NewRow {
    if (next && kind !== "notice" && kind !== "result") this.#step += 1;
    const place = ["t1", this.#step] as const;
    switch (kind) {
      case "say":
        return said(place, text);
      case "ask":
        return userText(place, text);
      case "call":
        return call(place, callId, { text });
      case "result":
        return result(place, callId, text);
      case "notice":
        return notice(outside, text);
      case "repeat":
        return said(place, text, this.#rows()[0]?.id ?? ids.chunk());
    }
  }

  /** Ids once; of the newest call of an id, one result, and none behind a model-visible row of another step. */
  #isRefused(rows: readonly NewRow[]): boolean {
    const all: NewRow[] = [...this.#rows()];
    for (const row of rows) {
      if (all.some((earlier) => earlier.id === row.id)) return true;
      if (row.type === "tool_result") {
        const { callId } = row.data;
        const newest = all.findLastIndex(
          (earlier) =>
            (earlier.type === "tool_call" || earlier.type === "tool_result") && earlier.data.callId === callId,
        );
        const found = all[newest];
        if (found?.type === "tool_result") return true;
        const later = found === undefined ? [] : all.slice(newest + 1);
        if (later.some((other) => other.role !== "system" && found !== undefined && other.step > found.step))
          return true;
      }
      all.push(row);
    }
    return false;
  }

  async #reclaim(): Promise<void> {
    this.#stale = this.#claim;
    this.#claim = sound(await this.#log.claim(this.#claim.tabId, startMs));
  }

  async #point(target: LogTarget, rows: readonly StoredRow[]): Promise<void> {
    const tab = sound(await this.#log.point(this.#claim, target, startMs));
    expect(tab).toMatchObject({ logId: target.logId, tail: rows.length });
    this.#logs.set(target.logId, this.#logs.get(target.logId) ?? [...rows]);
    await this.#reclaim();
  }

  async #page({ a, limit, way, bytesMax }: Extract<Command, { do: "page" }>): Promise<void> {
    const rows = this.#rows();
    const query = way === "end" ? {} : { [way]: a };
    const page = sound(await this.#log.page({ logId: this.#claim.logId, limit, bytesMax, ...query }));
    const candidates =
      way === "after" ? rows.slice(a) : rows.slice(0, way === "end" ? undefined : Math.max(0, a - 1)).reverse();
    const fitting: StoredRow[] = [];
    let units = 0;
    for (const row of candidates.slice(0, limit)) {
      units += JSON.stringify(row).length;
      if (fitting.length > 0 && units > bytesMax) break;
      fitting.push(row);
    }
    expect(page).toStrictEqual({ rows: way === "after" ? fitting : fitting.reverse(), tail: rows.length });
  }
}
