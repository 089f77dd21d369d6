/** Places, closing and alarms: rows that no right writer seals, and what becomes of them. */
import { isFault, type StoredRow } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import type { Alarm } from "./alarm.ts";
import { chunksToModelMessages } from "./fold.ts";
import type { WireTarget } from "./profile.ts";
import { deepseek } from "./profiles/deepseek.ts";
import { folded, toAnthropic, toDeepseek } from "./testing/folded.ts";
import { blobHash, C, type Draft, E, K, KN, logOf, M, N, P, Q, R, RE, T, U, UA, V } from "./testing/rows.ts";
import { show } from "./testing/show.ts";
import { plainCallId } from "./wire-ids.ts";

const at = (step: number) => ({ step });
const t2 = { turn: "t2" };
const fold = (...drafts: readonly Draft[]) => folded(logOf(...drafts));
const shown = (...drafts: readonly Draft[]) => show(fold(...drafts).messages);
const codes = (alarms: readonly Alarm[]) => alarms.map(({ code, seq }) => `${code} ${seq}`);
const missing = '"[interrupted: no result was recorded]"';

describe("closing", () => {
  test.each([
    ["an assistant row of the next step", T("x", at(1))],
    ["the request row of the next step", Q("s", at(1))],
    ["an error row of the next step", E(at(1))],
    ["a message of the next turn", U("b", t2)],
  ])("[WIRE-6] %s closes the step: a result behind it does not count", (_, row) => {
    const { messages, alarms } = fold(P(), U("a"), C("c1"), row, R("c1", "late"), U("z", { turn: "t9" }));
    expect(show(messages)).toContain(`T[error(c1,${missing})]`);
    expect(codes(alarms)).toEqual(["missing-result 3", "late-result 5"]);
  });

  test.each([
    ["a steer of the same step", U("q")],
    ["a note", N("n", { turn: "" })],
    ["a model change", M("n")],
    ["an error of the agent's own", { ...E(at(1)), role: "system" } as const],
    ["an error row of the same step", E()],
  ])("[WIRE-6] %s does not: the result counts", (_, row) => {
    const { messages, alarms } = fold(P(), U("a"), C("c1"), row, R("c1", "fine"));
    expect(show(messages)).toContain('T[res(c1,"fine")]');
    expect(alarms).toEqual([]);
  });

  test("[WIRE-6] an assistant row of a closed step is left out and named", () => {
    const { messages, alarms } = fold(P(), U("a"), T("x"), U("b", t2), T("late"), T("y", t2), U("c", { turn: "t3" }));
    expect(show(messages)).toBe('U["a"] A["x"] U["b"] A["y"] U["c"]');
    expect(codes(alarms)).toEqual(["late-row 5"]);
  });

  test("[WIRE-6] a late result answers no later call of the same id", () => {
    const rows = [P(), U("a"), C("c"), C("c", "{}", at(1)), R("c", "of step 0"), R("c", "of step 1", at(1))];
    const { messages, alarms } = fold(...rows);
    expect(show(messages)).toContain(`T[res(${plainCallId("c#1")},"of step 1")]`);
    expect(codes(alarms)).toEqual(["missing-result 3", "renamed-call 4", "late-result 5"]);
  });

  test("[WIRE-6] a late call opens nothing, and its result is an orphan", () => {
    const { messages, alarms } = fold(P(), U("a"), T("x", at(1)), C("c1"), R("c1"), U("b", t2));
    expect(show(messages)).toBe('U["a"] A["x"] U["b"]');
    expect(codes(alarms)).toEqual(["late-row 4", "orphan-result 5"]);
  });

  test("[WIRE-6] a result that stands before its call answers nothing", () => {
    const { messages, alarms } = fold(P(), U("a"), R("c1", "early"), C("c1"), RE("c1", "stopped"), U("b", t2));
    expect(show(messages)).toBe('U["a"] A[call(c1,{})] T[error(c1,"stopped")] U["b"]');
    expect(codes(alarms)).toEqual(["orphan-result 3"]);
  });

  test("[WIRE-4] a user row is never lost, whatever step it names", () => {
    expect(shown(P(), U("a"), T("x", at(3)), U("b", at(1)), U("c", { turn: "" }))).toBe('U["a"] A["x"] U["b"] U["c"]');
  });
});

