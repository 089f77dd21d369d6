import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BillBody } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import { billBodySchema } from "@varve/protocol/schema";
import { recordedDataDir, WITHOUT_RECORDINGS } from "@varve/sim";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordingLimits } from "./limits.ts";
import { billOf, formatOf, readBill } from "./read-bill.ts";

const minute = 60_000;
const start = Date.parse("2026-11-20T10:00:00Z");

async function billFrom(lines: readonly (object | string | null)[]): Promise<BillBody> {
  const result = await billOf("/f.jsonl", texts(lines));
  if (isFault(result)) throw new Error(result.message);
  return result;
}
async function* texts(lines: readonly (object | string | null)[]): AsyncGenerator<string | null> {
  for (const line of lines) yield line === null || typeof line === "string" ? line : JSON.stringify(line);
}
const short = ({ causes }: BillBody) => causes.map(({ kind, requests, tokens }) => ({ kind, requests, tokens }));

/** A pi entry; `at` in minutes. */
/** The word by which pi begins a file. */
const piHead = "session";
const header = {
  type: piHead,
  id: "s",
  cwd: "/w",
  provider: "anthropic",
  modelId: "claude-opus-5-5",
  thinkingLevel: "off",
};
function asked(
  at: number,
  usage: object,
  more: {
    readonly model?: string;
    readonly provider?: string;
    readonly id?: string;
    readonly parentId?: string | null;
  } = {},
) {
  const { model = "claude-opus-5-5", provider = "anthropic", ...place } = more;
  const zero = { input: 0, output: 10, cacheRead: 0, cacheWrite: 0 };
  const message = { role: "assistant", provider, model, usage: { ...zero, ...usage }, timestamp: start + at * minute };
  return { type: "message", ...place, message };
}

describe("a recording that somebody made to do harm", () => {
  test("[BILL-7] figures, times and names that cannot be are taken for unknown", async () => {
    const absurd = [1e300, -1, "7", null, [], {}, Number.MAX_VALUE];
    const bill = await billFrom([
      header,
      asked(0, { input: 100_000 }),
      ...absurd.map((figure) => ({
        ...asked(0, { input: figure, output: figure, cacheRead: figure, cacheWrite: figure, cost: { total: figure } }),
        message: { ...asked(0, { input: figure }).message, timestamp: figure },
      })),
      ...absurd.map((figure) => asked(1, { input: 100_000, cacheWrite1h: figure, reasoning: figure })),
      asked(400, { input: 100_000 }, { model: "m".repeat(100_000), provider: "p".repeat(100_000) }),
      { ...asked(500, { input: 100_000 }), timestamp: 1e300 },
      ...["__proto__", "constructor", "toString"].map((model) => asked(600, { input: 5 }, { model, provider: model })),
    ]);
    expect(JSON.parse(JSON.stringify(bill))).toEqual(bill);
    expect(billBodySchema.parse(bill)).toEqual(bill);
    expect(bill.models.map(({ model }) => model)).toContain("unknown/unknown");
    for (const { at } of bill.shortfalls) expect(new Date(at).toISOString()).toMatch(/Z$/);
  });

  test("[BILL-7] names without end cost no memory without end", async () => {
    const { modelsMax } = recordingLimits;
    const many = Array.from({ length: modelsMax * 2 }, (_, index) =>
      asked(index, { input: 9 }, { model: `m${index}` }),
    );
    const bill = await billFrom([header, ...many]);
    expect(bill.models).toHaveLength(modelsMax);
    expect(bill.sum.requests).toBe(modelsMax * 2);
  });
});

