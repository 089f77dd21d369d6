/**
 * Recordings of Claude Code: one JSON entry a line, a tree by `uuid` and `parentUuid`. A request is written once for each block of
 * its answer, and again after a resume, always under the same message id; the last line of it has its figures. Sub-agents
 * (`isSidechain`) begin at roots of their own.
 */
import type { UsageData } from "@varve/agent";
import type { RecordingBill } from "./bill.ts";
import { BoundedMap } from "./bounded-map.ts";
import { type Fields, fieldsOf, figureOf, nameOf, timeOf } from "./json.ts";
import { recordingLimits } from "./limits.ts";
import { factsOfRecorded } from "./model-names.ts";
import { emptyTip, type RecordingReader, type Tip } from "./recorded.ts";

export class ClaudeCodeReader implements RecordingReader {
  readonly #bill: RecordingBill;
  readonly #tips = new BoundedMap<string, Tip>(recordingLimits.tipsMax);
  /** By the agent that wrote: "" is the main one. */
  readonly #newest = new BoundedMap<string, Tip>(recordingLimits.tipsMax);

  constructor(bill: RecordingBill) {
    this.#bill = bill;
  }

  line(entry: Fields): void {
    const uuid = nameOf(entry.uuid);
    if (uuid === null) return;
    const agent = entry.isSidechain === true ? (nameOf(entry.agentId) ?? "sidechain") : "";
    const behind = this.#behind(entry, agent);
    const at = timeOf(entry.timestamp);
    const tip = entry.type === "assistant" ? this.#answer(entry, behind, at) : { ...behind, at };
    this.#tips.set(uuid, tip);
    this.#newest.set(agent, tip);
  }

  #behind(entry: Fields, agent: string): Tip {
    const newest = this.#newest.get(agent) ?? emptyTip;
    if (isCompaction(entry)) {
      const from = nameOf(entry.logicalParentUuid) ?? nameOf(entry.parentUuid);
      return { ...((from === null ? undefined : this.#tips.get(from)) ?? newest), compacted: true };
    }
    const parent = nameOf(entry.parentUuid);
    return parent === null ? emptyTip : (this.#tips.get(parent) ?? newest);
  }

  #answer(entry: Fields, tip: Tip, at: number | null): Tip {
    const message = fieldsOf(entry.message);
    const id = nameOf(message.id);
    const modelId = nameOf(message.model);
    // What the tool says in a model's place, an error of the line for example, was no request.
    if (modelId === null || modelId.startsWith("<") || entry.isApiErrorMessage === true) return { ...tip, at };
    const usage = usageOf(fieldsOf(message.usage), `anthropic/${modelId}`);
    const told = figureOf(entry.costUSD);
    const again = id === null ? undefined : this.#bill.known(id);
    if (again !== undefined) {
      again.usage = usage;
      again.ttl = lifetimeOf(usage) ?? again.ttl;
      again.told = told ?? again.told;
      return { ...tip, last: again, compacted: false, at };
    }
    const last = this.#bill.add(id, tip, {
      startedAt: startOf(tip, at),
      facts: factsOfRecorded("anthropic", modelId),
      exact: true,
      usage,
      ttl: lifetimeOf(usage) ?? tip.last?.ttl ?? null,
      told,
    });
    return { ...tip, last, compacted: false, at };
  }
}

/** The line of an answer is written when its first block has come; the request began when what it answers was written. */
const startOf = (behind: Tip, at: number | null): number =>
  behind.at !== null && (at === null || behind.at <= at) ? behind.at : (at ?? 0);

const isCompaction = (entry: Fields): boolean =>
  (entry.type === "system" && entry.subtype === "compact_boundary") || entry.isCompactSummary === true;

function usageOf(usage: Fields, model: string): UsageData {
  const split = fieldsOf(usage.cache_creation);
  const long = figureOf(split.ephemeral_1h_input_tokens);
  const written = figureOf(usage.cache_creation_input_tokens);
  return {
    kind: "usage",
    model,
    fresh: figureOf(usage.input_tokens),
    read: figureOf(usage.cache_read_input_tokens),
    write5m: written === null ? null : Math.max(0, written - (long ?? 0)),
    write1h: long,
    output: figureOf(usage.output_tokens),
    reasoning: null,
    price: null,
    attainable: null,
  };
}

function lifetimeOf({ write5m, write1h }: UsageData): "5m" | "1h" | null {
  if (write1h !== null && write1h > 0) return "1h";
  return write5m !== null && write5m > 0 ? "5m" : null;
}
