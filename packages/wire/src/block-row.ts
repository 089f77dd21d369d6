/** Which row a block of a request came from. Only for telling where two requests part: it folds the whole log again. */
import type { StoredRow } from "@varve/protocol";
import type { BlobLookup } from "./blobs.ts";
import { messageBlocks } from "./canonical.ts";
import type { AssistantRow, Entry, StepEntry } from "./entries.ts";
import { LogFold } from "./fold.ts";
import type { AssistantPart, ModelMessage } from "./model-message.ts";
import type { WireTarget } from "./profile.ts";
import { wellFormedText } from "./well-formed.ts";

/** `block` counts as `canonicalBlocks` does. Null where no row gave the block: a text made up between two rows. */
export function rowOfBlock(
  rows: readonly StoredRow[],
  block: number,
  context: { readonly target: WireTarget; readonly blobs: BlobLookup },
): number | null {
  const entries = new Map<number, Entry>();
  const trace = (index: number, entry: Entry): unknown => entries.set(index, entry);
  const fold = new LogFold(rows, context.target, { blobs: context.blobs, trace });
  const result = fold.result();
  if (result.kind !== "fold") return null;
  let left = block - 1;
  if (left < 0) return fold.view.prefixSeq;
  for (const [index, message] of result.messages.entries()) {
    const blocks = messageBlocks(message).length;
    if (left < blocks) {
      const entry = entries.get(index);
      if (entry !== undefined) return rowOfPart(message, left, entry);
      return message.role === "system" ? fold.view.prefixSeq : null;
    }
    left -= blocks;
  }
  return null;
}

function rowOfPart(message: ModelMessage, part: number, entry: Entry): number | null {
  switch (entry.kind) {
    case "user":
      return message.role === "user" ? entry.row.seq : null;
    case "note":
    case "summary":
      return message.role === "assistant" ? null : entry.seq;
    case "step":
      return rowOfStepPart(message, part, entry);
  }
}

function rowOfStepPart(message: ModelMessage, part: number, entry: StepEntry): number | null {
  const results = [...entry.calls.values()].map(({ result }) => result);
  if (message.role === "tool") return results[part]?.seq ?? null;
  if (message.role === "assistant") return rowOfAssistantPart(message.content, part, entry);
  if (message.role !== "user") return null;
  // A user message of a step: the text in front of it was made up, or it holds the images of its results.
  const isImages = message.content.some((one) => one.type === "file");
  return isImages ? (results.find((result) => (result?.data.images ?? []).length > 0)?.seq ?? null) : null;
}

/** Parts keep the order of their rows, and a row gives one part at most. */
function rowOfAssistantPart(
  parts: Extract<ModelMessage, { role: "assistant" }>["content"],
  part: number,
  entry: StepEntry,
): number | null {
  let at = 0;
  for (const [index, one] of parts.entries()) {
    const row = entry.rows.findIndex((candidate, place) => place >= at && isPartOf(one, candidate, entry));
    if (row < 0) return null;
    if (index === part) return entry.rows[row]?.seq ?? null;
    at = row + 1;
  }
  return null;
}

function isPartOf(part: { readonly type: string } | AssistantPart, row: AssistantRow, entry: StepEntry): boolean {
  if (part.type === "text") return row.type === "text" && "text" in part && part.text === wellFormedText(row.data.text);
  if (part.type === "reasoning") return row.type === "thinking";
  return row.type === "tool_call" && "toolCallId" in part && part.toolCallId === entry.calls.get(row.id)?.wireId;
}
