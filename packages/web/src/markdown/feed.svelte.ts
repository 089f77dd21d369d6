import type { Clock, Timer } from "@varve/protocol";
import { type ShownBlock, showBlock } from "./html.ts";
import { pauseMs } from "./pace.ts";
import { emptySplit, type MarkdownBlock, type SplitState, splitMore, splitWhole } from "./split.ts";

/**
 * What one text shows while it grows. `blocks` is replaced as a whole; a block whose source did not change keeps its
 * identity, so that the page leaves its elements alone. After `close` nothing is rendered any more.
 */
export class MarkdownFeed {
  blocks: readonly ShownBlock[] = $state.raw([]);
  readonly #clock: Clock;
  readonly #clean: (html: string) => string;
  #split: SplitState = emptySplit;
  #shown: { readonly raw: string; readonly shown: ShownBlock }[] = [];
  #last = { endedAt: 0, costMs: 0 };
  #timer: Timer | null = null;
  #wanted = "";

  constructor(clock: Clock, clean: (html: string) => string) {
    this.#clock = clock;
    this.#clean = clean;
  }

  /** Sealed text is read as a whole, at once. */
  show(text: string, sealed: boolean): void {
    this.#wanted = text;
    if (sealed) {
      this.#stopTimer();
      this.#render(splitWhole(text));
      return;
    }
    if (this.#timer) return;
    const wait = pauseMs(this.#last, this.#clock.now());
    if (wait === 0) this.#renderOpen();
    else this.#timer = this.#clock.setTimer(wait, () => this.#renderOpen());
  }

  close(): void {
    this.#stopTimer();
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #renderOpen(): void {
    this.#timer = null;
    const startedAt = this.#clock.now();
    this.#split = splitMore(this.#split, this.#wanted);
    this.#render([...this.#split.final, ...this.#split.tail]);
    const endedAt = this.#clock.now();
    this.#last = { endedAt, costMs: endedAt - startedAt };
  }

  #render(blocks: readonly MarkdownBlock[]): void {
    const next = blocks.map((block, index) => {
      const before = this.#shown[index];
      if (before && before.raw === block.raw) return this.#keep(before, block);
      return { raw: block.raw, shown: this.#fresh(block, before?.shown) };
    });
    const same = next.length === this.#shown.length && next.every((entry, i) => entry.shown === this.#shown[i]?.shown);
    this.#shown = next;
    if (!same) this.blocks = next.map((entry) => entry.shown);
  }

  /** The same source may still render anew: a reference link was defined behind it. */
  #keep(before: { readonly raw: string; readonly shown: ShownBlock }, block: MarkdownBlock) {
    if (!block.raw.includes("[")) return before;
    return { raw: block.raw, shown: this.#fresh(block, before.shown) };
  }

  #fresh(block: MarkdownBlock, before: ShownBlock | undefined): ShownBlock {
    const shown = showBlock(block);
    if (shown.kind === "code") {
      const same = before?.kind === "code" && before.text === shown.text && before.language === shown.language;
      return same ? before : shown;
    }
    const html = this.#clean(shown.html);
    return before?.kind === "html" && before.html === html ? before : { kind: "html", html };
  }
}