describe("a recording of pi", () => {
  test("[BILL-2] each assistant message is a request, priced by our list; what the file says stands beside it", async () => {
    const cost = { total: 0.5 };
    const bill = await billFrom([
      header,
      asked(0, { input: 1_000_000, output: 0, cost }),
      asked(1, { input: 10, cacheRead: 1_000_000, cacheWrite: 1000, cacheWrite1h: 400, output: 7, reasoning: 3, cost }),
    ]);
    expect(bill).toMatchObject({ path: "/f.jsonl", format: "pi", unreadable: 0, told: 1 });
    expect(bill.sum).toMatchObject({ requests: 2, write5m: 600, write1h: 400, reasoning: 3, attainable: 1_000_000 });
    expect(bill.sum.price).toBeCloseTo(4 + (40 + 200_000 + 3000 + 3200 + 140) / 1_000_000, 9);
    expect(bill.models).toEqual([{ model: "anthropic/claude-opus-5-5", sum: bill.sum }]);
    expect(bill).toMatchObject({ causes: [], shortfalls: [], rewritten: { tokens: 0, price: 0, share: 0 } });
  });

  test("[BILL-2] a seller whose list is not known has no price, and a file that names no cost tells none", async () => {
    const bill = await billFrom([header, asked(0, { input: 9 }, { provider: "github-copilot", model: "gpt-5" })]);
    expect(bill).toMatchObject({ told: null, sum: { requests: 1, price: 0, unpriced: 1 } });
    const mistral = await billFrom([
      header,
      asked(0, { input: 1_000_000, output: 0 }, { provider: "mistral", model: "mistral-large-2512" }),
    ]);
    expect(mistral.sum.price).toBeCloseTo(0.5, 9);
  });

  test("[BILL-3] a request that told nothing is counted as such, and the next one is held against the one before it", async () => {
    const bill = await billFrom([
      header,
      asked(0, { cacheWrite: 2000 }),
      asked(1, { output: 0 }),
      asked(2, { cacheRead: 2000 }),
    ]);
    expect(bill.sum).toMatchObject({ requests: 3, untold: 1, unpriced: 1, attainable: 2000, attained: 2000 });
    expect(bill.causes).toEqual([]);
  });

  test("[BILL-4] silence, another model, another thinking level, a summary: each shortfall has its cause", async () => {
    const lost = { cacheWrite: 2000 };
    const expired = await billFrom([header, asked(0, lost), asked(6, lost)]);
    expect(expired.shortfalls).toMatchObject([
      {
        request: 1,
        at: start + 6 * minute,
        attainable: 2000,
        read: 0,
        cause: { kind: "expired", tokens: 2000, idleMs: 6 * minute },
      },
    ]);
    const long = { cacheWrite: 2000, cacheWrite1h: 2000 };
    const hour = await billFrom([
      header,
      asked(0, long),
      asked(59, { cacheRead: 2000 }),
      asked(118, { cacheRead: 1500 }),
    ]);
    expect(short(hour)).toEqual([{ kind: "provider", requests: 1, tokens: 0 }]);
    const model = await billFrom([header, asked(0, lost), asked(1, lost, { model: "claude-sonnet-5-5" })]);
    expect(short(model)).toEqual([{ kind: "model", requests: 1, tokens: 2000 }]);
    const level = (thinkingLevel: string) => ({ type: "thinking_level_change", thinkingLevel });
    const options = await billFrom([
      header,
      asked(0, lost),
      level("high"),
      asked(1, lost),
      level("low"),
      level("high"),
      asked(2, { cacheRead: 2000 }),
    ]);
    expect(short(options)).toEqual([{ kind: "options", requests: 1, tokens: 2000 }]);
    const summary = await billFrom([
      header,
      asked(0, lost),
      { type: "compaction" },
      asked(9, { cacheWrite: 800 }),
      asked(10, { cacheRead: 800 }),
    ]);
    expect(short(summary)).toEqual([{ kind: "compaction", requests: 1, tokens: 800 }]);
    expect(summary.shortfalls[0]?.cause).toEqual({ kind: "compaction", tokens: 2000 });
  });

  test("[BILL-4] where nothing was read of a living entry the front of the request was another one; where less was, it is not explained", async () => {
    const front = await billFrom([header, asked(0, { cacheWrite: 2000 }), asked(1, { cacheWrite: 2000 })]);
    expect(short(front)).toEqual([{ kind: "prefix", requests: 1, tokens: 2000 }]);
    const part = await billFrom([
      header,
      asked(0, { cacheWrite: 2000 }),
      asked(1, { cacheRead: 500, cacheWrite: 1500 }),
    ]);
    expect(short(part)).toEqual([{ kind: "provider", requests: 1, tokens: 1500 }]);
    const google = { provider: "google", model: "gemini-2.5-flash" };
    const routed = await billFrom([header, asked(0, { input: 5000 }, google), asked(1, { input: 5000 }, google)]);
    expect(short(routed)).toEqual([{ kind: "provider", requests: 1, tokens: 5000 }]);
  });

  test("[BILL-5] what was paid again is a count of tokens, the money beyond reading them, and its share of the bill", async () => {
    const bill = await billFrom([
      header,
      asked(0, { cacheWrite: 1_000_000, output: 0 }),
      asked(9, { cacheWrite: 1_000_000, output: 0 }),
    ]);
    expect(bill.rewritten).toEqual({
      tokens: 1_000_000,
      price: expect.closeTo(4.8, 9),
      share: expect.closeTo(0.48, 9),
    });
    const unknown = { provider: "github-copilot", model: "x" };
    const priceless = await billFrom([header, asked(0, { input: 5000 }, unknown), asked(1, { input: 5000 }, unknown)]);
    expect(priceless.rewritten).toEqual({ tokens: 5000, price: null, share: null });
  });

  test("[BILL-3] in a tree each request is held against the nearest one that it follows", async () => {
    const at = (id: string, parentId: string | null) => ({ id, parentId });
    const bill = await billFrom([
      { ...header, version: 3 },
      asked(0, { cacheWrite: 2000 }, at("a", null)),
      { type: "custom", ...at("a2", "a") },
      asked(1, { cacheRead: 2000, cacheWrite: 3000 }, at("b", "a2")),
      asked(2, { cacheRead: 2000, cacheWrite: 900 }, at("c", "a")),
      asked(3, { cacheRead: 5000 }, at("d", "b")),
      asked(4, { cacheRead: 5000 }, at("e", "of a lost line")),
      asked(5, { cacheWrite: 700 }, at("f", null)),
    ]);
    expect(bill.sum).toMatchObject({ requests: 6, attainable: 2000 + 2000 + 5000 + 5000, attained: 14_000 });
    expect(bill.causes).toEqual([]);
  });
});

