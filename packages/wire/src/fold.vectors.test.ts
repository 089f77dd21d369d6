/** The numbered vectors of the wire: rows in, messages out. A gap in the numbers is named below the table. */
import { isFault, type StoredRow } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { chunksToModelMessages } from "./fold.ts";
import { type WireTarget, wireTarget } from "./profile.ts";
import { openaiChat } from "./profiles/openai-chat.ts";
import { adapter } from "./testing/adapters.ts";
import { requestFor } from "./testing/capture.ts";
import { folded, toAnthropic, toCompatible, toDeepseek, toMistral } from "./testing/folded.ts";
import { C, E, K, KN, KR, logOf, N, P, R, RE, scopeB, T, TP, U, V, X } from "./testing/rows.ts";
import { thinkingRow } from "./testing/scoped-rows.ts";
import { send } from "./testing/send.ts";
import { show, showAll } from "./testing/show.ts";
import { plainCallId } from "./wire-ids.ts";

const responses = adapter("openai", "gpt-5.6-sol");
const toResponses = responses.target;
const t2 = { turn: "t2" };
const t3 = { turn: "t3" };
const s1 = { step: 1 };
const missing = "[interrupted: no result was recorded]";
const toNoteInPlace: WireTarget = { ...toAnthropic, profile: { ...toAnthropic.profile, noteForm: "system" } };
const many = Array.from({ length: 25 }, (_, index) => `c${index}`);

interface Vector {
  readonly n: number;
  readonly rule: string;
  readonly what: string;
  readonly rows: readonly StoredRow[];
  readonly out: string;
  readonly to?: WireTarget;
}
const vector = (n: number, rule: string, what: string, rest: Pick<Vector, "rows" | "out" | "to">): Vector => ({
  n,
  rule,
  what,
  ...rest,
});
const tenth = 'U["a"] A[call(c1,{})] T[res(c1,"ok")] U["q"]';

