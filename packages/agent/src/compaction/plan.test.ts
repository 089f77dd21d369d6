import { isFault } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RowList } from "../testing/rows.ts";
import { measure, rowTokens, scaleOf } from "./measure.ts";
import type { PlanInput } from "./plan.ts";
import { planCompaction } from "./plan.ts";

/** About `tokens` at 0.3 tokens a character. */
const words = (tokens: number, letter = "x"): string => letter.repeat(Math.round(tokens / 0.3));
const billed = (input: number, output = 0) => ({ fresh: input, read: 0, write5m: 0, output });

function log(): RowList {
  const prefix = {
    kind: "prefix",
    foldVersion: 1,
    system: ["SYS"],
    tools: [],
    constants: {},
    instructions: [],
  } as const;
  return new RowList()
    .at("", 0)
    .system({ ...prefix, system: ["SYS"], tools: [], instructions: [], hash: "h" })
    .system({ kind: "model-changed", model: "script/m", effort: "default" });
}
/** A turn of steps with one call each, every result of so many tokens. */
function turn(rows: RowList, id: string, options: { steps: number; tokens: number; open?: boolean; user?: string }) {
  rows.at(id, 0).user(options.user ?? `do ${id}`);
  for (let step = 0; step < options.steps; step++) {
    rows.at(id, step).request().call(`${id}${step}`).usage().result(`${id}${step}`, words(options.tokens));
  }
  if (options.open === true) return rows;
  return rows.at(id, options.steps).request().text("done").usage().end();
}

function plan(rows: RowList, more: Partial<PlanInput> = {}) {
  const made = planCompaction({ rows: rows.rows, windowTokens: 10_000, trigger: "manual", ...more });
  return isFault(made) ? expect.fail(made.message) : made;
}
const code = (rows: RowList, more: Partial<PlanInput> = {}) => {
  const made = planCompaction({ rows: rows.rows, windowTokens: 10_000, trigger: "manual", ...more });
  return isFault(made) ? made.code : "planned";
};

describe("measuring", () => {
  test("[AGENT-120] from the last bill, and an estimate of what came since", () => {
    const rows = log().at("t1", 0).user("go").request().call("A").usage(billed(1_000, 50)).result("A", words(100));
    const since = rowTokens(rows.rows.at(-1) ?? expect.fail("a row"), 0.3);
    expect(measure(rows.rows, 0.3)).toBe(1_050 + since);
    expect(since).toBeGreaterThanOrEqual(100);
    expect(since).toBeLessThan(125);
  });

  test("[AGENT-120] requests that sum up, keep warm or broke off measure nothing", () => {
    const rows = log().at("t1", 0).user("go").request().text("a").usage(billed(1_000, 50));
    const before = measure(rows.rows, 0.3);
    rows.usage({ ...billed(9_000), purpose: "compaction" }).usage({ ...billed(9_000), purpose: "warm" });
    expect(measure(rows.rows, 0.3)).toBe(before);
    rows.usage({ ...billed(9_000), cut: true });
    expect(measure(rows.rows, 0.3)).toBe(before);
  });

  test("[AGENT-120] behind a compaction its own figure counts, and an undo takes it back", () => {
    const rows = turn(log(), "t1", { steps: 3, tokens: 500 });
    const whole = measure(rows.rows, 0.3);
    const keepFrom = rows.rows.length + 1;
    rows.system({ kind: "compaction", summary: "S", keepFrom, keptUserSeqs: [], tokensAfter: 77 });
    const seq = rows.rows.length;
    expect(measure(rows.rows, 0.3)).toBe(77);
    rows.system({ kind: "compaction-undo", compactionSeq: seq });
    expect(measure(rows.rows, 0.3)).toBe(whole);
  });

  test("[AGENT-120] tokens of a character are those of the last billed request, within bounds", () => {
    const told = (chars: number, tokens: number) =>
      log()
        .at("t1", 0)
        .user("go")
        .system({ kind: "request", model: "script/m", scopeHash: "s", tailHash: "h", chars })
        .text("a")
        .usage(billed(tokens)).rows;
    expect(scaleOf(told(10_000, 2_500))).toBe(0.25);
    expect(scaleOf(told(10, 2_500))).toBe(1);
    expect(scaleOf(told(100_000, 1))).toBe(0.05);
    expect(scaleOf(log().rows)).toBe(0.3);
  });
});