/** A Claude Code entry; `at` in minutes. */
function entry(uuid: string, parentUuid: string | null, at: number, more: object = {}) {
  return {
    uuid,
    parentUuid,
    type: "user",
    isSidechain: false,
    timestamp: new Date(start + at * minute).toISOString(),
    ...more,
  };
}
function answer(
  uuid: string,
  parentUuid: string | null,
  at: number,
  given: { readonly id?: string; readonly usage: object; readonly model?: string; readonly more?: object },
) {
  const usage = {
    input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 1,
    ...given.usage,
  };
  const message = { id: given.id ?? uuid, role: "assistant", model: given.model ?? "claude-opus-5-5-20261001", usage };
  return entry(uuid, parentUuid, at, { type: "assistant", message, ...given.more });
}
const wrote = (cache_creation_input_tokens: number) => ({ cache_creation_input_tokens });

describe("a recording of Claude Code", () => {
  test("[BILL-2] a request written on several lines, and again after a resume, is one with its last figures", async () => {
    const usage = wrote(2000);
    const bill = await billFrom([
      entry("u", null, 0),
      answer("a1", "u", 1, { id: "m", usage: { ...usage, output_tokens: 1 } }),
      answer("a2", "a1", 1, { id: "m", usage: { ...usage, output_tokens: 50 } }),
      answer("b1", null, 30, { id: "m", usage: { ...usage, output_tokens: 50 } }),
      entry("u2", "b1", 2),
      answer("c", "u2", 3, { usage: { cache_read_input_tokens: 2000 } }),
    ]);
    expect(bill).toMatchObject({ format: "claude-code", told: null, causes: [] });
    expect(bill.sum).toMatchObject({ requests: 2, output: 51, write5m: 2000, attainable: 2000, attained: 2000 });
    expect(bill.models.map(({ model }) => model)).toEqual(["anthropic/claude-opus-5-5-20261001"]);
  });

  test("[BILL-3] a sub-agent is a chain of its own", async () => {
    const side = { isSidechain: true, agentId: "x" };
    const bill = await billFrom([
      entry("u", null, 0),
      answer("a", "u", 0, { usage: wrote(5000) }),
      entry("s", null, 1, side),
      answer("sa", "s", 1, { usage: wrote(900), more: side }),
      entry("su", "sa", 2, side),
      answer("sb", "su", 2, { usage: { cache_read_input_tokens: 900 }, more: side }),
      entry("u2", "a", 3),
      answer("b", "u2", 3, { usage: { cache_read_input_tokens: 5000 } }),
    ]);
    expect(bill.sum).toMatchObject({ requests: 4, attainable: 5900, attained: 5900 });
    expect(bill.causes).toEqual([]);
  });

  test.each([
    ["a boundary", { type: "system", subtype: "compact_boundary", logicalParentUuid: "a", parentUuid: null }],
    ["a summary at a new root", { isCompactSummary: true, parentUuid: null }],
  ])("[BILL-4] a summing up is seen at %s", async (_, more) => {
    const bill = await billFrom([
      entry("u", null, 0),
      answer("a", "u", 0, { usage: wrote(5000) }),
      entry("c", null, 1, more),
      entry("u2", "c", 1),
      answer("b", "u2", 1, { usage: wrote(800) }),
    ]);
    expect(bill.shortfalls).toMatchObject([{ cause: { kind: "compaction", tokens: 5000 } }]);
  });

  test("[BILL-4] silence counts from when a request was asked, and an hour's entries live an hour", async () => {
    const long = { ...wrote(2000), cache_creation: { ephemeral_1h_input_tokens: 2000, ephemeral_5m_input_tokens: 0 } };
    const two = (usage: object, idle: number) => [
      entry("u", null, 0),
      answer("a", "u", 1, { usage }),
      entry("u2", "a", idle),
      answer("b", "u2", idle + 1, { usage: wrote(2000) }),
    ];
    expect((await billFrom(two(wrote(2000), 5.5))).shortfalls[0]?.cause).toMatchObject({
      kind: "expired",
      idleMs: 5.5 * minute,
    });
    expect(short(await billFrom(two(long, 5.5)))).toMatchObject([{ kind: "prefix" }]);
    expect(short(await billFrom(two(long, 61)))).toMatchObject([{ kind: "expired" }]);
    expect((await billFrom(two(long, 1))).sum).toMatchObject({ write1h: 2000, write5m: 2000 });
  });

  test("[BILL-2] what the tool itself says in a model's place is no request; a cost that it wrote is told", async () => {
    const bill = await billFrom([
      entry("u", null, 0),
      answer("a", "u", 0, { usage: wrote(5), model: "<synthetic>" }),
      answer("b", "u", 0, { usage: wrote(5), more: { isApiErrorMessage: true } }),
      answer("c", "u", 0, { usage: wrote(5), more: { costUSD: 0.25 } }),
    ]);
    expect(bill).toMatchObject({ told: 0.25, sum: { requests: 1 } });
  });
});

