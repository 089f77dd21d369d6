/**
 * Asks the tab's own model for the summary. The request is the tab's body with one question behind it, so that it reads the
 * tab's cache entries and differs from a step in nothing else. Of the answer only the text is taken; nothing of it is a row.
 */
import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import type { Effort, Fault, NewRow, StoredRow } from "@varve/protocol";
import { fault, isFault } from "@varve/protocol";
import type { ResolvedBlob, WireRequest } from "@varve/wire";
import { buildRequest, neededBlobs } from "@varve/wire";
import { begunUsage, cutUsageData, outputChars } from "../begun-usage.ts";
import { bookUsage } from "../ledger/book.ts";
import { logUpTo } from "../ledger/chain.ts";
import { turnLimits } from "../limits.ts";
import type { ResolvedModel } from "../model/model.ts";
import { type RowPlace, rowMaker } from "../new-rows.ts";
import type { TurnOwner } from "../owner.ts";
import type { TurnPorts } from "../ports.ts";
import { requestRow } from "../request.ts";
import { planRetry } from "../retry.ts";
import { clipText, hasInk, wellFormedText } from "../text.ts";
import type { UsageData } from "../usage.ts";
import { usageData } from "../usage.ts";
import { pause } from "../wait.ts";
import { compactionLimits as limits } from "./limits.ts";
import { withQuestion } from "./summary-bodies.ts";
import { summaryAsks } from "./texts.ts";

export type CompactPorts = Pick<TurnPorts, "clock" | "ids" | "blobs" | "models" | "random" | "limits">;
/** What a compaction needs of the tab's owner: a turn's owner has it, and so has a tab at rest. */
export type CompactOwner = Pick<TurnOwner, "rows" | "seal" | "cancel"> & Partial<Pick<TurnOwner, "progress">>;

export interface SummarySource {
  readonly ports: CompactPorts;
  readonly owner: CompactOwner;
  readonly place: RowPlace;
  readonly model: ResolvedModel;
  readonly effort: Effort;
  /** The rows that are summed up. */
  readonly rows: readonly StoredRow[];
}

export type Summary =
  | { readonly kind: "summary"; readonly words: string; readonly cut: boolean }
  /** `tooLarge`: the request itself did not fit. */
  | { readonly kind: "failed"; readonly fault: Fault; readonly tooLarge: boolean }
  | { readonly kind: "stopped" };

type Answer =
  | { readonly kind: "text"; readonly text: string; readonly cut: boolean }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly summary: Summary };

export async function summarize(source: SummarySource): Promise<Summary> {
  for (const ask of summaryAsks) {
    const built = await requestFor(source, ask);
    if (isFault(built)) return failed(built.message);
    const answer = await answerTo(source, built);
    if (answer.kind === "failed") return answer.summary;
    if (answer.kind === "stopped") return answer;
    const text = answer.text.trim();
    const words = wellFormedText(clipText(text, limits.summaryCharsMax));
    const cut = answer.cut || text.length > limits.summaryCharsMax;
    if (hasInk(words)) return { kind: "summary", words, cut };
  }
  return failed("The model answered without any text.");
}

function failed(why: string, tooLarge = false): Summary {
  const hint = "Nothing was changed. Try again, or choose another model.";
  return { kind: "failed", tooLarge, fault: fault("compaction-failed", `The tab was not summed up. ${why}`, hint) };
}

/** The question stands in no log: it is a row of this one fold only. */
async function requestFor(source: SummarySource, ask: string): Promise<WireRequest | Fault> {
  const { ports, rows, model, effort } = source;
  const body = withQuestion(rows, ask, { id: ports.ids.chunk(), createdAt: ports.clock.now() });
  const blobs = new Map<string, ResolvedBlob>();
  for (const hash of neededBlobs(rows)) {
    const found = await ports.blobs.get(hash);
    if (found !== null) blobs.set(hash, { base64: Buffer.from(found.bytes).toString("base64") });
  }
  const built = buildRequest({
    rows: body,
    target: model.target,
    modelName: model.info.id,
    effort,
    blobs: (hash) => blobs.get(hash),
  });
  if (isFault(built)) return built;
  const [wrong] = built.violations;
  return wrong === undefined && !built.endsDerived
    ? built
    : fault("internal", `The request breaks a rule of the wire: ${wrong?.code ?? "its end is no row"}.`);
}

async function answerTo(source: SummarySource, built: WireRequest): Promise<Answer> {
  const { ports, owner } = source;
  for (let retries = 0; ; retries += 1) {
    const streamed = await listen(source, built);
    if (streamed.kind !== "broken") return streamed;
    const { failure } = streamed;
    const bounds = { ...turnLimits, ...ports.limits };
    const plan = planRetry(failure, retries, {
      limits: { ...bounds, retriesMax: Math.min(limits.retriesMax, bounds.retriesMax) },
      random: ports.random?.() ?? 0,
    });
    if (plan.kind === "final") {
      return { kind: "failed", summary: failed(failure.message, failure.code === "context-overflow") };
    }
    const { step } = source.place;
    const at = ports.clock.now() + plan.waitMs;
    owner.progress?.(step, { attempt: plan.attempt, at, reason: failure.message });
    await pause(ports.clock, plan.waitMs, owner.cancel);
    if (owner.cancel.aborted) return { kind: "stopped" };
    owner.progress?.(step);
  }
}

type Listened =
  | Exclude<Answer, { kind: "failed" }>
  | { readonly kind: "failed"; readonly summary: Summary }
  | { readonly kind: "broken"; readonly failure: { readonly message: string } & Parameters<typeof planRetry>[0] };

/** One try, with its `request` row before it and its bill behind it. */
async function listen(source: SummarySource, built: WireRequest): Promise<Listened> {
  const { ports, owner, place, model } = source;
  const make = rowMaker(ports);
  const startedAt = ports.clock.now();
  await owner.seal([make.system(place, { ...requestRow(built, model), purpose: "compaction" })]);
  const bill = (usage: UsageData): Promise<readonly StoredRow[]> => {
    const rows = logUpTo(owner.rows(), source.rows.at(-1)?.seq ?? 0);
    const booked = bookUsage({ usage, rows, place, model, startedAt, guard: built.guard, purpose: "compaction" });
    const row: NewRow = make.system(place, booked);
    return owner.seal([row]);
  };
  let begun: LanguageModelV3Usage | null = null;
  let text = "";
  let chars = 0;
  const options = { ...built.options, prompt: built.messages, abortSignal: owner.cancel };
  for await (const part of model.stream(options)) {
    if (part.type === "raw") begun = begunUsage(part.rawValue) ?? begun;
    if (part.type === "text-delta") text += part.delta;
    chars += outputChars(part);
    if (part.type === "finish") {
      await bill(usageData(part.usage, model.info.id));
      const refused = part.finishReason.unified === "content-filter";
      return refused
        ? { kind: "failed", summary: failed("The model's provider refused to answer.") }
        : { kind: "text", text, cut: part.finishReason.unified === "length" };
    }
    if (part.type !== "failure" && part.type !== "cancelled") continue;
    if (begun !== null) await bill(cutUsageData(begun, chars, model.info.id));
    return part.type === "cancelled" ? { kind: "stopped" } : { kind: "broken", failure: part.failure };
  }
  return { kind: "failed", summary: failed("The answer broke off.") };
}
