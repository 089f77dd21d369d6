import { describe, expect, test } from "vitest";
import { placeBreakpoints } from "./breakpoints.ts";
import { canonicalBlocks, chainOf, fingerprint } from "./canonical.ts";
import { guardPrefix, previousRequest } from "./guard.ts";
import { folded } from "./testing/folded.ts";
import { C, type Draft, K, logOf, M, P, Q, R, T, U, V, X, XU } from "./testing/rows.ts";

const t2 = { turn: "t2" };
const chain = (...drafts: readonly Draft[]) => chainOf(canonicalBlocks(folded(logOf(...drafts)).messages));
const long = [P(), U("a"), K("s1"), T("t"), C("c"), R("c"), U("b")];

describe("canonical chain", () => {
  test("[WIRE-27] the chain of a beginning is the beginning of the chain", () => {
    const [short, whole] = [chain(...long.slice(0, 2)), chain(...long)];
    expect(whole.slice(0, short.length)).toEqual(short);
    expect(whole).toHaveLength(8);
    expect(fingerprint(short)).toBe(short.at(-1));
  });

  test.each([
    ["a letter of a text", [P(), U("A"), ...long.slice(2)]],
    ["the system prompt", [P({ system: ["other"] }), ...long.slice(1)]],
    ["a signature", [P(), U("a"), K("s2"), ...long.slice(3)]],
    ["an argument", [P(), U("a"), K("s1"), T("t"), C("c", '{"a":1}'), ...long.slice(5)]],
    ["a result", [P(), U("a"), K("s1"), T("t"), C("c"), R("c", "other"), U("b")]],
  ])("[WIRE-27] another chain for another %s", (_, drafts) => {
    expect(fingerprint(chain(...drafts))).not.toBe(fingerprint(chain(...long)));
  });

  test("[WIRE-27] tools are part of it, breakpoints are not", () => {
    const { messages, anchors } = folded(logOf(...long));
    const marked = placeBreakpoints(messages, { anchors, scopeHash: "s", ttl: "5m", systemTtl: "5m" });
    expect(chainOf(canonicalBlocks(marked))).toEqual(chainOf(canonicalBlocks(messages)));
    const tool = { type: "function", name: "read", inputSchema: { type: "object" } } as const;
    expect(chainOf(canonicalBlocks(messages, [tool]))[0]).not.toBe(chainOf(canonicalBlocks(messages))[0]);
  });

  test("[WIRE-27] two blocks of one message are two links", () => {
    expect(canonicalBlocks(folded(logOf(...long.slice(0, 6))).messages).map(({ role }) => role)).toEqual([
      "tools",
      "system",
      "user",
      "assistant",
      "assistant",
      "assistant",
      "tool",
    ]);
  });
});

describe("prefix guard", () => {
  const tailHash = fingerprint(chain(...long.slice(0, 2)));
  const sent = Q("s", { model: "m", tailHash });
  const verdict = (drafts: readonly Draft[], now: readonly Draft[] = drafts, previousChain?: readonly string[]) =>
    guardPrefix({ chain: chain(...now), previous: previousRequest(logOf(...drafts), "m"), previousChain });

  test("[WIRE-28] a log's first request has nothing to extend", () => {
    expect(verdict(long)).toEqual({ kind: "first" });
  });

  test("[WIRE-28] what was appended extends", () => {
    expect(verdict([P(), U("a"), sent, ...long.slice(2)])).toEqual({ kind: "extends" });
  });

  test("[WIRE-28] the same request once more extends", () => {
    expect(verdict([P(), U("a"), sent])).toEqual({ kind: "extends" });
  });

  test("[WIRE-28] a change that no row explains is told with its place", () => {
    const rows = [P(), U("a"), sent, T("t"), U("b", t2)];
    const edited = [P(), U("EDITED"), T("t"), U("b", t2)];
    expect(verdict(rows, edited, chain(...long.slice(0, 2)))).toEqual({
      kind: "changed",
      firstDifferingBlock: 2,
      seq: null,
    });
    expect(verdict(rows, edited)).toEqual({ kind: "changed", firstDifferingBlock: null, seq: null });
    expect(verdict(rows, edited, ["not", "that", "chain"])).toEqual({
      kind: "changed",
      firstDifferingBlock: null,
      seq: null,
    });
  });

  test("[WIRE-28] a request that became shorter is a change behind its end", () => {
    const whole = chain(...long.slice(0, 4), U("b", t2));
    const rows = [...long.slice(0, 4), U("b", t2), Q("s", { ...t2, model: "m", tailHash: fingerprint(whole) })];
    const shorter = guardPrefix({
      chain: whole.slice(0, -1),
      previous: previousRequest(logOf(...rows), "m"),
      previousChain: whole,
    });
    expect(shorter).toEqual({ kind: "changed", firstDifferingBlock: whole.length - 1, seq: null });
  });

  test.each([
    ["prefix", P({ system: ["SYS2"] }), 5],
    ["compaction", X("SUM", 4), 5],
  ] as const)("[WIRE-28] a %s row explains it", (kind, row, seq) => {
    const rows = [P(), U("a"), sent, T("t"), row, U("b", t2)];
    const edited = [P(), U("EDITED"), U("b", t2)];
    expect(verdict(rows, edited)).toEqual({ kind: "restarted", by: kind, seq });
  });

  test("[WIRE-28] a void explains a step that the request held, never the attempt behind it", () => {
    const laterSent = Q("s", { model: "m", tailHash, step: 1 });
    const edited = [P(), U("EDITED")];
    const held = [P(), U("a"), C("c"), R("c"), laterSent, V("t1", 0)];
    expect(verdict(held, edited)).toEqual({ kind: "restarted", by: "step-void", seq: 6 });
    const own = [P(), U("a"), C("c"), R("c"), laterSent, T("cut", { step: 1 }), V("t1", 1)];
    expect(verdict(own, edited).kind).toBe("changed");
  });

  test("[WIRE-28] so does the undo of a compaction, and the newest row is named", () => {
    const rows = [P(), U("a"), sent, T("t"), X("SUM", 4), XU(5), U("b", t2)];
    expect(verdict(rows, [P(), U("EDITED")])).toEqual({ kind: "restarted", by: "compaction-undo", seq: 6 });
  });

  test("[WIRE-28] a row in front of the last request explains nothing behind it", () => {
    const rows = [P(), U("x"), P(), U("a"), sent, T("t"), U("b", t2)];
    expect(verdict(rows, [P(), U("EDITED")]).kind).toBe("changed");
  });

  test("[WIRE-28] each model has a chain of its own", () => {
    const rows = logOf(P(), U("a"), sent, T("t"), M("n"), U("b", t2), Q("s", { ...t2, model: "n", tailHash: "other" }));
    expect(previousRequest(rows, "m")).toEqual({ seq: 3, tailHash, restartedBy: null });
    expect(previousRequest(rows, "n")).toMatchObject({ seq: 7, tailHash: "other" });
    expect(previousRequest(rows, "never")).toBeNull();
  });
});
