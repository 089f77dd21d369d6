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

export interface Rendered {
  readonly messages: ModelMessage[];
  readonly anchors: readonly Anchor[];
  readonly endsDerived: boolean;
}

export function render(source: Entries, system: readonly ModelMessage[], context: PartContext): Rendered {
  const renderer = new Renderer(system, context);
  let marked = 0;
  const markUpTo = (entries: number): void => {
    for (let next = source.requests[marked]; next !== undefined && next.entries <= entries; marked += 1) {
      renderer.markRequest(next, source.answered.has(`${next.step}:${next.turnId}`));
      next = source.requests[marked + 1];
    }
  };
  source.entries.forEach((entry, index) => {
    markUpTo(index);
    renderer.addEntry(entry);
  });
  markUpTo(source.entries.length);
  renderer.end();
  return renderer;
}

class Renderer implements Rendered {
  readonly messages: ModelMessage[];
  readonly anchors: Anchor[] = [];
  endsDerived = false;
  readonly #context: PartContext;
  readonly #systemCount: number;
  /** Whose turn the last message was. */
  #side: "none" | "user" | "tool" | "assistant" = "none";

  constructor(system: readonly ModelMessage[], context: PartContext) {
    this.messages = [...system];
    this.#systemCount = system.length;
    this.#context = context;
  }

  markRequest(request: RequestMark, answered: boolean): void {
    if (this.messages.length === this.#systemCount) return;
    this.anchors.push({ messageIndex: this.messages.length - 1, scopeHash: request.scopeHash, answered });
  }

  addEntry(entry: Entry): void {
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

  end(): void {
    if (this.#side !== "assistant") return;
    this.endsDerived = true;
    this.#push("user", { role: "user", content: [{ type: "text", text: texts.continue }] });
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
    if (inPlace && this.#side !== "assistant") this.messages.push({ role: "system", content: safe });
    else this.#addUser([{ type: "text", text: texts.note(safe) }]);
  }

  #addStep(entry: StepEntry): void {
    const parts = assistantParts(entry, this.#context);
    if (parts.length === 0) return;
    if (this.#side === "none" || this.#side === "assistant") {
      this.#push("user", { role: "user", content: [{ type: "text", text: texts.continue }] });
    }
    if (entry.rows.some((row) => this.#context.view.inEpoch(row.seq))) this.#anchorUnlogged();
    this.#push("assistant", { role: "assistant", content: [...parts] });
    if (entry.calls.size === 0) return;
    this.#reportMissing(entry);
    this.#push("tool", { role: "tool", content: [...resultParts(entry, this.#context)] });
    this.#addUser(imagesBehind(entry, this.#context));
  }

  /** A step without a `request` row was asked for all the same, with what stands in front of it. */
  #anchorUnlogged(): void {
    const messageIndex = this.messages.length - 1;
    if (this.anchors.at(-1)?.messageIndex === messageIndex) return;
    this.anchors.push({ messageIndex, scopeHash: null, answered: true });
  }

  #reportMissing(entry: StepEntry): void {
    for (const { row, result } of entry.calls.values()) {
      if (result !== null) continue;
      // In an open step the real result may still come, so this text is not yet stable and must not be sent.
      if (!entry.closed) this.endsDerived = true;
      this.#context.alarms.push({ code: "missing-result", seq: row.seq, callId: row.data.callId });
    }
  }

  #push(side: "user" | "tool" | "assistant", message: ModelMessage): void {
    this.messages.push(message);
    this.#side = side;
  }
}
