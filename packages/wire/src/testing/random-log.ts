/**
 * Random logs as a right loop would seal them, with everything that happens to one: cut and retried streams, stops,
 * crashes, errors, steers early and late, bursts of calls, results in any order, doubled and late, odd ids and
 * arguments, thinking of every kind, notes, compactions, new prefixes. `points` are the moments at which a request went
 * out; the promise is about those.
 */
import type { StoredRow } from "@varve/protocol";
import fc from "fast-check";
import {
  blobHash,
  C,
  type Draft,
  E,
  K,
  KN,
  KR,
  logOf,
  N,
  P,
  Q,
  R,
  RE,
  RI,
  scopeB,
  T,
  TP,
  testTools,
  U,
  UA,
  V,
  X,
  XU,
} from "./rows.ts";

export interface RequestPoint {
  /** Rows that stood before the request. */
  readonly end: number;
  /** Requests of one segment must extend each other; a new prefix or compaction starts another. */
  readonly segment: number;
  /** Whether the model began to answer, so that a cache entry exists. */
  readonly answered: boolean;
}
export interface RandomLog {
  readonly rows: readonly StoredRow[];
  readonly points: readonly RequestPoint[];
}

const texts = fc.constantFrom(
  "hello",
  "a\n",
  "  \n",
  " lead",
  "",
  "x".repeat(50),
  "half \ud83d",
  "[continue]",
  "naïve 😀",
);
const spoken = fc.oneof(texts, fc.constantFrom("one", "two", "three"));
const argsTexts = fc.constantFrom(
  "{}",
  "",
  '{"z":1.0,"a":2}',
  '{"z":',
  "[1]",
  '"s"',
  '{"__proto__":{"a":1}}',
  '{"n":12345678901234567890}',
);
const callNames = fc.constantFrom("bash", "read", "functions.read", "", "x".repeat(70));

type Block =
  | { readonly kind: "signed" | "unsigned" | "other-scope" | "redacted" | "text" | "part"; readonly text: string }
  | { readonly kind: "call"; readonly id: string | null; readonly args: string; readonly name: string };
const blocks: fc.Arbitrary<Block> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("signed", "unsigned", "other-scope", "redacted"), text: texts }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("text", "part"), text: spoken }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("call"),
      // Null makes a fresh legal id; the others repeat within one log, as those of small local servers do.
      id: fc.oneof(
        { weight: 5, arbitrary: fc.constant(null) },
        fc.constantFrom("call_0", "a|b", "", "y".repeat(60), "__proto__"),
      ),
      args: argsTexts,
      name: callNames,
    }),
  },
);
const steps = fc.record({
  outcome: fc.oneof({ weight: 6, arbitrary: fc.constant("ok") }, fc.constantFrom("cut", "cancel", "refused", "ends")),
  blocks: fc.oneof(
    { weight: 8, arbitrary: fc.array(blocks, { maxLength: 6 }) },
    fc.array(blocks, { minLength: 20, maxLength: 26 }),
  ),
  order: fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
  results: fc.array(fc.constantFrom("ok", "", "error", "image", "twice", "ok"), { minLength: 1, maxLength: 8 }),
  early: fc.option(spoken, { freq: 5 }),
  steers: fc.array(spoken, { maxLength: 2 }),
  logged: fc.boolean(),
});
type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;
const turns = fc.record({
  before: fc.constantFrom("", "", "", "note", "prefix", "compaction", "undo"),
  messages: fc.array(spoken, { minLength: 1, maxLength: 2 }),
  attachment: fc.boolean(),
  late: fc.boolean(),
  steps: fc.array(steps, { minLength: 1, maxLength: 5 }),
});
type Turn = typeof turns extends fc.Arbitrary<infer S> ? S : never;

const scripts = fc.array(turns, { minLength: 1, maxLength: 5 });
/** Some requests without a `request` row, as in logs that were brought in from elsewhere. */
export const randomLogs: fc.Arbitrary<RandomLog> = scripts.map((script) => written(script, false));
/** Every request with its row, as a loop seals it. */
export const loggedLogs: fc.Arbitrary<RandomLog> = scripts.map((script) => written(script, true));

function written(script: readonly Turn[], logAll: boolean): RandomLog {
  const writer = new Writer(logAll);
  script.forEach((turn, index) => {
    writer.turn(turn, index);
  });
  return { rows: logOf(...writer.drafts), points: writer.points };
}

class Writer {
  readonly drafts: Draft[] = [P({ tools: testTools })];
  readonly points: RequestPoint[] = [];
  #segment = 0;
  #freshIds = 0;
  #userSeqs: number[] = [];
  #compactions: number[] = [];
  #lastCall: string | null = null;
  readonly #logAll: boolean;

  constructor(logAll: boolean) {
    this.#logAll = logAll;
  }

