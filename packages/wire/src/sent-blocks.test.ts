import { describe, expect, test } from "vitest";
import { rowOfBlock } from "./block-row.ts";
import { chainOf } from "./canonical.ts";
import { rowsOfRequest } from "./fold-at.ts";
import { sentBlocks } from "./sent-blocks.ts";
import { requestFor } from "./testing/capture.ts";
import { folded, pixelBlob, toAnthropic, toCompatible, toMistral } from "./testing/folded.ts";
import { blobHash, C, type Draft, K, KN, logOf, N, P, Q, R, RI, T, testTools, U, UA, X } from "./testing/rows.ts";

const png = { blob: blobHash("a"), mediaType: "image/png" };
const t2 = { turn: "t2" };
const rows = logOf(
  P({ tools: testTools, system: ["ONE", "TWO"] }),
  UA("see", [{ ...png, name: "a" }]),
  K("s1"),
  T("t"),
  C("c1"),
  C("c2"),
  R("c2", "two"),
  RI("c1", "one", [png]),
  N("note", { turn: "" }),
  U("b", t2),
);

describe("what was sent", () => {
  test("[WIRE-84] every block with its kind, in the order of the chain", () => {
    const request = requestFor(rows);
    const blocks = sentBlocks(request);
    expect(chainOf(blocks)).toEqual(request.chain);
    expect(
      blocks.map(({ role, kind, marked, messageIndex }) => `${messageIndex} ${role} ${kind}${marked ? " *" : ""}`),
    ).toEqual([
      "-1 tools tools",
      "0 system text",
      "1 system text *",
      "2 user text",
      "2 user file *",
      "3 assistant reasoning",
      "3 assistant text",
      "3 assistant tool-call",
      "3 assistant tool-call",
      "4 tool tool-result",
      "4 tool tool-result",
      "5 user text",
      "6 user text *",
    ]);
    expect(blocks.reduce((sum, { json }) => sum + json.length, 0)).toBe(request.chars);
  });
});

describe("the row of a block", () => {
  const seqs = (target = toAnthropic, log = rows) => {
    const { messages } = folded(log, target);
    const count = sentBlocks({ messages: [...messages], options: {} }).length;
    return Array.from({ length: count }, (_, block) => rowOfBlock(log, block, { target, blobs: pixelBlob }));
  };

  test("[WIRE-85] each block of each kind is led back to its row", () => {
    expect(seqs()).toEqual([1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 7, 9, 10]);
    // No thinking, one system message, and the picture of a result behind the results.
    expect(seqs(toCompatible)).toEqual([1, 1, 2, 2, 4, 5, 6, 8, 7, 8, 8, 9, 10]);
  });

  test("[WIRE-85] a text that no row gave has none", () => {
    expect(seqs(toMistral, logOf(P(), U("a"), U("b")))).toEqual([1, 1, 2, null, 3]);
    expect(seqs(toAnthropic, logOf(P(), U("a"), T("x"), T("y", { step: 1 })))).toEqual(
      [1, 1, 2, 3, 3, 4, null].map((seq, index) => (index === 4 ? null : seq)),
    );
    expect(rowOfBlock(rows, 99, { target: toAnthropic, blobs: pixelBlob })).toBeNull();
  });

  test("[WIRE-85] equal texts of one step are told apart, and a summary is its compaction's", () => {
    const twice = logOf(P(), U("a"), KN("lost"), T("x"), T(" "), T("x"), C("c"), R("c"));
    expect(seqs(toAnthropic, twice)).toEqual([1, 1, 2, 4, 6, 7, 8]);
    expect(seqs(toAnthropic, logOf(P(), U("a"), T("x"), X("SUM", 5), U("b", t2)))).toEqual([1, 1, 4, 5]);
  });
});

describe("rows of a request", () => {
  const warm = (tailHash: string): Draft => {
    const draft = Q("s", { turn: "", model: "m", tailHash });
    return { ...draft, data: { ...draft.data, purpose: "warm" } };
  };
  const log = logOf(
    P(),
    U("a"),
    Q("s", { model: "m", tailHash: "h1" }),
    T("t"),
    U("b", t2),
    Q("s", { ...t2, model: "m", tailHash: "h2" }),
    T("u", t2),
    warm("h2"),
    warm("gone"),
  );

  test("[WIRE-83] all in front of it; of a warm one those of the request that it repeats", () => {
    const counts = [3, 6, 8, 9].map((seq) => rowsOfRequest(log, seq).length);
    expect(counts).toEqual([2, 5, 5, 8]);
    expect(rowsOfRequest(log, 4)).toEqual([]);
    expect(rowsOfRequest(log, 99)).toEqual([]);
  });
});