describe("what is made up", () => {
  test("[WIRE-11] the end is derived behind an assistant, and where an open step lacks a result", () => {
    const ends = (...drafts: readonly Draft[]) => fold(P(), U("a"), ...drafts).endsDerived;
    expect(ends(T("x"))).toBe(true);
    expect(ends(C("c1"))).toBe(true);
    expect(ends(C("c1"), U("q"))).toBe(true);
    expect(ends(C("c1"), C("c2"), R("c2"))).toBe(true);
    expect(ends(C("c1"), R("c1"))).toBe(false);
    expect(ends(C("c1"), U("b", t2))).toBe(false);
    expect(ends(T("x"), U("b", t2))).toBe(false);
    expect(ends()).toBe(false);
  });

  test("[WIRE-11] an assistant in front of everything gets a user's turn before it", () => {
    expect(shown(P(), U(" "), T("x"), U("b", t2))).toBe('U["[continue]"] A["x"] U["b"]');
  });
});

describe("ids", () => {
  test("[WIRE-14] a call id used again gets a name of its own, with its own result", () => {
    const rows = [
      P(),
      U("a"),
      C("call_0"),
      R("call_0", "one"),
      C("call_0", "{}", at(1)),
      R("call_0", "two", at(1)),
      U("b", t2),
    ];
    const second = plainCallId("call_0#1");
    const { messages, alarms } = fold(...rows);
    expect(show(messages)).toBe(
      `U["a"] A[call(call_0,{})] T[res(call_0,"one")] A[call(${second},{})] T[res(${second},"two")] U["b"]`,
    );
    expect(codes(alarms)).toEqual(["renamed-call 5"]);
  });

  test("[WIRE-14] twice in one step: results are given in order", () => {
    const { messages } = fold(P(), U("a"), C("c"), C("c"), R("c", "one"), R("c", "two"), R("c", "three"));
    const second = plainCallId("c#1");
    expect(show(messages)).toBe(`U["a"] A[call(c,{}) call(${second},{})] T[res(c,"one") res(${second},"two")]`);
  });

  test("[WIRE-14] the name does not depend on what is voided later", () => {
    const rows = [P(), U("a"), C("c"), V("t1", 0), C("c", "{}", at(1)), R("c", "ok", at(1))];
    const second = plainCallId("c#1");
    expect(shown(...rows)).toBe(`U["a"] A[call(${second},{})] T[res(${second},"ok")]`);
  });

  test("[WIRE-14] __proto__ and the empty text are ids like any other", () => {
    const { messages, alarms } = fold(P(), U("a"), C("__proto__"), C(""), R("", "two"), R("__proto__", "one"));
    const empty = plainCallId("");
    expect(show(messages)).toBe(
      `U["a"] A[call(__proto__,{}) call(${empty},{})] T[res(__proto__,"one") res(${empty},"two")]`,
    );
    expect(alarms).toEqual([]);
  });
});

describe("voided steps", () => {
  test("[WIRE-10] their calls and results are gone without an alarm, their steers stay", () => {
    const rows = [P(), U("a"), T("x"), C("c1"), R("c1"), U("q"), V("t1", 0), T("y", at(1)), U("b", t2)];
    const { messages, alarms } = fold(...rows);
    expect(show(messages)).toBe('U["a"] U["q"] A["y"] U["b"]');
    expect(alarms).toEqual([]);
  });

  test("[WIRE-10] only the named step of the named turn", () => {
    const rows = [
      P(),
      U("a"),
      T("x"),
      U("b", t2),
      T("y", t2),
      V("t2", 0),
      T("z", { ...t2, step: 1 }),
      U("c", { turn: "t3" }),
    ];
    expect(shown(...rows)).toBe('U["a"] A["x"] U["b"] A["z"] U["c"]');
  });

  test("[WIRE-10] every attempt voided: as if the request had not been made", () => {
    expect(shown(P(), U("a"), T("x"), V("t1", 0), T("y", at(1)), V("t1", 1), E(at(2)), U("b", t2))).toBe(
      'U["a"] U["b"]',
    );
  });
});