describe("a file", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "varve-recording-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test("[BILL-6] lines that cannot be read are counted, and nothing else is lost", async () => {
    const lines = [header, asked(0, { input: 5 })].map((line) => JSON.stringify(line));
    const bill = await readBill(
      file("a.jsonl", `{"broken\n${lines.join("\n\n")}\n[1]\nnull\n"x"\n{"type":"message","message":7}`),
    );
    expect(bill).toMatchObject({ unreadable: 4, sum: { requests: 1 } });
    expect(await billFrom([header, null, asked(0, { input: 5 })])).toMatchObject({
      unreadable: 1,
      sum: { requests: 1 },
    });
  });

  test("[BILL-6] a file that is no recording, no file, or not there is refused in words", async () => {
    mkdirSync(join(folder, "d"));
    const many = `${JSON.stringify({ type: "other" })}\n`.repeat(200);
    for (const [path, code] of [
      [join(folder, "absent.jsonl"), "unknown-recording"],
      [join(folder, "d"), "bad-recording"],
      [file("empty.jsonl", ""), "bad-recording"],
      [file("other.jsonl", many), "bad-recording"],
      [file("text.txt", "no json\n".repeat(200)), "bad-recording"],
    ] as const) {
      expect(await readBill(path), path).toMatchObject({ kind: "fault", code });
    }
    const given = await readBill(file("late.jsonl", JSON.stringify(header)), AbortSignal.abort());
    expect(given).toMatchObject({ kind: "fault", code: "bad-recording" });
  });

  test("[BILL-7] a file beyond all measure is refused before it is read", async () => {
    const path = join(folder, "vast.jsonl");
    writeFileSync(path, "{}");
    truncateSync(path, recordingLimits.fileBytesMax + 1);
    expect(await readBill(path)).toMatchObject({ code: "bad-recording", message: expect.stringContaining("4 GiB") });
  });

  test("[BILL-6] fields of any wrong kind break nothing", async () => {
    for (const wrong of [null, 7, "x", [], {}, -1, true]) {
      const pi = {
        type: "message",
        id: wrong,
        parentId: wrong,
        message: { role: "assistant", usage: wrong, model: wrong },
      };
      expect(await billFrom([header, pi, { type: wrong, message: wrong }])).toMatchObject({
        format: "pi",
        sum: { requests: 1, untold: 1 },
      });
      const claude = answer("a", "u", 0, { usage: { input_tokens: wrong, cache_creation: wrong } });
      expect(await billFrom([entry("u", null, 0), { ...claude, timestamp: wrong }])).toMatchObject({
        sum: { requests: 1 },
      });
    }
  });

  test.each([
    [header, "pi"],
    [{ type: "summary", leafUuid: "x", summary: "s" }, "claude-code"],
    [{ type: "file-history-snapshot", messageId: "m" }, "claude-code"],
    [entry("u", null, 0), "claude-code"],
    [{ type: piHead }, null],
    [{ type: "user", uuid: "u" }, null],
    [{}, null],
  ])("[BILL-6] %j is a line of %s", (fields, format) => {
    expect(formatOf(fields)).toBe(format);
  });
});

