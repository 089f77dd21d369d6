/** Texts of a compaction. Those sent to the model end up in rows or in a request of their own, never in the prefix. */
import { compactionLimits as limits } from "./limits.ts";

const askForSummary = `Please write a summary of everything above. It will take the place of the older part of what you have read so far: you will go on from the summary, the user's own messages and the last steps.

Write it for yourself, in plain text, as long as it needs to be and no longer:
- what the user wants, with every condition they set
- what was decided, and why
- what was done: files by path with what is in them now, commands and what came out, facts that were found
- what failed and must not be tried again
- what is still open, and the very next step

Do not call any tool and do not go on with the work now. Answer with the summary alone.`;

const askAgain = `${askForSummary}

Tools are switched off for this one answer: only text counts.`;

/** What is asked first, and once more when the first answer held no text. */
export const summaryAsks: readonly string[] = [askForSummary, askAgain];

export interface SummaryFrame {
  readonly words: string;
  /** The model came to its length limit, or the words to ours. */
  readonly cut: boolean;
  readonly keepFrom: number;
  readonly leftOutSeqs: readonly number[];
  /** Whether the tab's frozen tools have `recall`: a log of an older release has not. */
  readonly hasRecall: boolean;
}

/** The text of the `compaction` row: what it is, the model's words, what is not there and how to find it. */
export function summaryText({ words, cut, keepFrom, leftOutSeqs, hasRecall }: SummaryFrame): string {
  const where = hasRecall
    ? ` All of them are kept: the tool recall shows a row by its number, {"seq": 12}, or finds rows by a word, {"query": "..."}.`
    : "";
  const head = `[Rows 1 to ${keepFrom - 1} are replaced by this summary to save room.${where} The user's own messages follow word for word.]`;
  return [head, words, cut ? cutText : "", leftOutText(leftOutSeqs)].filter((part) => part !== "").join("\n\n");
}

/** What is open and comes next stands last in a summary: the model must know that it may be missing. */
const cutText = "[The summary was cut here: what it would have said further is in the rows that it replaces.]";

function leftOutText(seqs: readonly number[]): string {
  if (seqs.length === 0) return "";
  const named = seqs.slice(-limits.leftOutNamedMax);
  const more = seqs.length - named.length;
  const rows = `${named.length === 1 ? "row" : "rows"} ${named.join(", ")}${more > 0 ? ` and ${more} older` : ""}`;
  return `[Not repeated below, for want of room: ${seqs.length} of the user's messages (${rows}).]`;
}
