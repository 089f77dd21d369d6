/** What every provider demands of a prompt, checked before it is sent: a violation here would be a 400 there. */
import { unreachable } from "@varve/protocol";
import { breakpointsMax, isMarked } from "./breakpoints.ts";
import { parseArguments } from "./call-arguments.ts";
import type { List } from "./list.ts";
import type { AssistantPart, CallPart, ModelMessage, ResultPart, UserPart } from "./model-message.ts";
import type { Profile } from "./profile.ts";
import { isToolNameOnWire } from "./wire-ids.ts";

export type ViolationCode =
  | "no-system"
  | "not-user-first"
  | "not-user-last"
  | "assistant-after-assistant"
  | "user-after-user"
  | "empty-content"
  | "ends-in-thinking"
  | "unanswered-call"
  | "orphan-result"
  | "bad-call-id"
  | "repeated-call-id"
  | "bad-tool-name"
  | "input-not-object"
  | "ill-formed-text"
  | "too-many-breakpoints";

export interface Violation {
  readonly code: ViolationCode;
  readonly messageIndex: number;
  readonly detail: string;
}

export function validateMessages(messages: readonly ModelMessage[], profile: Profile): readonly Violation[] {
  const check = new Check(profile);
  messages.forEach((message, index) => {
    check.message(message, messages[index - 1], index);
  });
  return [...check.violations, ...check.whole(messages, messages.filter(isMarked).length)];
}

type Part = UserPart | AssistantPart | ResultPart;

/** The check of messages that grow, front to back. */
export class Check {
  readonly violations: Violation[] = [];
  readonly #profile: Profile;
  readonly #ids = new Set<string>();
  readonly #before: Check | null;
  /** Calls of the message before, in order. */
  #owed: readonly string[];

  /** Goes on where `before` ends, without changing it; its violations are the later ones only. */
  constructor(profile: Profile, before: Check | null = null) {
    this.#profile = profile;
    this.#before = before;
    this.#owed = before === null ? [] : before.#owed;
  }

  message(message: ModelMessage, before: ModelMessage | undefined, index: number): void {
    if (message.role !== "tool" && this.#owed.length > 0) this.#add("unanswered-call", index, this.#owed.join(", "));
    const owed = message.role === "tool" ? this.#owed : [];
    this.#owed = [];
    if (message.role === "system") {
      this.#text(message.content, index);
      return;
    }
    this.#sides(message, before, index);
    if (message.content.length === 0) this.#add("empty-content", index, "no parts");
    // Approvals and provider-run results never come out of a fold; they have neither text nor call of ours to check.
    for (const part of message.content) if (part.type !== "tool-approval-response") this.#part(part, index);
    if (message.role === "tool") this.#results(message, owed, index);
    if (message.role === "assistant") this.#assistant(message, index);
  }

  /** What only the whole shows, of messages that all were checked one by one; `marks` of them carry a breakpoint. */
  whole(messages: List<ModelMessage>, marks: number): readonly Violation[] {
    const whole = new Check(this.#profile);
    const end = messages.length - 1;
    if (messages.at(0)?.role !== "system") whole.#add("no-system", 0, "the first message is not the system prompt");
    let first = 0;
    while (messages.at(first)?.role === "system") first += 1;
    const isBare = first > end;
    if (messages.at(first)?.role !== "user")
      whole.#add("not-user-first", isBare ? 0 : first, "no user message in front");
    if (isBare || messages.at(end)?.role === "assistant")
      whole.#add("not-user-last", end, "the model is to speak next");
    if (this.#owed.length > 0) whole.#add("unanswered-call", end, this.#owed.join(", "));
    if (marks > breakpointsMax) whole.#add("too-many-breakpoints", end, `${marks}`);
    return whole.violations;
  }

  #sides(message: ModelMessage, before: ModelMessage | undefined, index: number): void {
    if (message.role === "assistant" && before?.role === "assistant") this.#add("assistant-after-assistant", index, "");
    const crowded = message.role === "user" && (before?.role === "user" || before?.role === "tool");
    if (crowded && this.#profile.strictAlternation) this.#add("user-after-user", index, "");
  }

  #part(part: Part, index: number): void {
    switch (part.type) {
      case "text":
        this.#text(part.text, index);
        break;
      case "reasoning":
        if (!part.text.isWellFormed()) this.#add("ill-formed-text", index, "thinking");
        break;
      case "file":
        if (typeof part.data === "string" && part.data === "") this.#add("empty-content", index, part.mediaType);
        break;
      case "tool-call":
        this.#call(part, index);
        break;
      case "tool-result":
        this.#output(part, index);
        break;
      default:
        unreachable(part);
    }
  }

  #text(text: string, index: number): void {
    if (!/\S/.test(text)) this.#add("empty-content", index, "text without a visible character");
    if (!text.isWellFormed()) this.#add("ill-formed-text", index, "text");
  }

  #call({ toolCallId: id, toolName: name, input }: CallPart, index: number): void {
    if (!this.#profile.isCallId(id)) this.#add("bad-call-id", index, id);
    if (this.#hasId(id)) this.#add("repeated-call-id", index, id);
    this.#ids.add(id);
    if (!isToolNameOnWire(name)) this.#add("bad-tool-name", index, name);
    const isText = typeof input === "string" && this.#profile.callInput === "text" && parseArguments(input).verbatim;
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    if (!isText && !isObject) this.#add("input-not-object", index, id);
    if (!isWellFormedInside(input)) this.#add("ill-formed-text", index, id);
  }

  #hasId(id: string): boolean {
    if (this.#ids.has(id)) return true;
    return this.#before === null ? false : this.#before.#hasId(id);
  }

  #output({ output }: ResultPart, index: number): void {
    if (output.type === "text" || output.type === "error-text") this.#text(output.value, index);
    else if (output.type !== "content" || output.value.length === 0) this.#add("empty-content", index, output.type);
    else for (const item of output.value) if (item.type === "text") this.#text(item.text, index);
  }

  #assistant(message: Extract<ModelMessage, { role: "assistant" }>, index: number): void {
    if (message.content.at(-1)?.type === "reasoning") this.#add("ends-in-thinking", index, "");
    this.#owed = message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
  }

  #results(message: Extract<ModelMessage, { role: "tool" }>, owed: readonly string[], index: number): void {
    const given = message.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []));
    const missing = owed.filter((id) => !given.includes(id));
    if (missing.length > 0) this.#add("unanswered-call", index, missing.join(", "));
    const extra = given.filter((id, at) => !owed.includes(id) || given.indexOf(id) !== at);
    if (extra.length > 0) this.#add("orphan-result", index, extra.join(", "));
  }

  #add(code: ViolationCode, messageIndex: number, detail: string): void {
    this.violations.push({ code, messageIndex, detail });
  }
}

/** Not by its JSON text, where half an emoji hides behind an escape. Arguments are of bounded depth. */
function isWellFormedInside(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormedInside(inner));
}