const data = recordedDataDir();
describe.skipIf(data === null)(`recordings made by others${WITHOUT_RECORDINGS}`, () => {
  const bill = async (path: string): Promise<BillBody> => {
    const result = await readBill(join(data ?? "", "sessions", path));
    if (isFault(result)) throw new Error(result.message);
    return result;
  };

  test("[BILL-1] the long run's tokens and cost, computed by our list, are those that it says itself", async () => {
    const { sum, told, ...rest } = await bill("pi/large-session.jsonl");
    expect(sum).toMatchObject({ requests: 453, untold: 14, unpriced: 14, fresh: 1049, output: 83_156 });
    expect(sum).toMatchObject({ read: 43_229_469, write5m: 4_296_232, write1h: 0 });
    expect(sum.price).toBeCloseTo(30.3302, 4);
    expect(told).toBeCloseTo(sum.price, 9);
    expect(rest.unreadable).toBe(0);
  });

  test("[BILL-1] each of its shortfalls is listed with its cause, and together they are what was paid again", async () => {
    const { shortfalls, causes, rewritten, sum } = await bill("pi/large-session.jsonl");
    expect(causes.map(({ kind, requests }) => [kind, requests])).toEqual([
      ["prefix", 29],
      ["options", 4],
      ["expired", 4],
    ]);
    expect(shortfalls).toHaveLength(37);
    expect(shortfalls.map(({ price }) => price)).toEqual(
      shortfalls.map(({ price }) => price).toSorted((a, b) => (b ?? 0) - (a ?? 0)),
    );
    const missing = shortfalls.reduce((all, one) => all + one.attainable - one.read, 0);
    // What is left was within rounding: a few tokens behind the last mark of each request.
    expect(sum.attainable - sum.attained - missing).toBeLessThan(453 * 64);
    expect(rewritten.share).toBeCloseTo(0.468, 3);
    expect(rewritten.price).toBeCloseTo(
      shortfalls.reduce((all, { price }) => all + (price ?? 0), 0),
      6,
    );
  });

  test.each([
    ["1-continue-run-ls-tool", 3, ["expired"]],
    ["duplicate-assistant-response", 2, ["provider"]],
    ["task_non_sdk", 5, []],
    ["task_sdk", 3, ["prefix"]],
  ])("[BILL-1] %s has %i requests and %j", async (name, requests, kinds) => {
    const { sum, causes, unreadable } = await bill(`claude-code/${name}.jsonl`);
    expect(sum).toMatchObject({ requests, unpriced: 0 });
    expect(causes.map(({ kind }) => kind)).toEqual(kinds);
    expect(unreadable).toBe(0);
  });
});