  turn(turn: Turn, index: number): void {
    const name = `t${index + 1}`;
    this.#before(turn);
    const [first = "", ...more] = turn.messages;
    const attachments = [{ blob: blobHash("a"), mediaType: "image/png", name: "a" }];
    this.#user(turn.attachment ? UA(first, attachments, { turn: name }) : U(first, { turn: name }));
    for (const text of more) this.#user(U(text, { turn: name }));
    // A message without anything to see is refused where it is accepted, so a turn always begins with something.
    if (!turn.attachment && turn.messages.every((text) => text.trim() === "")) this.#user(U("go", { turn: name }));
    if (turn.late && this.#lastCall !== null) this.drafts.push(R(this.#lastCall, "late", { turn: name }));
    let step = 0;
    for (const script of turn.steps) {
      if (!this.#step(script, name, step)) return;
      step += 1;
    }
  }

  #user(draft: Draft): void {
    this.#userSeqs.push(this.drafts.length + 1);
    this.drafts.push(draft);
  }

  #before({ before }: Turn): void {
    if (before === "note") this.drafts.push(N("the date is another", { turn: "" }));
    if (before === "prefix") this.#restart(P({ system: [`SYS ${this.drafts.length}`], tools: testTools }));
    if (before === "compaction" && this.drafts.length > 4) {
      this.#compactions.push(this.drafts.length + 1);
      const keepFrom = Math.ceil(this.drafts.length / 2);
      this.#restart(
        X(
          "what happened",
          keepFrom,
          this.#userSeqs.filter((seq) => seq % 2 === 0),
        ),
      );
    }
    const undone = before === "undo" ? this.#compactions.pop() : undefined;
    if (undone !== undefined) this.#restart(XU(undone));
  }

  #restart(draft: Draft): void {
    this.#segment += 1;
    this.drafts.push(draft);
  }

  /** False when the turn is over. */
  #step(script: Step, turn: string, step: number): boolean {
    const place = { turn, step };
    const { outcome } = script;
    this.points.push({
      end: this.drafts.length,
      segment: this.#segment,
      answered: outcome !== "refused" && script.blocks.length > 0,
    });
    if (script.logged || this.#logAll) this.drafts.push(Q("scope", place));
    if (outcome === "refused") {
      this.drafts.push(E(place));
      return false;
    }
    const calls = this.#blocks(script, place);
    if (outcome === "cut") {
      this.drafts.push(V(turn, step));
      return true;
    }
    if (script.early !== null) this.#user(U(script.early, place));
    this.#results(calls, script, place);
    for (const text of script.steers) this.#user(U(text, place));
    if (outcome === "cancel" || outcome === "ends") return false;
    this.#user(U("continue", place));
    return true;
  }

  #blocks(script: Step, place: { readonly turn: string; readonly step: number }): string[] {
    const calls: string[] = [];
    for (const block of script.blocks) {
      if (block.kind === "call") {
        const id = block.id ?? `toolu_${this.#freshIds++}`;
        this.drafts.push(C(id, block.args, { ...place, name: block.name }));
        calls.push(id);
        this.#lastCall = id;
      } else this.drafts.push(blockRow(block.kind, block.text, place));
    }
    return calls;
  }

  #results(calls: readonly string[], script: Step, place: { readonly turn: string; readonly step: number }): void {
    const left = [...calls];
    while (left.length > 0) {
      const at = (script.order[left.length % script.order.length] ?? 0) % left.length;
      const [id = ""] = left.splice(at, 1);
      if (script.outcome === "cancel") this.drafts.push(RE(id, "[stopped by user]", place));
      else this.#result(id, script.results[left.length % script.results.length] ?? "ok", place);
    }
  }

  #result(id: string, how: string, place: { readonly turn: string; readonly step: number }): void {
    if (how === "error") this.drafts.push(RE(id, "boom", place));
    else if (how === "image") this.drafts.push(RI(id, "", [{ blob: blobHash("b"), mediaType: "image/png" }], place));
    else this.drafts.push(R(id, how === "" ? "" : `out ${id}`, place));
    // The second of two equal results belongs to the next call with that id, if there is one, else to none.
    if (how === "twice") this.drafts.push(R(id, "again", place));
  }
}

function blockRow(
  kind: Exclude<Block["kind"], "call">,
  text: string,
  place: { readonly turn: string; readonly step: number },
): Draft {
  switch (kind) {
    case "signed":
      return K(`sig-${text.length}`, { ...place, text });
    case "unsigned":
      return KN(text, place);
    case "other-scope":
      return K("sig-other", { ...place, scope: scopeB });
    case "redacted":
      return KR("sealed", place);
    case "text":
      return T(text, place);
    case "part":
      return TP(text, place);
  }
}
