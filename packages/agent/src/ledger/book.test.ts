import type { NewRow, RequestPurpose, StoredRow, SystemData } from "@varve/protocol";
import { parseTurnId } from "@varve/protocol";
import type { GuardVerdict, ProfileName } from "@varve/wire";
import { describe, expect, test } from "vitest";
import type { ModelFacts } from "../model/facts.ts";
import { unknownFacts } from "../model/facts.ts";
import { factsOf } from "../model/facts-of.ts";
import { bookUsage } from "./book.ts";
import { chainAt, logUpTo } from "./chain.ts";
import type { UsageData } from "./price.ts";
import { attainableOf, roundingOf } from "./shortfall.ts";

const minute = 60_000;
const opus = factsOf("anthropic", "claude-opus-5-5");

/** A log that is written one request after another, as the loop does. */
class Story {
  readonly rows: StoredRow[] = [];
  now = 1_000_000;
  #step = 0;

  seal(data: SystemData): number {
    const seq = this.rows.length + 1;
    const row: NewRow = {
      id: `r${seq}` as StoredRow["id"],
      turnId,
      step: this.#step,
      role: "system",
      type: "system",
      data,
      createdAt: this.now,
    };
    this.rows.push({ ...row, seq, term: 1 });
    return seq;
  }

  /** One request: its row, its usage booked and sealed. `after`: minutes since the request before began. */
  request(told: Partial<UsageData>, more: RequestOptions = {}): UsageData {
    const { after = 1, purpose = "step", facts = opus, profile = "anthropic", guard = { kind: "extends" } } = more;
    this.#step += 1;
    this.now += after * minute;
    const model = told.model ?? "anthropic/claude-opus-5-5";
    if (more.row !== false) {
      const data: SystemData = { kind: "request", model, scopeHash: more.scope ?? "s", tailHash: "t", purpose };
      this.seal(more.ttl === undefined ? data : { ...data, ttl: more.ttl });
    }
    const booked = bookUsage({
      usage: { ...untold, ...told, model },
      rows: this.rows,
      place: { turnId, step: this.#step },
      model: { facts, target: { profile: { name: profile } } },
      startedAt: this.now,
      guard,
      purpose,
    });
    this.seal(booked);
    return booked;
  }

  /** A request that failed before anybody billed it. */
  failed(): void {
    this.#step += 1;
    this.seal({ kind: "request", model: "anthropic/claude-opus-5-5", scopeHash: "s", tailHash: "t", purpose: "step" });
  }
}
interface RequestOptions {
  readonly after?: number;
  readonly purpose?: RequestPurpose;
  readonly facts?: ModelFacts;
  readonly profile?: ProfileName;
  readonly guard?: GuardVerdict;
  readonly scope?: string;
  readonly ttl?: "5m" | "1h";
  readonly row?: false;
}

const turnId =
  parseTurnId("t1") ??
  (() => {
    throw new Error("a turn id");
  })();
const untold: UsageData = {
  kind: "usage",
  model: "",
  fresh: 0,
  read: 0,
  write5m: 0,
  write1h: null,
  output: 10,
  reasoning: null,
  price: null,
  attainable: null,
};
const prefix = (hash: string): SystemData => ({
  kind: "prefix",
  foldVersion: 1,
  system: ["s"],
  tools: [],
  constants: {},
  instructions: [],
  hash,
});
const compaction: SystemData = { kind: "compaction", summary: "s", keepFrom: 1, keptUserSeqs: [] };
const changed = (model: string): SystemData => ({ kind: "model-changed", model, effort: "default" });

describe("attainable read", () => {
  test("[AGENT-147] is the whole input of the answered step before; nothing for the first", () => {
    const story = new Story();
    expect(story.request({ fresh: 3, write5m: 2000 })).toMatchObject({ attainable: 0 });
    expect(story.request({ fresh: 3, read: 2000, write5m: 500 })).toMatchObject({ attainable: 2003 });
    const last = story.request({ fresh: 3, read: 2500, write5m: 10 });
    expect(last).toMatchObject({ attainable: 2503 });
    expect("cause" in last).toBe(false);
  });

  test("[AGENT-147] a request that nobody answered, a keep-warm one and a summary are no links of the chain", () => {
    const story = new Story();
    story.request({ write5m: 2000 });
    story.failed();
    expect(story.request({ read: 2000, write5m: 100 })).toMatchObject({ attainable: 2000 });
    expect(story.request({ read: 2100, output: 0 }, { purpose: "warm" })).toMatchObject({
      attainable: 2100,
      purpose: "warm",
    });
    expect(story.request({ read: 2100, write5m: 700 }, { purpose: "compaction" })).toMatchObject({ attainable: 2100 });
    expect(story.request({ read: 2100, write5m: 5 })).toMatchObject({ attainable: 2100 });
  });

  test("[AGENT-147] of a body that ends earlier it is that of the step where it ends; what was done beside the steps goes on counting", () => {
    const story = new Story();
    story.request({ write5m: 2000 });
    const end = story.rows.length;
    story.request({ write5m: 9000, model: "anthropic/claude-sonnet-5" });
    story.request({ read: 2000, output: 0 }, { purpose: "warm", after: 3 });
    const seen = logUpTo(story.rows, end);
    expect(seen.map(({ seq }) => seq)).toEqual([1, 2, 5, 6]);
    const chain = chainAt(seen, { turnId, step: 9 });
    expect([chain.before?.usageSeq, chain.touchedAt]).toEqual([2, story.now]);
    expect(chainAt(story.rows, { turnId, step: 9 }).before?.usageSeq).toBe(4);
  });

  test("[AGENT-147] a refresh that was billed in the middle of a step does not part the step from its request", () => {
    const story = new Story();
    story.seal({ kind: "request", model: untold.model, scopeHash: "mine", tailHash: "t", ttl: "1h" });
    story.seal({ ...untold, purpose: "warm" });
    story.seal({ ...untold, fresh: 2000 });
    expect(chainAt(story.rows, { turnId, step: 9 }).before).toMatchObject({
      usageSeq: 3,
      scopeHash: "mine",
      ttl: "1h",
    });
  });

  test("[AGENT-147] is unknown behind a request that was not told, and nothing behind one too short to be cached", () => {
    expect(attainableOf({ fresh: null, read: null, write5m: null, write1h: null }, opus.cache)).toBeNull();
    expect(attainableOf({ fresh: 511, read: null, write5m: null, write1h: null }, opus.cache)).toBe(0);
    expect(attainableOf({ fresh: 512, read: null, write5m: null, write1h: null }, opus.cache)).toBe(512);
    expect(attainableOf({ fresh: 5, read: null, write5m: null, write1h: null }, null)).toBe(5);
    expect(attainableOf(null, opus.cache)).toBe(0);
  });

  test("[AGENT-147] is found at the cost of the rows since the request before, however long the log is", () => {
    const story = new Story();
    story.request({ write5m: 2000 });
    for (let count = 0; count < 3; count++) story.request({ read: 2000 });
    const older = story.rows.length - 2;
    const watched = new Proxy(story.rows, {
      get: (rows, key) => {
        if (typeof key === "string" && Number(key) < older) throw new Error(`row ${key} was looked at`);
        return Reflect.get(rows, key);
      },
    });
    expect(chainAt(watched, { turnId, step: 5 }).before?.usage.read).toBe(2000);
  });
});

describe("the cause of a shortfall", () => {
  const missed = { read: 0, write5m: 2100 };
  function after(...rows: readonly SystemData[]) {
    const story = new Story();
    story.request({ write5m: 2000 });
    const seqs = rows.map((row) => story.seal(row));
    return { story, seqs };
  }

  test("[AGENT-148] a changed prefix, whatever else changed with it", () => {
    const { story, seqs } = after(changed("openai/x"), prefix("p2"), compaction);
    const cause = story.request({ ...missed, model: "openai/x" }, { after: 90, scope: "other" }).cause;
    expect(cause).toEqual({ kind: "prefix", tokens: 2000, seq: seqs[1] });
  });

  test("[AGENT-148] a compaction, and its undoing", () => {
    const { story, seqs } = after(compaction);
    expect(story.request({ write5m: 700 }).cause).toEqual({ kind: "compaction", tokens: 2000, seq: seqs[0] });
    const undone = story.seal({ kind: "compaction-undo", compactionSeq: 3 });
    expect(story.request({ write5m: 2100 }).cause).toEqual({ kind: "compaction", tokens: 700, seq: undone });
    expect("cause" in story.request({ read: 2100 })).toBe(false);
  });

  test("[AGENT-148] another model, there and back", () => {
    const { story, seqs } = after(changed("openai/x"));
    const there = story.request({ ...missed, model: "openai/x" }, { after: 90 });
    expect(there.cause).toEqual({ kind: "model", tokens: 2000, seq: seqs[0] });
    const back = story.request({ read: 1500, write5m: 700 }, { after: 90 });
    expect(back.cause).toEqual({ kind: "model", tokens: 600 });
  });

  test("[AGENT-148] other options of the same model", () => {
    const { story, seqs } = after(changed("anthropic/claude-opus-5-5"));
    const cause = story.request(missed, { scope: "other", after: 90 }).cause;
    expect(cause).toEqual({ kind: "options", tokens: 2000, seq: seqs[0] });
  });

  test("[AGENT-148] a request that does not extend the one before, with the row where they part", () => {
    const guard = { kind: "changed", firstDifferingBlock: 4, seq: 2 } as const;
    expect(after().story.request(missed, { guard, after: 90 }).cause).toEqual({
      kind: "guard",
      tokens: 2000,
      seq: 2,
    });
    expect(after().story.request(missed, { guard: { ...guard, seq: null } }).cause).toEqual({
      kind: "guard",
      tokens: 2000,
    });
    const voided = { kind: "restarted", by: "step-void", seq: 2 } as const;
    expect(after().story.request(missed, { guard: voided }).cause).toEqual({ kind: "guard", tokens: 2000, seq: 2 });
  });

  test.each([
    ["five minutes", {}, 5, "provider"],
    ["more than five minutes", {}, 5.1, "expired"],
    ["an hour that was asked for", { ttl: "1h" }, 60, "provider"],
    ["more than an hour that was asked for", { ttl: "1h" }, 60.1, "expired"],
    [
      "half an hour with a provider that keeps so long",
      { facts: factsOf("openai", "gpt-5.6-sol"), profile: "openai-responses" },
      29,
      "provider",
    ],
    [
      "any time with a model of which nothing is known",
      { facts: unknownFacts, profile: "openai-compatible" },
      999,
      "provider",
    ],
  ] as const)("[AGENT-148] silence of %s", (_, more, idle, kind) => {
    const story = new Story();
    story.request({ write5m: 2000 }, more);
    const { cause } = story.request(missed, { ...more, after: idle });
    expect(cause).toEqual({ kind, tokens: 2000, ...(kind === "expired" ? { idleMs: idle * minute } : {}) });
  });

  test("[AGENT-148] silence counts from the newest request that kept the entry alive", () => {
    const story = new Story();
    story.request({ write5m: 2000 });
    for (let count = 0; count < 3; count++) story.request({ read: 2000, output: 0 }, { purpose: "warm", after: 4.5 });
    expect(story.request(missed, { after: 4 }).cause).toEqual({ kind: "provider", tokens: 2000 });
    story.request({ read: 2100 }, { purpose: "compaction", after: 4 });
    expect(story.request(missed, { after: 6 }).cause).toEqual({ kind: "expired", tokens: 2100, idleMs: 6 * minute });
  });

  test("[AGENT-148] a keep-warm request of another model keeps nothing of this one alive", () => {
    const story = new Story();
    story.request({ write5m: 2000 });
    story.request({ model: "openai/x", output: 0 }, { purpose: "warm", after: 4 });
    expect(story.request(missed, { after: 4 }).cause).toEqual({ kind: "expired", tokens: 2000, idleMs: 8 * minute });
  });

  test("[AGENT-148] without a request row the time of the usage row must do", () => {
    const story = new Story();
    story.request({ write5m: 2000 }, { row: false });
    expect(story.request(missed, { after: 7, row: false }).cause).toMatchObject({
      kind: "expired",
      idleMs: 7 * minute,
    });
  });

  test("[AGENT-148] nothing is missing within what a provider rounds, nor where it tells nothing of reading", () => {
    for (const [profile, attainable, rounding] of [
      ["anthropic", 500_000, 64],
      ["openai-responses", 2000, 128],
      ["google", 500_000, 5000],
    ] as const) {
      expect(roundingOf(profile, attainable), profile).toBe(rounding);
      const story = new Story();
      story.request({ fresh: attainable }, { profile });
      expect("cause" in story.request({ read: attainable - rounding }, { profile }), profile).toBe(false);
      const other = new Story();
      other.request({ fresh: attainable }, { profile });
      expect("cause" in other.request({ read: attainable - rounding - 1 }, { profile }), profile).toBe(true);
    }
    const story = new Story();
    story.request({ write5m: 2000 });
    expect("cause" in story.request({ fresh: 2000, read: null })).toBe(false);
  });
});

describe("what is booked", () => {
  test("[AGENT-146] the price by our rates, with when it began and what for", () => {
    const story = new Story();
    const usage = story.request({ fresh: 1_000_000, output: 0 });
    expect(usage).toMatchObject({ price: 4, startedAt: story.now, purpose: "step" });
    expect(story.request({ fresh: 1 }, { facts: unknownFacts }).price).toBeNull();
  });

  test("[AGENT-146] writes that a provider does not tell apart live as long as the request asked", () => {
    const long = new Story().request({ write5m: 1_000_000, output: 0 }, { ttl: "1h" });
    expect(long).toMatchObject({ write5m: 0, write1h: 1_000_000, price: 8 });
    const told = new Story().request({ write5m: 1_000_000, write1h: 0, output: 0 }, { ttl: "1h" });
    expect(told).toMatchObject({ write5m: 1_000_000, write1h: 0, price: 5 });
    const none = new Story().request({ fresh: 9, write5m: null }, { ttl: "1h" });
    expect(none).toMatchObject({ write5m: null, write1h: null });
  });

  test.each([
    ["what it billed", { cost: 0.5 }, 0.5],
    ["a free answer", { cost: 0 }, 0],
    [
      "its fee and the seller's bill with a person's own key",
      { cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: 2 } },
      2.1,
    ],
    ["our rates with a person's own key and no seller's bill", { cost: 0.1, is_byok: true }, 4],
    ["our rates where it says nothing", {}, 4],
  ])("[AGENT-146] OpenRouter: %s", (_, raw, price) => {
    const more = { profile: "openrouter", facts: factsOf("openrouter", "anthropic/claude-opus-5.5") } as const;
    expect(new Story().request({ fresh: 1_000_000, output: 0, raw }, more).price).toBeCloseTo(price, 12);
  });

  test("[AGENT-146] a cost that another server names is not taken for dollars", () => {
    expect(new Story().request({ fresh: 1_000_000, output: 0, raw: { cost: 7 } }).price).toBe(4);
  });
});
