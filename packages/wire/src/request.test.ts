import { isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { isMarked } from "./breakpoints.ts";
import { buildRequest } from "./folder.ts";
import { requestFor } from "./testing/capture.ts";
import { toAnthropic, toCompatible } from "./testing/folded.ts";
import { blobHash, C, type Draft, logOf, M, P, Q, R, T, testTools, U, UA } from "./testing/rows.ts";

const t2 = { turn: "t2" };

/** The rows of a request row, as a loop would seal it. */
const sealed = (drafts: readonly Draft[], place = {}): Draft => {
  const { scopeHash, tailHash } = requestFor(logOf(...drafts));
  return Q(scopeHash, { model: "anthropic/model-a", tailHash, ...place });
};

describe("one request", () => {
  test("[WIRE-28] a loop that seals its request rows extends itself, step after step", () => {
    let drafts: readonly Draft[] = [P({ tools: testTools }), U("a")];
    let previousChain: readonly string[] | undefined;
    for (let step = 0; step < 12; step++) {
      const { chain, guard, violations, endsDerived } = requestFor(logOf(...drafts), { previousChain });
      expect([guard.kind, violations, endsDerived]).toEqual([step === 0 ? "first" : "extends", [], false]);
      previousChain = chain;
      const place = { step };
      drafts = [
        ...drafts,
        sealed(drafts, place),
        T("t", place),
        C(`c${step}`, "{}", place),
        R(`c${step}`, "ok", place),
      ];
    }
  });

  test("[WIRE-28] an edited row is caught with its place and its row", () => {
    const drafts = [P(), U("a"), T("t"), U("b", t2)];
    const { chain } = requestFor(logOf(...drafts));
    const edited = logOf(P(), U("a"), T("EDITED"), U("b", t2), sealed(drafts, t2), T("u", t2), U("c", { turn: "t3" }));
    const { guard } = requestFor(edited, { previousChain: chain });
    expect(guard).toEqual({ kind: "changed", firstDifferingBlock: 3, seq: 3 });
  });

  test("[WIRE-22] breakpoints only where the provider takes them, in the same messages", () => {
    const rows = logOf(P(), U("a"), T("t"), U("b", t2));
    expect(requestFor(rows).messages.filter(isMarked)).toHaveLength(3);
    expect(requestFor(rows, { target: toCompatible }).messages.filter(isMarked)).toHaveLength(0);
  });

  test("[WIRE-22] after a model change the newest end of this model is marked", () => {
    const own = [P(), U("a")];
    const rows = [
      ...own,
      sealed(own),
      T("t"),
      M("other"),
      U("b", t2),
      Q("else", { ...t2, model: "other" }),
      T("u", t2),
      U("c", { turn: "t3" }),
    ];
    const { messages } = requestFor(logOf(...rows));
    expect(messages.map((message) => (isMarked(message) ? "*" : "."))).toEqual(["*", "*", ".", ".", ".", "*"]);
  });

  test("[WIRE-2] a fault of the fold is the request's", () => {
    const built = buildRequest({ rows: logOf(P(), U(" ")), target: toAnthropic, modelName: "m", effort: "default" });
    expect(isFault(built) && built.code).toBe("empty-conversation");
  });

  test("[WIRE-31] alarms are handed on, and a missing blob is one", () => {
    const rows = logOf(P(), UA("a", [{ blob: blobHash("a"), mediaType: "image/png", name: "x" }]), R("zz"));
    const built = buildRequest({ rows, target: toAnthropic, modelName: "m", effort: "default" });
    expect(isFault(built) ? [] : built.alarms.map(({ code }) => code)).toEqual(["orphan-result", "missing-blob"]);
  });
});
