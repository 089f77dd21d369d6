/**
 * A model's stream without secrets, part by part, before anything is made of it: what a person watches, what is journaled
 * and what is sealed then hold the same text. Pure but for the stream itself.
 */
import type { ModelPart } from "../model/model.ts";
import type { Secrets } from "./known-secrets.ts";
import type { StreamRedactor } from "./stream-redactor.ts";

type Delta = Extract<ModelPart, { type: "text-delta" | "reasoning-delta" }>;
type CallPart = Extract<ModelPart, { type: "tool-call" | "tool-input-start" | "tool-input-delta" | "tool-input-end" }>;

interface Open {
  readonly type: Delta["type"];
  readonly id: string;
  readonly redactor: StreamRedactor;
}

export async function* cleanParts(
  parts: AsyncIterable<ModelPart>,
  secrets: Secrets,
): AsyncGenerator<ModelPart, void, undefined> {
  const stream = new CleanStream(secrets);
  for await (const part of parts) yield* stream.take(part);
  yield* stream.flush("cut");
}

class CleanStream {
  readonly #secrets: Secrets;
  readonly #open = new Map<string, Open>();
  /** Names that a provider gave to calls and that held a secret. */
  readonly #renamed = new Map<string, string>();

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  take(part: ModelPart): readonly ModelPart[] {
    switch (part.type) {
      case "text-delta":
      case "reasoning-delta":
        return [this.#delta(part)];
      case "text-end":
        return [...this.#end(keyOf("text-delta", part.id), "end"), part];
      case "reasoning-end":
        return [...this.#end(keyOf("reasoning-delta", part.id), "end"), part];
      case "tool-input-start":
        return [{ ...part, id: this.#callName(part.id), toolName: this.#secrets.text(part.toolName) }];
      case "tool-input-delta":
      case "tool-input-end":
        return [{ ...part, id: this.#callName(part.id) }];
      case "tool-call":
        return [this.#call(part)];
      case "finish":
        return [...this.flush("end"), part];
      case "failure":
      case "cancelled":
        return [...this.flush("cut"), part];
      default:
        return [part];
    }
  }

  flush(how: "end" | "cut"): readonly ModelPart[] {
    return [...this.#open.keys()].flatMap((key) => this.#end(key, how));
  }

  #delta(part: Delta): ModelPart {
    const key = keyOf(part.type, part.id);
    const open = this.#open.get(key) ?? { type: part.type, id: part.id, redactor: this.#secrets.stream() };
    this.#open.set(key, open);
    const delta = open.redactor.push(part.delta);
    return { ...part, delta, ...(open.redactor.changed && { redacted: true }) };
  }

  #end(key: string, how: "end" | "cut"): readonly ModelPart[] {
    const open = this.#open.get(key);
    if (open === undefined) return [];
    this.#open.delete(key);
    const { type, id, redactor } = open;
    const delta = how === "cut" ? redactor.cut() : redactor.end();
    return delta === "" ? [] : [{ type, id, delta, ...(redactor.changed && { redacted: true }) }];
  }

  #call(part: Extract<CallPart, { type: "tool-call" }>): ModelPart {
    const { toolName } = part;
    return { ...part, toolCallId: this.#callName(part.toolCallId), toolName: this.#secrets.text(toolName) };
  }

  #callName(id: string): string {
    if (this.#secrets.text(id) === id) return id;
    const name = this.#renamed.get(id) ?? `call-${this.#renamed.size + 1}`;
    this.#renamed.set(id, name);
    return name;
  }
}

const keyOf = (type: Delta["type"], id: string): string => `${type} ${id}`;
