/**
 * What a server on one's own network reads again of what it has computed, with a template of the Qwen family: it leaves thinking
 * out in front of the newest message of a person unless it is told to keep it.
 */
import { cacheBlocks, cacheScope, createVendorCache, estimateTokens, renderedAnswer } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { localConstants } from "./openai-constants.ts";
import { type Adapter, adapter } from "./testing/adapters.ts";
import { requestFor } from "./testing/capture.ts";
import { C, type Draft, logOf, P, R, T, testTools, U } from "./testing/rows.ts";
import { thinkingRow } from "./testing/scoped-rows.ts";
import { send } from "./testing/send.ts";

const model = "qwen3.5:35b";
const local = adapter("local", model);
const gateway = adapter("openai-compatible", model);
const long = (text: string) => `${text} ${"and so on, at length. ".repeat(40)}`;

interface Spoken {
  readonly thought: string;
  readonly text: string;
  readonly call?: string;
  /** A person stopped it: nothing of it is kept by the server, and its thinking is marked as cut. */
  readonly cut?: true;
}

/** One after the other: what a person says, what the model answers. */
type Event = { readonly say: string } | Spoken;

/** Work of some steps, steered in its middle; a stop in the middle of an answer; two more turns. */
const interrupted: readonly Event[] = [
  { say: "Look at it." },
  { thought: long("First the index."), text: "Reading.", call: "c1" },
  { thought: long("Then the tests."), text: "", call: "c2" },
  { say: "No, the other one." },
  { thought: long("The other one, then."), text: "Right.", call: "c3" },
  { thought: long("All seen."), text: "It is done." },
  { say: "And now the docs." },
  { thought: long("Docs, docs"), text: "", cut: true },
  { say: "I meant the readme." },
  { thought: long("The readme."), text: "Reading it.", call: "c4" },
  { thought: long("Good."), text: "Fine as it is." },
  { say: "Thanks." },
  { thought: long("A word of thanks."), text: "Gladly." },
];

interface Figures {
  readonly read: number;
  readonly attainable: number;
}

/** Each request in its turn, against one slot. Attainable: all of the request before, and its answer where it came to its end. */
async function play(events: readonly Event[], by: Adapter, prefix: Draft): Promise<readonly Figures[]> {
  const cache = createVendorCache("openai", model, { localSlots: 1 });
  const drafts: Draft[] = [prefix];
  const figures: Figures[] = [];
  let attainable = 0;
  let turn = 0;
  let step = 0;
  for (const event of events) {
    if ("say" in event) {
      const isSteer = drafts.at(-1)?.role === "tool";
      if (!isSteer) [turn, step] = [turn + 1, 0];
      drafts.push(U(event.say, { turn: `t${turn}`, step: Math.max(0, isSteer ? step - 1 : 0) }));
      continue;
    }
    const { text: sent, warnings } = await send(requestFor(logOf(...drafts), { target: by.target }), by.model);
    expect(warnings).toEqual([]);
    const body = JSON.parse(sent);
    const blocks = cacheBlocks("openai", body);
    const begun = cache.begin({ scope: cacheScope("openai", body), blocks, nowMs: figures.length });
    figures.push({ read: begun.figures.read, attainable });
    begun.firstEvent();
    const place = { turn: `t${turn}`, step };
    drafts.push(...rowsOf(event, by, place));
    const answer = renderedAnswer({ ...event, calls: event.call === undefined ? [] : [{ name: "read", args: "{}" }] });
    if (event.cut === undefined) begun.ended([answer]);
    const total = blocks.reduce((sum, block) => sum + estimateTokens(block.text), 0);
    attainable = total + (event.cut === undefined ? estimateTokens(answer) : 0);
    step += 1;
  }
  return figures.slice(1);
}

function rowsOf({ thought, text, call, cut }: Spoken, by: Adapter, place: { turn: string; step: number }): Draft[] {
  const kind = cut === undefined ? "unsigned" : "partial";
  const thinking = thinkingRow(kind, { scope: by.target.modelScope, token: "", text: thought, place });
  return [
    thinking,
    ...(text === "" ? [] : [T(text, place)]),
    ...(call === undefined ? [] : [C(call, "{}", { ...place, name: "read" }), R(call, long("a result"), place)]),
  ];
}

const ratioOf = (figures: readonly Figures[]): number =>
  figures.reduce((sum, { read }) => sum + read, 0) / figures.reduce((sum, { attainable }) => sum + attainable, 0);

const frozen = (constants: typeof localConstants) => P({ tools: testTools, constants: { local: constants } });

describe("a template that drops thinking", () => {
  test("[WIRE-70] all that can be read is read, across a steer, a stop and new turns", async () => {
    const figures = await play(interrupted, local, P({ tools: testTools }));
    expect(figures.filter(({ read, attainable }) => read !== attainable)).toEqual([]);
    expect(ratioOf(figures)).toBe(1);
  });

  test("[WIRE-70] without the switch each new message makes the turn before it be read anew", async () => {
    const { options: _, ...without } = localConstants;
    const figures = await play(interrupted, local, frozen(without));
    expect(ratioOf(figures)).toBeLessThan(0.8);
    expect(figures.map(({ read, attainable }) => read === attainable)).toEqual([
      true,
      false, // The steer.
      true,
      false, // The next message.
      true,
      true,
      false, // The last one.
    ]);
  });

  test("[WIRE-70] without the thinking each step is read anew", async () => {
    const figures = await play(interrupted, gateway, P({ tools: testTools }));
    expect(ratioOf(figures)).toBeLessThan(0.9);
    // Only a stopped answer left nothing that could be missed.
    expect(figures.map(({ read, attainable }) => read < attainable)).toEqual([
      true,
      true,
      true,
      true,
      false,
      true,
      true,
    ]);
  });
});
