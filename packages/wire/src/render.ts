/**
 * Entries into messages, front to back and never looking ahead: what stands in front of an entry can't depend on what
 * follows it. The only texts made up here stand between two entries (and then for ever) or at the very end (and then
 * the fold says so, for such a request must not be sent).
 */
import { unreachable } from "@varve/protocol";
import type { Entries, Entry, RequestMark, StepEntry } from "./entries.ts";
import type { ModelMessage, UserPart } from "./model-message.ts";
import { assistantParts, imagesBehind, type PartContext, resultParts, userParts } from "./parts.ts";
import { texts } from "./texts.ts";
import { wellFormedText } from "./well-formed.ts";

/** The last message of an earlier request: where its cache entry ends. */
export interface Anchor {
  readonly messageIndex: number;
  /** Null where the log holds no `request` row for it. */
  readonly scopeHash: string | null;
  /** Whether the model began to answer; an unanswered request may have written no cache entry. */
  readonly answered: boolean;
}

/** What the renderer must know of everything in front. */
export interface Standing {
  /** Whose turn the last message was. */
  readonly side: "none" | "user" | "tool" | "assistant";
  /** Messages in front, with the system prompt. */
  readonly messages: number;
  /** Message index of the newest anchor, -1 without one. */
  readonly anchor: number;
}

export interface Rendered {
  readonly messages: readonly ModelMessage[];
  readonly anchors: readonly Anchor[];
  /** Stands for a result that may still come was made up. */
  readonly lacksResult: boolean;
  readonly standing: Standing;
}

export interface RenderContext extends PartContext {
  /** Nothing can join this segment any more. */
  readonly ended: boolean;
  /** Called with the index of each message that an entry gave. */
  readonly trace?: ((messageIndex: number, entry: Entry) => void) | undefined;
}

export function render(source: Entries, before: Standing, context: RenderContext): Rendered {
  const renderer = new Renderer(before, context);
  let marked = 0;
  const markUpTo = (entries: number): void => {
    for (let next = source.requests[marked]; next !== undefined && next.entries <= entries; marked += 1) {
      renderer.markRequest(next, source.answered);
      next = source.requests[marked + 1];
    }
  };
  source.entries.forEach((entry, index) => {
    markUpTo(index);
    renderer.addEntry(entry);
  });
  markUpTo(source.entries.length);
  return renderer;
}

/** The user's turn that is made up where a request would end with the assistant. */
export const continueMessage = (): ModelMessage => ({
  role: "user",
  content: [{ type: "text", text: texts.continue }],
});

class Renderer implements Rendered {
  readonly messages: ModelMessage[] = [];
  readonly anchors: Anchor[] = [];
  lacksResult = false;
  readonly #context: RenderContext;
  readonly #before: Standing;
  #side: Standing["side"];
  #entry: Entry | null = null;

  constructor(before: Standing, context: RenderContext) {
    this.#before = before;
    this.#side = before.side;
    this.#context = context;
  }

  get standing(): Standing {
    return {
      side: this.#side,
      messages: this.#count,
      anchor: this.anchors.at(-1)?.messageIndex ?? this.#before.anchor,
    };
  }

  get #count(): number {
    return this.#before.messages + this.messages.length;
  }

  markRequest({ scopeHash }: RequestMark, answered: boolean): void {
    if (this.#side === "none") return;
    this.anchors.push({ messageIndex: this.#count - 1, scopeHash, answered });
  }

  addEntry(entry: Entry): void {
    this.#entry = entry;
    switch (entry.kind) {
      case "summary":
        this.#addUser([{ type: "text", text: wellFormedText(entry.text) }]);
        break;
      case "user":
        this.#addUser(userParts(entry.row, this.#context));
        break;
      case "note":
        this.#addNote(entry.text);
        break;
      case "step":
        this.#addStep(entry);
        break;
      default:
        unreachable(entry);
    }
  }

  #addUser(parts: readonly UserPart[]): void {
    if (parts.length === 0) return;
    const crowded = this.#side === "user" || this.#side === "tool";
    if (crowded && this.#context.target.profile.strictAlternation) {
      this.#push("assistant", { role: "assistant", content: [{ type: "text", text: texts.ok }] });
    }
    this.#push("user", { role: "user", content: [...parts] });
  }

  /** In front of the first message a system note would be taken for part of the system prompt, so it stays user text. */
  #addNote(text: string): void {
    if (!/\S/.test(text)) return;
    const safe = wellFormedText(text).replaceAll("</system-note", "<\\/system-note");
    const inPlace = this.#context.target.profile.noteForm === "system" && this.#side !== "none";
    if (inPlace && this.#side !== "assistant") this.#push(this.#side, { role: "system", content: safe });
    else this.#addUser([{ type: "text", text: texts.note(safe) }]);
  }

  #addStep(entry: StepEntry): void {
    const parts = assistantParts(entry, this.#context);
    if (parts.length === 0) return;
    if (this.#side === "none" || this.#side === "assistant") this.#push("user", continueMessage());
    if (entry.rows.some((row) => this.#context.view.inEpoch(row.seq))) this.#anchorUnlogged();
    const again = this.#context.target.profile.stepOptions(parts);
    const options = again === null ? {} : { providerOptions: again };
    this.#push("assistant", { role: "assistant", content: [...parts], ...options });
    if (entry.calls.size === 0) return;
    this.#reportMissing(entry);
    this.#push("tool", { role: "tool", content: [...resultParts(entry, this.#context)] });
    this.#addUser(imagesBehind(entry, this.#context));
  }

  /** A step without a `request` row was asked for all the same, with what stands in front of it. */
  #anchorUnlogged(): void {
    const messageIndex = this.#count - 1;
    if (this.standing.anchor === messageIndex) return;
    this.anchors.push({ messageIndex, scopeHash: null, answered: true });
  }

  #reportMissing(entry: StepEntry): void {
    for (const { row, result } of entry.calls.values()) {
      if (result !== null) continue;
      // In an open step the real result may still come, so this text is not yet stable and must not be sent.
      if (!this.#context.ended) this.lacksResult = true;
      this.#context.alarms.push({ code: "missing-result", seq: row.seq, callId: row.data.callId });
    }
  }

  #push(side: Standing["side"], message: ModelMessage): void {
    if (this.#entry !== null) this.#context.trace?.(this.#count, this.#entry);
    this.messages.push(message);
    this.#side = side;
  }
}