describe("what stays", () => {
  test("[AGENT-121] the last turns, up to a share of the window; cut where a turn or a step begins", () => {
    const rows = log();
    for (const id of ["t1", "t2", "t3", "t4", "t5"]) turn(rows, id, { steps: 2, tokens: 800 });
    const made = plan(rows);
    const first = rows.rows.find(({ seq }) => seq === made.keepFrom);
    expect(first).toMatchObject({ type: "system", turnId: "t4", step: 2, data: { kind: "request" } });
    expect(made.summed).toEqual(rows.rows);
    expect(made.keptUserSeqs.map((seq) => rows.rows[seq - 1]?.data)).toEqual(
      ["t1", "t2", "t3", "t4"].map((id) => ({ text: `do ${id}` })),
    );
  });

  test("[AGENT-121] in an open turn the newest step stays, however large, and the cut is at a request", () => {
    const rows = turn(log(), "t1", { steps: 6, tokens: 1_400, open: true });
    const made = plan(rows);
    const first = rows.rows.find(({ seq }) => seq === made.keepFrom);
    expect(first).toMatchObject({ step: 5, data: { kind: "request" } });
    expect(made.keptUserSeqs).toHaveLength(1);
  });

  test("[AGENT-122] too little behind the last turns", () => {
    expect(code(turn(log(), "t1", { steps: 1, tokens: 10, open: true }))).toBe("nothing-to-compact");
    expect(code(log())).toBe("nothing-to-compact");
    const rows = turn(turn(log(), "t1", { steps: 1, tokens: 50 }), "t2", { steps: 1, tokens: 50 });
    expect(code(rows, { trigger: "auto" })).toBe("nothing-to-compact");
    expect(code(rows, { trigger: "manual" })).toBe("nothing-to-compact");
    expect(code(rows, { trigger: "overflow" })).toBe("planned");
    const more = turn(turn(log(), "t1", { steps: 1, tokens: 300 }), "t2", { steps: 1, tokens: 50 });
    expect(code(more, { trigger: "manual" })).toBe("planned");
  });

  test("[AGENT-121] a turn that brought nothing to read, as a compaction's own, is none of the last turns", () => {
    const rows = log();
    for (const id of ["t1", "t2", "t3"]) turn(rows, id, { steps: 2, tokens: 800 });
    const { keepFrom } = plan(rows);
    rows
      .at("t4", 0)
      .system({ kind: "request", model: "script/m", scopeHash: "s", tailHash: "h", purpose: "compaction" });
    expect(plan(rows.end()).keepFrom).toBe(keepFrom);
    rows.at("t5", 0).system({ kind: "compaction", summary: "S", keepFrom, keptUserSeqs: [], tokensAfter: 1_500 }).end();
    const words = rows.rows.findLast(({ type }) => type === "text")?.seq ?? 0;
    expect(plan(rows).keepFrom).toBeLessThan(words);
  });

  test("[AGENT-123] the person's words newest first within their budget; what is left out is named", () => {
    const rows = log();
    for (const id of ["t1", "t2", "t3"]) turn(rows, id, { steps: 1, tokens: 10, user: `${id} ${words(900)}` });
    turn(rows, "t4", { steps: 4, tokens: 800 });
    const made = plan(rows);
    const saidIn = (seqs: readonly number[]) => seqs.map((seq) => rows.rows[seq - 1]?.turnId);
    expect(saidIn(made.keptUserSeqs)).toEqual(
      ["t2", "t3", "t4"].filter((id) => id !== "t4" || made.keptUserSeqs.length > 2),
    );
    expect(saidIn(made.leftOutSeqs)).toEqual(["t1"]);
  });

  test("[AGENT-123] the agent's own word behind a cut answer is nobody's", () => {
    const rows = turn(log(), "t1", { steps: 3, tokens: 900 });
    rows.at("t2", 0).user("continue");
    turn(rows, "t3", { steps: 3, tokens: 900 });
    expect(plan(rows).keptUserSeqs.map((seq) => rows.rows[seq - 1]?.turnId)).not.toContain("t2");
  });

  test("[AGENT-124] of each topic the newest note stays", () => {
    const rows = log().system({ kind: "note", topic: "environment", text: "day 1" });
    turn(rows, "t1", { steps: 2, tokens: 800 });
    rows.at("", 0).system({ kind: "note", topic: "environment", text: "day 2" });
    const day2 = rows.rows.length;
    turn(rows, "t2", { steps: 2, tokens: 900 });
    turn(rows, "t3", { steps: 2, tokens: 900 });
    expect(plan(rows).keptNoteSeqs).toEqual([day2]);
  });

  test("[AGENT-125] where the body does not fit, the summary is of the longest beginning that does, and the rest stays", () => {
    const rows = turn(log(), "t1", { steps: 12, tokens: 1_000, open: true });
    const made = plan(rows, { trigger: "overflow" });
    const last = made.summed.at(-1)?.seq ?? expect.fail("rows");
    expect(made.keepFrom).toBeLessThanOrEqual(last + 1);
    expect(rows.rows[last]).toMatchObject({ data: { kind: "request" } });
    expect(made.summed.length).toBeLessThan(rows.rows.length);
    const less = plan(rows, { trigger: "overflow", shrink: 0.45 });
    expect(less.summed.length).toBeLessThan(made.summed.length);
  });

  test("[AGENT-126] no cut splits a step, and a second compaction cuts behind the first", () => {
    const step = fc.record({ tokens: fc.integer({ min: 1, max: 1_500 }), calls: fc.integer({ min: 1, max: 4 }) });
    const turns = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(turns, fc.boolean(), fc.constantFrom("manual", "auto", "overflow"), (list, open, trigger) => {
        const rows = log();
        for (const [index, steps] of list.entries()) {
          rows.at(`t${index}`, 0).user(`u${index}`);
          for (const [at, { tokens, calls }] of steps.entries()) {
            rows.at(`t${index}`, at).request();
            for (let i = 0; i < calls; i++) rows.call(`c${index}-${at}-${i}`);
            rows.usage();
            for (let i = 0; i < calls; i++) rows.result(`c${index}-${at}-${i}`, words(tokens));
          }
          if (!open || index < list.length - 1) rows.at(`t${index}`, steps.length).request().text("ok").usage().end();
        }
        let start = 0;
        for (let round = 0; round < 3; round++) {
          const made = planCompaction({ rows: rows.rows, windowTokens: 6_000, trigger });
          if (isFault(made)) return;
          expect(made.keepFrom).toBeGreaterThan(start);
          start = made.keepFrom;
          const calls = (seqs: (seq: number) => boolean) =>
            new Set(rows.rows.flatMap((row) => (row.type === "tool_call" && seqs(row.seq) ? [row.data.callId] : [])));
          const below = calls((seq) => seq < start);
          for (const row of rows.rows) {
            if (row.type === "tool_result") expect(below.has(row.data.callId)).toBe(row.seq < start);
          }
          expect(made.keptUserSeqs.every((seq) => seq < start)).toBe(true);
          rows.at("", 0).system({
            kind: "compaction",
            summary: "S",
            keepFrom: start,
            keptUserSeqs: [...made.keptUserSeqs],
            tokensAfter: made.tokensKept,
          });
        }
      }),
      { numRuns: 60 },
    );
  });
});
