/**
 * Work in several tabs as blocks and moments, without a wire: what any placement of breakpoints is measured on. Tabs
 * share their system prompt; steps burst into many calls; people wait, steer, stop; requests fail, break off, come again.
 */
import type { Prng } from "../prng.ts";
import type { BlockKind } from "./cache-model.ts";

export interface TabBlock {
  readonly text: string;
  readonly kind: BlockKind;
  /** The first block of a message; a message is what stands between two changes of side. */
  readonly side: "head" | "user" | "assistant";
}

export interface TabRequest {
  readonly blocks: readonly TabBlock[];
  readonly nowMs: number;
  /** Whether the answer begins; if not, nothing is written. */
  readonly isAnswered: boolean;
}

export interface ScriptedTabsOptions {
  readonly tabs: number;
  readonly requests: number;
  /** Of the steps with calls, how many have 20 to 60 of them. */
  readonly bursts: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export function scriptedTabs(prng: Prng, options: ScriptedTabsOptions): readonly TabRequest[] {
  const tabs = Array.from({ length: options.tabs }, () => new Tab(prng, options.bursts));
  const requests: TabRequest[] = [];
  let nowMs = 0;
  while (requests.length < options.requests) {
    const tab = tabs[prng.int(0, tabs.length - 1)];
    const steps = prng.int(1, 6);
    for (let step = 0; tab !== undefined && step < steps; step += 1) {
      nowMs += gapMs(prng, step === 0);
      requests.push(tab.request(nowMs, step === 0));
    }
  }
  return requests;
}

/** Within a turn seconds; between turns anything from seconds to an hour. */
function gapMs(prng: Prng, isNewTurn: boolean): number {
  if (!isNewTurn) return prng.chance(0.05) ? prng.int(1, 4) * MINUTE : prng.int(1, 40) * SECOND;
  return prng.pick([5 * SECOND, 20 * SECOND, 50 * SECOND, 2 * MINUTE, 4 * MINUTE, 6 * MINUTE, 61 * MINUTE]);
}

class Tab {
  readonly #prng: Prng;
  readonly #bursts: number;
  readonly #id: number;
  #blocks: readonly TabBlock[];
  /** Calls of the last step, whose results the next request brings. */
  #calls = 0;

  constructor(prng: Prng, bursts: number) {
    this.#prng = prng;
    this.#bursts = bursts;
    this.#id = prng.uint32();
    const head = (text: string, kind: BlockKind): TabBlock => ({ text: text.padEnd(4_000), kind, side: "head" });
    this.#blocks = [head("tool a", "tools"), head("tool b", "tools"), head("system", "system")];
  }

  request(nowMs: number, isNewTurn: boolean): TabRequest {
    const prng = this.#prng;
    const results = Array.from({ length: this.#calls }, () => this.#block("tool-result", "user"));
    const isSteered = isNewTurn || this.#calls === 0 || prng.chance(0.15);
    const said = isSteered ? Array.from({ length: prng.int(1, 2) }, () => this.#block("user", "user")) : [];
    this.#blocks = [...this.#blocks, ...results, ...said];
    this.#calls = 0;
    const how = prng.float();
    const request = { blocks: this.#blocks, nowMs, isAnswered: how >= 0.04 };
    // Failed, or broken off without a trace: the next request brings the same blocks and perhaps more.
    if (how >= 0.12) this.#answer(how < 0.18);
    return request;
  }

  #answer(isStopped: boolean): void {
    const prng = this.#prng;
    const thinking = prng.chance(0.5) ? [this.#block("other", "assistant")] : [];
    const texts = Array.from({ length: prng.chance(0.1) ? prng.int(5, 30) : 1 }, () =>
      this.#block("other", "assistant"),
    );
    if (!isStopped && prng.chance(0.8)) this.#calls = prng.chance(this.#bursts) ? prng.int(20, 60) : prng.int(1, 3);
    const calls = Array.from({ length: this.#calls }, () => this.#block("tool-use", "assistant"));
    this.#blocks = [...this.#blocks, ...thinking, ...texts, ...calls];
  }

  #block(kind: BlockKind, side: TabBlock["side"]): TabBlock {
    const name = `${this.#id}/${this.#blocks.length}/${this.#prng.uint32()}`;
    return { text: name.padEnd(this.#prng.int(40, 1_200), "."), kind, side };
  }
}
