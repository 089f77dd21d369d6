/**
 * What the models of a kill run do: long texts, thinking, several commands at once, streams that break. Each command leaves
 * a key of its own in the marker file before anything else, so that a second run of it would show.
 */
import type { Prng } from "../prng.ts";
import type { FakeProvider } from "../provider/fake-provider.ts";
import type { Gate } from "../provider/gate.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply, ReplyBlock } from "../provider/script.ts";
import { pause } from "./pause.ts";

/** Characters of one delta. */
const deltaSize = 24;
const wordsMax = 500;
const keyPattern = /key-\d+-\d+/g;

/** The keys of commands that a text names. */
export const keysIn = (text: string): readonly string[] => text.match(keyPattern) ?? [];

export class KillScript {
  /** What the next answers are made of: as it comes, or what a moment waits for. `calm`: short texts, so that every turn ends. */
  mood: "any" | "talks" | "works" | "calm" = "any";
  readonly #prng: Prng;
  readonly #nap: string;
  readonly #deltas = new Map<number, number>();
  #stopped = false;

  /** `nap`: a command that lasts longer than any run, by which its process can be found. */
  constructor(prng: Prng, nap: string) {
    this.#prng = prng;
    this.#nap = nap;
  }

  readonly reply = (request: FakeRequest): Reply => {
    const blocks = this.#blocks(request);
    this.#deltas.set(
      request.index,
      blocks.reduce((sum, block) => sum + deltasIn(block), 0),
    );
    const breaks = this.mood !== "calm" && this.#prng.chance(0.06);
    return {
      blocks,
      chunkSize: deltaSize,
      holdAfter: 0,
      ...(breaks && { fail: { kind: "cut", at: this.#prng.int(1, 8) } }),
    };
  };

  /** Lets each call speak in steps of a drawn size and speed, until `stop`. */
  async pace(provider: FakeProvider): Promise<void> {
    while (!this.#stopped) {
      const gate = provider.gate();
      // A refused request has no reply to pace; the refusal stands among the provider's calls.
      const call = await gate.started.catch(() => null);
      if (call !== null) void this.#speak(gate, this.#deltas.get(call.index) ?? 0);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  async #speak(gate: Gate, deltas: number): Promise<void> {
    const [size, ms] = [this.#prng.int(1, 4), this.#prng.int(2, 12)];
    for (let left = deltas; left > 0; left -= size) {
      await gate.step(size);
      if (this.mood !== "calm") await pause(ms);
    }
    gate.release();
  }

  #blocks({ index, lastResults }: FakeRequest): readonly ReplyBlock[] {
    const prng = this.#prng;
    if (this.mood === "calm") return [this.#text(index, 8)];
    // Where commands are waited for, they come soon.
    const thoughts = this.mood === "works" ? 10 : wordsMax / 2;
    const thinks = prng.chance(0.4) ? [{ type: "thinking", text: this.#words(index, thoughts) } as const] : [];
    const drawn = prng.chance(lastResults.length > 0 ? 0.35 : 0.5);
    const works = this.mood === "any" ? drawn : this.mood === "works";
    if (!works) return [...thinks, this.#text(index, wordsMax)];
    const calls = Array.from({ length: prng.int(1, 3) }, (_, at) => this.#command(`key-${index}-${at}`));
    return [...thinks, ...(prng.chance(0.6) ? [this.#text(index, this.mood === "works" ? 10 : 60)] : []), ...calls];
  }

  #command(key: string): ReplyBlock {
    const last = this.#prng.pick(["true", "true", `sleep 0.${this.#prng.int(1, 3)}`, "sleep 0.05", "true", this.#nap]);
    return { type: "tool_use", name: "bash", input: { command: `echo ${key} >> marker; echo began ${key}; ${last}` } };
  }

  #text(index: number, wordCount: number): ReplyBlock {
    return { type: "text", text: this.#words(index, wordCount) };
  }

  /** No two places of it are alike, so that a piece lost from its middle would show. */
  #words(index: number, max: number): string {
    const count = this.#prng.int(4, Math.max(8, max));
    return Array.from({ length: count }, (_, at) => `r${index}w${at}`).join(" ");
  }
}

function deltasIn(block: ReplyBlock): number {
  if (block.type === "redacted_thinking") return 0;
  const text = block.type === "tool_use" ? JSON.stringify(block.input ?? {}) : block.text;
  return Math.ceil(text.length / deltaSize);
}
