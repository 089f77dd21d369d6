import { describe, expect, test } from "vitest";
import { isMarked, placeBreakpoints, withoutBreakpoint } from "./breakpoints.ts";
import type { ModelMessage } from "./model-message.ts";
import { folded } from "./testing/folded.ts";
import { C, type Draft, E, logOf, P, Q, R, RE, T, U, V } from "./testing/rows.ts";
import { showBreakpoints } from "./testing/show.ts";

const at = (step: number) => ({ step });
const t2 = { turn: "t2" };
const plain = { scopeHash: "mine", ttl: "5m", systemTtl: "5m" } as const;

function markedOf(drafts: readonly Draft[], options: Partial<Parameters<typeof placeBreakpoints>[1]> = {}) {
  const { messages, anchors } = folded(logOf(...drafts));
  return placeBreakpoints(messages, { ...plain, anchors, ...options });
}
const places = (...drafts: readonly Draft[]) => showBreakpoints(markedOf(drafts));

const vectors: readonly (readonly [number, string, readonly Draft[], string])[] = [
  [46, "a first message", [P(), U("a")], "S* U*"],
  [47, "one tool step", [P(), U("a"), C("c"), R("c")], "S* U* A T*"],
  [
    48,
    "three tool steps",
    [P(), U("a"), C("c"), R("c"), C("d", "{}", at(1)), R("d", "ok", at(1)), C("e", "{}", at(2)), R("e", "ok", at(2))],
    "S* U A T* A T* A T*",
  ],
  [49, "a steer behind the results", [P(), U("a"), C("c"), R("c"), U("q")], "S* U* A T U*"],
  [50, "two system blocks", [P({ system: ["ONE", "TWO"] }), U("a"), T("t"), U("b", t2)], "S S* U* A U*"],
  [51, "a failed request", [P(), U("a"), E(), U("b", t2)], "S* U U*"],
];

describe("breakpoints", () => {
  test.each(vectors)("[WIRE-22] vector %i: %s", (_, __, drafts, expected) => {
    expect(places(...drafts)).toBe(expected);
  });

  test("[WIRE-22] with request rows the end of an unanswered request is marked as well", () => {
    const rows = [P(), U("a"), Q("mine"), T("t"), U("b", t2), Q("mine", t2), E(t2), U("c", { turn: "t3" })];
    expect(places(...rows)).toBe("S* U* A U* U*");
  });

  test("[WIRE-22] an unanswered end in front of the last answered one gives way to an answered one", () => {
    const t3 = { turn: "t3" };
    const rows = [P(), U("a"), Q("mine"), T("t"), U("b", t2), Q("mine", t2), E(t2), U("c", t3), Q("mine", t3)];
    expect(places(...rows, T("u", t3), U("d", { turn: "t4" }))).toBe("S* U* A U U* A U*");
  });

  test("[WIRE-22] a voided step was answered: its request's end holds an entry", () => {
    const rows = [P(), U("a"), Q("mine"), T("x"), V("t1", 0), Q("mine", at(1)), T("y", at(1)), U("b", t2)];
    expect(places(...rows)).toBe("S* U* A U*");
  });

  test("[WIRE-22] ends of another scope are passed over for the newest of this one", () => {
    const rows = [
      P(),
      U("a"),
      Q("mine"),
      T("t"),
      U("b", t2),
      Q("other", t2),
      T("u", t2),
      U("c", { turn: "t3" }),
      Q("other", { turn: "t3" }),
      T("v", { turn: "t3" }),
      U("d", { turn: "t4" }),
    ];
    expect(places(...rows)).toBe("S* U* A U A U A U*");
  });

  test("[WIRE-22] every block of a burst but the last stays unmarked", () => {
    const ids = Array.from({ length: 26 }, (_, index) => `c${index}`);
    const marked = markedOf([P(), U("a"), ...ids.map((id) => C(id)), ...ids.map((id) => RE(id, "x"))]);
    expect(marked.filter(isMarked)).toHaveLength(3);
    // One mark on the message: the adapter puts it on the last of the 26 results alone.
    expect(JSON.stringify(marked).split("cacheControl")).toHaveLength(4);
  });

  test("[WIRE-22] an hour for the messages means an hour for the system prompt: longer lifetimes come first", () => {
    const ttls = (options: Partial<Parameters<typeof placeBreakpoints>[1]>) =>
      markedOf([P(), U("a"), T("t"), U("b", t2)], options).flatMap((message) => {
        const mark = message.providerOptions?.anthropic?.cacheControl;
        return mark === undefined ? [] : [JSON.stringify(mark)];
      });
    const hour = '{"type":"ephemeral","ttl":"1h"}';
    const short = '{"type":"ephemeral"}';
    expect(ttls({})).toEqual([short, short, short]);
    expect(ttls({ systemTtl: "1h" })).toEqual([hour, short, short]);
    expect(ttls({ ttl: "1h" })).toEqual([hour, hour, hour]);
  });

  test("[WIRE-22] marks go on a copy", () => {
    const { messages, anchors } = folded(logOf(P(), U("a"), T("t"), U("b", t2)));
    const before = JSON.stringify(messages);
    const marked = placeBreakpoints(messages, { ...plain, anchors });
    expect(JSON.stringify(messages)).toBe(before);
    expect(marked.map(({ providerOptions: _, ...rest }) => rest)).toEqual(messages);
  });

  test("[WIRE-22] other options of a message survive its mark, and the mark's removal", () => {
    const message: ModelMessage = {
      role: "user",
      content: [{ type: "text", text: "a" }],
      providerOptions: { anthropic: { keep: true }, other: { x: 1 } },
    };
    const [marked] = placeBreakpoints([message], { ...plain, anchors: [] });
    expect(marked?.providerOptions).toEqual({
      anthropic: { keep: true, cacheControl: { type: "ephemeral" } },
      other: { x: 1 },
    });
    expect(withoutBreakpoint(marked?.providerOptions)).toEqual(message.providerOptions);
  });
});