const plain: readonly Vector[] = [
  vector(1, "WIRE-1", "one message", { rows: logOf(P(), U("hi")), out: 'U["hi"]' }),
  vector(2, "WIRE-3", "two messages stay two", { rows: logOf(P(), U("a"), U("b")), out: 'U["a"] U["b"]' }),
  vector(3, "WIRE-3", "trailing blanks are kept", {
    rows: logOf(P(), U("a"), K("s1"), T("t "), C("c1"), R("c1")),
    out: 'U["a"] A[th(s1) "t " call(c1,{})] T[res(c1,"ok")]',
  }),
  vector(4, "WIRE-8", "thinking without a token is not sent", {
    rows: logOf(P(), U("a"), KN("x"), T("t"), U("b", t2)),
    out: 'U["a"] A["t"] U["b"]',
  }),
  vector(5, "WIRE-8", "nor alone", { rows: logOf(P(), U("a"), KN("x"), U("b", t2)), out: 'U["a"] U["b"]' }),
  vector(6, "WIRE-9", "a message does not end in thinking", {
    rows: logOf(P(), U("a"), K("s1"), U("b", t2)),
    out: 'U["a"] U["b"]',
  }),
  vector(7, "WIRE-7", "whitespace text is skipped", {
    rows: logOf(P(), U("a"), T("  \n"), C("c1"), R("c1")),
    out: 'U["a"] A[call(c1,{})] T[res(c1,"ok")]',
  }),
  vector(8, "WIRE-3", "partial text is sent as it is", {
    rows: logOf(P(), U("a"), TP("part"), E(), U("b", t2)),
    out: 'U["a"] A["part"] U["b"]',
  }),
  vector(9, "WIRE-5", "results stand in call order", {
    rows: logOf(P(), U("a"), T("x"), C("c1"), C("c2"), R("c2", "r2"), R("c1", "r1")),
    out: 'U["a"] A["x" call(c1,{}) call(c2,{})] T[res(c1,"r1") res(c2,"r2")]',
  }),
  vector(10, "WIRE-4", "a user row before the result", {
    rows: logOf(P(), U("a"), C("c1"), U("q"), R("c1")),
    out: tenth,
  }),
  vector(11, "WIRE-4", "and after it: the same bytes", {
    rows: logOf(P(), U("a"), C("c1"), R("c1"), U("q")),
    out: tenth,
  }),
  vector(12, "WIRE-4", "two steers", {
    rows: logOf(P(), U("a"), C("c1"), R("c1"), U("q1"), U("q2")),
    out: 'U["a"] A[call(c1,{})] T[res(c1,"ok")] U["q1"] U["q2"]',
  }),
  vector(13, "WIRE-6", "a call that never got a result", {
    rows: logOf(P(), U("a"), C("c1"), E(), U("b", t2)),
    out: `U["a"] A[call(c1,{})] T[error(c1,"${missing}")] U["b"]`,
  }),
  vector(14, "WIRE-5", "an appended error result", {
    rows: logOf(P(), U("a"), C("c1"), RE("c1", "[interrupted by user]"), U("b", t2)),
    out: 'U["a"] A[call(c1,{})] T[error(c1,"[interrupted by user]")] U["b"]',
  }),
  vector(15, "WIRE-6", "and the late real result changes nothing", {
    rows: logOf(P(), U("a"), C("c1"), RE("c1", "[interrupted by user]"), U("b", t2), R("c1", "late real result")),
    out: 'U["a"] A[call(c1,{})] T[error(c1,"[interrupted by user]")] U["b"]',
  }),
  vector(16, "WIRE-10", "a voided step leaves no trace", {
    rows: logOf(P(), U("a"), TP("par"), V("t1", 0), T("ok", s1)),
    out: 'U["a"] A["ok"] U["[continue]"]',
  }),
  vector(17, "WIRE-11", "never two assistants in a row", {
    rows: logOf(P(), U("a"), T("par"), T("more", s1), U("b", t2)),
    out: 'U["a"] A["par"] U["[continue]"] A["more"] U["b"]',
  }),
  vector(18, "WIRE-11", "never an assistant at the end", {
    rows: logOf(P(), U("a"), T("end")),
    out: 'U["a"] A["end"] U["[continue]"]',
  }),
  vector(19, "WIRE-7", "error rows are for people", {
    rows: logOf(P(), U("a"), E(), U("b", t2)),
    out: 'U["a"] U["b"]',
  }),
  vector(20, "WIRE-7", "an error, then an answer", {
    rows: logOf(P(), U("a"), E(), T("ok", s1), U("b", t2)),
    out: 'U["a"] A["ok"] U["b"]',
  }),
  vector(21, "WIRE-12", "keys keep their order", {
    rows: logOf(P(), U("a"), C("c1", '{"z":1.0,"a":2}'), R("c1")),
    out: 'U["a"] A[call(c1,{"z":1,"a":2})] T[res(c1,"ok")]',
  }),
  vector(22, "WIRE-12", "malformed arguments are wrapped", {
    rows: logOf(P(), U("a"), C("c1", '{"z":'), RE("c1", "invalid JSON arguments")),
    out: 'U["a"] A[call(c1,{"_invalid":"{\\"z\\":"})] T[error(c1,"invalid JSON arguments")]',
  }),
  vector(23, "WIRE-13", "no arguments, no output", {
    rows: logOf(P(), U("a"), C("c1", ""), R("c1", "")),
    out: 'U["a"] A[call(c1,{})] T[res(c1,"(no output)")]',
  }),
  vector(24, "WIRE-14", "an illegal id", {
    rows: logOf(P(), U("a"), C("call|fc_x"), R("call|fc_x")),
    out: 'U["a"] A[call(vc_c3ccae53f566acaec5a50877,{})] T[res(vc_c3ccae53f566acaec5a50877,"ok")]',
  }),
  vector(25, "WIRE-16", "another model's thinking", {
    rows: logOf(P(), U("a"), K("s1", { scope: scopeB }), T("t"), U("b", t2)),
    out: 'U["a"] A["t"] U["b"]',
  }),
  vector(26, "WIRE-16", "and back again", {
    rows: logOf(P(), U("a"), K("s1"), T("t"), U("b", t2), T("from B", t2), U("c", t3)),
    out: 'U["a"] A[th(s1) "t"] U["b"] A["from B"] U["c"]',
  }),
  vector(27, "WIRE-19", "a note as a system message in place", {
    rows: logOf(P(), U("a"), N("mode: plan")),
    out: 'U["a"] S["mode: plan"]',
    to: toNoteInPlace,
  }),
  vector(28, "WIRE-19", "a note as user text", {
    rows: logOf(P(), U("a"), N("mode: plan")),
    out: 'U["a"] U["<system-note>mode: plan</system-note>"]',
  }),
  vector(29, "WIRE-17", "compaction", {
    rows: logOf(P(), U("a"), K("s1"), T("t1"), U("b", t2), T("t2", t2), X("SUM", 5), U("c", t3)),
    out: 'U["SUM"] U["b"] A["t2"] U["c"]',
  }),
  vector(30, "WIRE-18", "a second prefix", {
    rows: logOf(
      P(),
      U("a"),
      K("s1"),
      T("t1"),
      P({ system: ["SYS2"] }),
      U("b", t2),
      K("s2", t2),
      T("t2", t2),
      U("c", t3),
    ),
    out: 'U["a"] A["t1"] U["b"] A[th(s2) "t2"] U["c"]',
  }),
  vector(31, "WIRE-5", "25 calls, results in reverse", {
    rows: logOf(P(), U("a"), ...many.map((id) => C(id)), ...many.toReversed().map((id) => R(id, id))),
    out: `U["a"] A[${many.map((id) => `call(${id},{})`).join(" ")}] T[${many.map((id) => `res(${id},"${id}")`).join(" ")}]`,
  }),
  vector(32, "WIRE-5", "an orphan result is ignored", {
    rows: logOf(P(), U("a"), R("zz"), U("b")),
    out: 'U["a"] U["b"]',
  }),
  vector(33, "WIRE-5", "the first result wins", {
    rows: logOf(P(), U("a"), C("c1"), R("c1", "ok"), R("c1", "dup")),
    out: 'U["a"] A[call(c1,{})] T[res(c1,"ok")]',
  }),
  vector(35, "WIRE-3", "interleaved thinking keeps its places", {
    rows: logOf(P(), U("a"), K("s1"), T("x"), C("c1"), K("s2"), T("y"), C("c2"), R("c1"), R("c2")),
    out: 'U["a"] A[th(s1) "x" call(c1,{}) th(s2) "y" call(c2,{})] T[res(c1,"ok") res(c2,"ok")]',
  }),
  vector(36, "WIRE-4", "a user row in the middle of a step", {
    rows: logOf(P(), U("a"), T("x"), U("early"), T("y"), C("c1"), R("c1")),
    out: 'U["a"] A["x" "y" call(c1,{})] T[res(c1,"ok")] U["early"]',
  }),
  vector(37, "WIRE-8", "redacted thinking", {
    rows: logOf(P(), U("a"), KR("RD"), T("t"), U("b", t2)),
    out: 'U["a"] A[redacted(RD) "t"] U["b"]',
  }),
  vector(38, "WIRE-8", "thinking after a tool step", {
    rows: logOf(P(), U("a"), C("c1"), R("c1"), K("s2", s1), T("done", s1), U("b", t2)),
    out: 'U["a"] A[call(c1,{})] T[res(c1,"ok")] A[th(s2) "done"] U["b"]',
  }),
  vector(39, "WIRE-20", "19 on a strict template", {
    rows: logOf(P(), U("a"), E(), U("b", t2)),
    out: 'U["a"] A["(ok)"] U["b"]',
    to: toMistral,
  }),
  vector(41, "WIRE-8", "reasoning text where the provider demands it", {
    rows: logOf(P(), U("a"), KN("th", { scope: "deepseek:model-a" }), T("t"), C("c1", '{ "k":1 }'), R("c1")),
    out: 'U["a"] A[th("th") "t" call(c1,{"k":1})] T[res(c1,"ok")]',
    to: toDeepseek,
  }),
  vector(42, "WIRE-12", "arguments verbatim where texts pass", {
    rows: logOf(P(), U("a"), KN("th"), T("t"), C("c1", '{ "k":1 }'), R("c1")),
    out: `U["a"] A["t" call(c1,'{ "k":1 }')] T[res(c1,"ok")]`,
    to: toCompatible,
  }),
  vector(43, "WIRE-8", "thinking that nobody encrypted, at OpenAI Responses", {
    rows: logOf(P(), U("a"), KN("th", { scope: toResponses.modelScope }), T("t"), C("c1", '{ "k":1 }'), R("c1")),
    out: `U["a"] A["t" call(c1,'{ "k":1 }')] T[res(c1,"ok")]`,
    to: toResponses,
  }),
  vector(45, "WIRE-13", "an error result on Chat", {
    rows: logOf(P(), U("a"), C("c1"), RE("c1", "boom")),
    out: `U["a"] A[call(c1,'{}')] T[error(c1,"boom")]`,
    to: wireTarget(openaiChat, "gpt-5.4"),
  }),
];

