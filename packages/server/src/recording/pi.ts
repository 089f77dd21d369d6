/**
 * Recordings of pi: one JSON entry a line. Format 1 is a line of entries, later ones are a tree by `id` and `parentId`. An
 * assistant message is a request; its `timestamp` is when the request began.
 */
import type { UsageData } from "@varve/agent";
import type { RecordingBill } from "./bill.ts";
import { BoundedMap } from "./bounded-map.ts";
import { type Fields, fieldsOf, figureOf, nameOf, timeOf } from "./json.ts";
import { recordingLimits } from "./limits.ts";
import { factsOfRecorded } from "./model-names.ts";
import { emptyTip, type RecordingReader, type Tip } from "./recorded.ts";

export class PiReader implements RecordingReader {
  readonly #bill: RecordingBill;
  readonly #tips = new BoundedMap<string, Tip>(recordingLimits.tipsMax);
  #newest: Tip = emptyTip;

  constructor(bill: RecordingBill) {
    this.#bill = bill;
  }

  line(entry: Fields): void {
    const behind = this.#behind(entry);
    const tip = this.#next(entry, { ...behind, at: timeOf(entry.timestamp) });
    this.#newest = tip;
    const id = nameOf(entry.id);
    if (id !== null && entry.type !== "session") this.#tips.set(id, tip);
  }

  /** Format 1 has no ids: each entry follows the one before it. A root of the tree follows only what the header says. */
  #behind(entry: Fields): Tip {
    const parent = nameOf(entry.parentId);
    if (parent !== null) return this.#tips.get(parent) ?? this.#newest;
    return entry.parentId === null ? { ...emptyTip, options: this.#newest.options } : this.#newest;
  }

  #next(entry: Fields, tip: Tip): Tip {
    switch (entry.type) {
      case "session":
      case "thinking_level_change":
        return { ...tip, options: nameOf(entry.thinkingLevel) ?? tip.options };
      case "compaction":
        return { ...tip, compacted: true };
      case "message": {
        const message = fieldsOf(entry.message);
        return message.role === "assistant" ? this.#request(message, tip) : tip;
      }
      default:
        return tip;
    }
  }

  #request(message: Fields, tip: Tip): Tip {
    const provider = nameOf(message.provider) ?? "unknown";
    const modelId = nameOf(message.model) ?? "unknown";
    const usage = usageOf(fieldsOf(message.usage), `${provider}/${modelId}`);
    const last = this.#bill.add(null, tip, {
      startedAt: timeOf(message.timestamp) ?? tip.at ?? 0,
      facts: factsOfRecorded(provider, modelId),
      exact: provider === "anthropic",
      usage,
      ttl: lifetimeOf(usage) ?? tip.last?.ttl ?? null,
      told: figureOf(fieldsOf(fieldsOf(message.usage).cost).total),
    });
    // What nobody answered wrote nothing that the next one could read.
    return usage.fresh === null ? tip : { ...tip, last, compacted: false };
  }
}

/** pi writes zeros for a request that broke off before anything was told. */
function usageOf(usage: Fields, model: string): UsageData {
  const [input, read, write] = [figureOf(usage.input), figureOf(usage.cacheRead), figureOf(usage.cacheWrite)];
  const output = figureOf(usage.output);
  const untold = !input && !read && !write && !output;
  const long = figureOf(usage.cacheWrite1h);
  return {
    kind: "usage",
    model,
    fresh: untold ? null : input,
    read: untold ? null : read,
    write5m: untold || write === null ? null : Math.max(0, write - (long ?? 0)),
    write1h: untold ? null : long,
    output: untold ? null : output,
    reasoning: untold ? null : figureOf(usage.reasoning),
    price: null,
    attainable: null,
  };
}

/** A request that wrote says by that how long its entries live; one that only read leaves them as they were. */
function lifetimeOf({ write5m, write1h }: UsageData): "5m" | "1h" | null {
  if (write1h !== null && write1h > 0) return "1h";
  return write5m !== null && write5m > 0 ? "5m" : null;
}
