/** A compaction in the middle of everything: valid whatever it cuts, and an undo gives back the very bytes. */
import { describe, expect, test } from "vitest";
import { anthropicModel, capture, compatibleModel, requestFor } from "./testing/capture.ts";
import { folded, toAnthropic, toCompatible, toMistral } from "./testing/folded.ts";
import { C, type Draft, K, logOf, N, P, Q, R, T, testTools, U, X, XU } from "./testing/rows.ts";
import { show, showBreakpoints } from "./testing/show.ts";
import { validateMessages } from "./validate.ts";

const at = (step: number) => ({ turn: "t2", step });
const compaction = (data: object): Draft => ({
  ...X("SUM", 0),
  data: { kind: "compaction", summary: "SUM", keptUserSeqs: [], ...data },
});

/** A finished turn, then one that runs: three steps, each with a call. Its message is row 7. */
const running: readonly Draft[] = [
  P({ tools: testTools }),
  N("rules: none", { turn: "" }),
  U("first"),
  Q("s", { step: 0 }),
  K("s0"),
  T("answer"),
  U("the task", at(0)),
  ...[0, 1, 2].flatMap((step) => [
    Q("s", at(step)),
    K(`s${step + 1}`, at(step)),
    C(`c${step}`, "{}", at(step)),
    R(`c${step}`, `r${step}`, at(step)),
  ]),
];

describe("a compaction while a turn runs", () => {
  test("[WIRE-81] kept words and notes first, then the steps from the boundary on, each with its results", () => {
    const rows = logOf(...running, compaction({ keepFrom: 16, keptUserSeqs: [3, 7], keptNoteSeqs: [2] }));
    expect(show(folded(rows).messages)).toBe(
      'U["SUM"] U["<system-note>rules: none</system-note>"] U["first"] U["the task"] A[call(c2,{})] T[res(c2,"r2")]',
    );
    const strict = folded(rows, toMistral).messages;
    expect(validateMessages(strict, toMistral.profile)).toEqual([]);
    expect(show(strict)).toContain('U["SUM"] A["(ok)"] U[');
  });

  test.each(Array.from({ length: running.length + 2 }, (_, from) => from + 1))(
    "[WIRE-81] wherever it cuts, what is left is valid and the turn goes on: from row %i",
    (keepFrom) => {
      const rows = [
        ...running,
        compaction({ keepFrom, keptUserSeqs: [7] }),
        Q("s", at(3)),
        C("c3", "{}", at(3)),
        R("c3", "r3", at(3)),
      ];
      for (const target of [toAnthropic, toCompatible, toMistral]) {
        const { messages, alarms, endsDerived } = folded(logOf(...rows), target);
        expect(validateMessages(messages, target.profile)).toEqual([]);
        expect([alarms, endsDerived]).toEqual([[], false]);
        expect(show(messages)).toContain('"the task"');
      }
    },
  );

  test("[WIRE-22] earlier ends of the epoch alone are marked: none at first, then T1, then T2 too", () => {
    const { scopeHash } = requestFor(logOf(...running));
    const sealed = running.map((draft) =>
      "scopeHash" in draft.data ? { ...draft, data: { ...draft.data, scopeHash } } : draft,
    );
    const step = (number: number) => [
      Q(scopeHash, at(number)),
      C(`d${number}`, "{}", at(number)),
      R(`d${number}`, "r", at(number)),
    ];
    const marks = (...drafts: readonly Draft[]) => showBreakpoints(requestFor(logOf(...sealed, ...drafts)).messages);
    const cut = compaction({ keepFrom: 16, keptUserSeqs: [7] });
    expect(marks(cut)).toBe("S* U U A T*");
    expect(marks(cut, ...step(3))).toBe("S* U U A T* A T*");
    expect(marks(cut, ...step(3), ...step(4))).toBe("S* U U A T* A T* A T*");
    // An undo leads back into the epoch whose ends they are.
    expect(marks(cut, XU(20))).toBe(marks());
  });
});

describe("undo", () => {
  test.each([
    ["anthropic", toAnthropic, anthropicModel("model-a")],
    ["openai-compatible", toCompatible, compatibleModel("model-a")],
  ] as const)("[WIRE-17] an undo gives back the body's very bytes: %s", async (_, target, model) => {
    const body = async (...drafts: readonly Draft[]) =>
      (await capture(requestFor(logOf(...running, ...drafts), { target }), model)).text;
    const before = await body();
    const cut = compaction({ keepFrom: 16, keptUserSeqs: [7] });
    const [row, again] = [running.length + 1, running.length + 2];
    expect((await body(cut)).length).toBeLessThan(before.length);
    expect(await body(cut, XU(row))).toBe(before);
    expect(await body(cut, compaction({ keepFrom: 20 }), XU(again), XU(row))).toBe(before);
    expect(await body(cut, compaction({ keepFrom: 20 }), XU(again))).toBe(await body(cut));
  });
});
