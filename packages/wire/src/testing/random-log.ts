/**
 * Random logs as a right loop would seal them, with everything that happens to one: cut and retried streams, stops,
 * crashes, errors, steers early and late, bursts of calls, results in any order, doubled and late, odd ids and
 * arguments, thinking of every kind, notes, compactions, new prefixes. `points` are the moments at which a request went
 * out; the promise is about those.
 */
import type { StoredRow } from "@varve/protocol";
import type fc from "fast-check";
import { type Block, type Step, scripts, type Turn } from "./random-script.ts";
import {
  blobHash,
  type Draft,
  E,
  logOf,
  M,
  N,
  P,
  type Place,
  Q,
  R,
  RE,
  RI,
  scopeA,
  scopeB,
  testTools,
  U,
  UA,
  V,
  X,
  XU,
} from "./rows.ts";
import { callRow, textRow, thinkingRow } from "./scoped-rows.ts";

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

/** Models that speak in between, one of each profile that leaves something behind. */
const otherScopes = [
  scopeB,
  "openai-responses:gpt-5.6-sol",
  "google:gemini-3-flash",
  "openrouter:anthropic/claude-opus-5.5",
  "deepseek:deepseek-v4-pro",
  "openai-compatible:qwen3",
  "mistral:devstral",
] as const;

const picture = { blob: blobHash("b"), mediaType: "image/png" };
const withError = (draft: Draft): Draft => ({ ...draft, data: { ...draft.data, isError: true } });

/** Some requests without a `request` row, as in logs that were brought in from elsewhere. */
export const randomLogs: fc.Arbitrary<RandomLog> = randomLogsFor(scopeA);
/** Every request with its row, as a loop seals it. */
export const loggedLogs: fc.Arbitrary<RandomLog> = scripts.map((script) => written(script, scopeA, true));
/** Logs in which the model of this scope speaks most of the time. */
export function randomLogsFor(scope: string): fc.Arbitrary<RandomLog> {
  return scripts.map((script) => written(script, scope, false));
}

function written(script: readonly Turn[], scope: string, logAll: boolean): RandomLog {
  const writer = new Writer(scope, logAll);
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
  #tokens = 0;
  readonly #own: string;
  #scope: string;
  readonly #logAll: boolean;

  constructor(scope: string, logAll: boolean) {
    this.#own = scope;
    this.#scope = scope;
    this.#logAll = logAll;
  }

  turn(turn: Turn, index: number): void {
    const name = `t${index + 1}`;
    this.#before(turn);
    if (index > 0) this.#speaker(turn.speaker);
    const [first = "", ...more] = turn.messages;
    const attachments = turn.attachments.map((mediaType) => ({ blob: blobHash("a"), mediaType, name: "a" }));
    this.#user(attachments.length > 0 ? UA(first, attachments, { turn: name }) : U(first, { turn: name }));
    for (const text of more) this.#user(U(text, { turn: name }));
    // A message without anything to see is refused where it is accepted, so a turn always begins with something.
    if (attachments.length === 0 && turn.messages.every((text) => text.trim() === ""))
      this.#user(U("go", { turn: name }));
    if (turn.late && this.#lastCall !== null) this.drafts.push(R(this.#lastCall, "late", { turn: name }));
    let step = 0;
    for (const script of turn.steps) {
      if (!this.#step(script, name, step)) return;
      step += 1;
    }
  }

  /** A change of models seals its row and rewrites nothing. */
  #speaker(speaker: number): void {
    const scope = speaker === 0 ? this.#own : (otherScopes[speaker - 1] ?? this.#own);
    if (scope === this.#scope) return;
    this.#scope = scope;
    this.drafts.push(M(scope));
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

  #blocks(script: Step, place: Place): string[] {
    const calls: string[] = [];
    for (const block of script.blocks) {
      if (block.kind === "call") {
        const id = block.id ?? `toolu_${this.#freshIds++}`;
        const token = calls.length === 0 ? this.#token() : null;
        this.drafts.push(callRow({ ...block, id }, { scope: this.#scope, token, place }));
        calls.push(id);
        this.#lastCall = id;
      } else this.drafts.push(this.#blockRow(block.kind, block.text, place));
    }
    return calls;
  }

  #token(): string {
    this.#tokens += 1;
    return `t${this.#tokens}`;
  }

  #blockRow(kind: Exclude<Block["kind"], "call">, text: string, place: Place): Draft {
    const scope = this.#scope;
    switch (kind) {
      case "text":
      case "part":
        return textRow(text, { scope, token: null, partial: kind === "part", place });
      case "token-text":
        return textRow(text, { scope, token: this.#token(), partial: false, place });
      case "other-scope":
        return thinkingRow("signed", { scope: scopeB, token: this.#token(), text, place });
      default:
        return thinkingRow(kind, { scope, token: this.#token(), text, place });
    }
  }

  #results(calls: readonly string[], script: Step, place: Place): void {
    const left = [...calls];
    while (left.length > 0) {
      const at = (script.order[left.length % script.order.length] ?? 0) % left.length;
      const [id = ""] = left.splice(at, 1);
      if (script.outcome === "cancel") this.drafts.push(RE(id, "[stopped by user]", place));
      else this.#result(id, script.results[left.length % script.results.length] ?? "ok", place);
    }
  }

  #result(id: string, how: string, place: Place): void {
    if (how === "error") this.drafts.push(RE(id, "boom", place));
    else if (how === "image") this.drafts.push(RI(id, "", [picture], place));
    else if (how === "broken-image") this.drafts.push(withError(RI(id, "boom", [picture, picture], place)));
    else this.drafts.push(R(id, how === "" ? "" : `out ${id}`, place));
    // The second of two equal results belongs to the next call with that id, if there is one, else to none.
    if (how === "twice") this.drafts.push(R(id, "again", place));
  }
}