describe("thinking", () => {
  test("[WIRE-9] thinking at the end of a step is left out, before a call it stays", () => {
    const rows = [P(), U("a"), K("s1"), T("x"), K("s2"), E(), U("b", t2)];
    expect(shown(...rows)).toBe('U["a"] A[th(s1) "x"] U["b"]');
    expect(shown(P(), U("a"), K("s1"), C("c"), K("s2"), R("c"))).toBe('U["a"] A[th(s1) call(c,{})] T[res(c,"ok")]');
  });

  test("[WIRE-9] thinking with blank text behind it is alone, and the step is skipped", () => {
    expect(shown(P(), U("a"), K("s1"), T(" \n"), U("b", t2))).toBe('U["a"] U["b"]');
  });

  test("[WIRE-8] metadata may be stored flat, and an empty signature is none", () => {
    const flat = (metadata: object): Draft => ({
      ...K("x"),
      data: { text: "th", metadata, modelScope: "anthropic:model-a" },
    });
    expect(shown(P(), U("a"), flat({ signature: "s" }), T("t"), U("b", t2))).toContain("th(s)");
    expect(shown(P(), U("a"), flat({ redactedData: "r" }), T("t"), U("b", t2))).toContain("redacted(r)");
    expect(shown(P(), U("a"), flat({ anthropic: { signature: "" } }), T("t"), U("b", t2))).toBe('U["a"] A["t"] U["b"]');
  });

  test("[WIRE-8] partial thinking is never sent, signed or not, nor blank reasoning", () => {
    const partial: Draft = {
      ...K("s"),
      data: { text: "th", metadata: { anthropic: { signature: "s" } }, modelScope: "anthropic:model-a", partial: true },
    };
    expect(shown(P(), U("a"), partial, T("t"), U("b", t2))).toBe('U["a"] A["t"] U["b"]');
    const blank = logOf(P(), U("a"), KN(" ", { scope: "deepseek:model-a" }), T("t"), U("b", t2));
    expect(show(folded(blank, toDeepseek).messages)).toBe('U["a"] A["t"] U["b"]');
    expect(deepseek.name).toBe(toDeepseek.profile.name);
  });
});

describe("notes", () => {
  test("[WIRE-19] a note can't close its own frame, and a blank one is none", () => {
    expect(shown(P(), N("x</system-note>y"), N(" "), U("a"))).toBe(
      'U["<system-note>x<\\\\/system-note>y</system-note>"] U["a"]',
    );
  });

  test("[WIRE-19] in front of the first message and behind an assistant a note is user text in either form", () => {
    const inPlace: WireTarget = { ...toAnthropic, profile: { ...toAnthropic.profile, noteForm: "system" } };
    const rows = logOf(P(), N("one"), U("a"), N("two"), T("t"), N("three", t2), U("b", t2));
    expect(show(folded(rows, inPlace).messages)).toBe(
      'U["<system-note>one</system-note>"] U["a"] S["two"] A["t"] U["<system-note>three</system-note>"] U["b"]',
    );
  });
});

describe("the whole", () => {
  test("[WIRE-2] a log without a prefix is damaged, an empty one too", () => {
    const code = (rows: readonly StoredRow[]) => {
      const result = chunksToModelMessages(rows, toAnthropic);
      return isFault(result) ? result.code : "fold";
    };
    expect(code([])).toBe("log-damaged");
    expect(code(logOf(U("a")))).toBe("log-damaged");
    expect(code(logOf(P()))).toBe("empty-conversation");
    expect(code(logOf(P(), K("s"), E()))).toBe("empty-conversation");
    expect(code(logOf(P(), UA("", [{ blob: blobHash("a"), mediaType: "image/png", name: "a" }])))).toBe("fold");
  });

  test("[WIRE-1] rows are folded by seq, in whatever order they are handed over", () => {
    const rows = logOf(P(), U("a"), C("c1"), R("c1"), T("t", at(1)), U("b", t2));
    expect(folded(rows.toReversed()).messages).toEqual(folded(rows).messages);
  });

  test("[WIRE-21] an attachment whose bytes are gone is a constant text and an alarm", () => {
    const rows = logOf(P(), UA("see", [{ blob: blobHash("a"), mediaType: "image/png", name: "a.png" }]));
    const result = chunksToModelMessages(rows, toAnthropic);
    if (isFault(result)) throw new Error(result.code);
    expect(show(result.messages)).toBe('U["see" "[attachment a.png: its bytes are no longer available]"]');
    expect(codes(result.alarms)).toEqual(["missing-blob 2"]);
  });
});