describe("vectors", () => {
  test.each(plain)("[$rule] vector $n: $what", ({ rows, out, to }) => {
    expect(show(folded(rows, to).messages)).toBe(out);
  });

  test("[WIRE-14] vector 24: 40 characters are kept, 41 are not, and Mistral gets nine", () => {
    expect(plainCallId("x".repeat(40))).toBe("x".repeat(40));
    expect(plainCallId("x".repeat(41))).toMatch(/^vc_[0-9a-f]{24}$/);
    const shown = show(folded(logOf(P(), U("a"), C("toolu_1"), R("toolu_1")), toMistral).messages);
    expect(shown).toMatch(/^U\["a"\] A\[call\(([0-9a-z]{9}),'\{\}'\)\] T\[res\(\1,"ok"\)\]$/);
  });

  test("[WIRE-18] vector 30: the system prompt is the second prefix's", () => {
    const rows = logOf(P(), U("a"), T("t1"), P({ system: ["SYS2"] }), U("b", t2));
    expect(showAll(folded(rows).messages)).toBe('S["SYS2"] U["a"] A["t1"] U["b"]');
  });

  test("[WIRE-2] vector 34: nothing to send is a value, not an exception", () => {
    const fold = chunksToModelMessages(logOf(P(), U("   ")), toAnthropic);
    expect(isFault(fold) && fold.code).toBe("empty-conversation");
  });

  test("[WIRE-20] vector 40: 11 on a strict template with nine-character ids", () => {
    const rows = logOf(P(), U("a"), C("c1"), R("c1"), U("q"));
    expect(show(folded(rows, toMistral).messages)).toMatch(
      /^U\["a"\] A\[call\(([0-9a-z]{9}),'\{\}'\)\] T\[res\(\1,"ok"\)\] A\["\(ok\)"\] U\["q"\]$/,
    );
  });

  test("[WIRE-8] vector 44: encrypted thinking stands as a reasoning item in front of the text", async () => {
    const place = { turn: "t1", step: 0 };
    const thinking = thinkingRow("signed", { scope: toResponses.modelScope, token: "a", text: "th", place });
    const rows = logOf(P(), U("a"), thinking, T("t"), U("b", t2));
    const { text } = await send(requestFor(rows, { target: toResponses }), responses.model);
    expect(JSON.parse(text).input.slice(2, 4)).toEqual([
      { type: "reasoning", id: "rs_a", encrypted_content: "enc-a", summary: [{ type: "summary_text", text: "th" }] },
      { role: "assistant", content: [{ type: "output_text", text: "t" }] },
    ]);
  });
});
