/** What was asked and answered in a tab, from its rows. Pure. */
import { grantsFrom } from "@varve/agent";
import type { PermissionMode, StoredRow, TabPermissionsBody } from "@varve/protocol";

/** Questions of one page, where nothing else is asked for. */
const questionsDefault = 50;
/** Questions of one page at most: who asks for more gets so many, and is told that there are more. */
const questionsMax = 100;

export interface QuestionPage {
  /** Questions with a smaller seq. */
  readonly before?: number;
  readonly limit?: number;
}

export type AskedInTab = Pick<TabPermissionsBody, "mode" | "unattended" | "granted" | "questions" | "more">;
type Question = TabPermissionsBody["questions"][number];

export function askedInTab(rows: readonly StoredRow[], mode: PermissionMode, page: QuestionPage): AskedInTab {
  const limit = Math.min(page.limit ?? questionsDefault, questionsMax);
  const before = page.before ?? Number.POSITIVE_INFINITY;
  const answers = new Map<string, Question["answer"]>();
  const questions: Question[] = [];
  // Backwards: an answer comes behind its question, and one page more tells whether there is more.
  for (let at = rows.length - 1; at >= 0 && questions.length <= limit; at--) {
    const row = rows[at];
    if (row?.type !== "system" || row.data.kind !== "permission") continue;
    if (row.data.state === "answered") answers.set(row.data.askId, answerOf(row.seq, row.createdAt, row.data));
    else if (row.seq < before) questions.push(questionOf(row, row.data, answers.get(row.data.askId) ?? null));
  }
  const granted = grantsFrom(rows).map(({ rules, exact, ...rest }) => ({
    ...rest,
    rules: [...rules],
    ...(exact !== null && { exact }),
  }));
  return {
    mode,
    unattended: unattended[mode],
    granted,
    questions: questions.slice(0, limit),
    more: questions.length > limit,
  };
}

type PermissionData = Extract<StoredRow, { type: "system" }>["data"] & { readonly kind: "permission" };
type Asked = Extract<PermissionData, { state: "asked" }>;
type Answered = Extract<PermissionData, { state: "answered" }>;

function answerOf(seq: number, at: number, { verdict, by, reason, rules }: Answered): Question["answer"] {
  return { seq, at, verdict, by, ...(reason !== undefined && { reason }), ...(rules !== undefined && { rules }) };
}

function questionOf(
  { seq, createdAt, turnId }: StoredRow,
  { askId, callId, subject: { diff: _, ...subject } }: Asked,
  answer: Question["answer"],
): Question {
  return { askId, seq, at: createdAt, turnId, callId, subject, answer };
}

/** The policy of each mode for a tab that nobody watches, in words. */
export const unattended: Readonly<Record<PermissionMode, AskedInTab["unattended"]>> = {
  read: {
    text: "Nothing is written, run or fetched, and nobody is asked: such calls are refused at once.",
    asks: false,
  },
  ask: {
    text: "A call that no rule allows waits for an answer, as long as it takes and over restarts; nothing is answered by itself.",
    asks: true,
  },
  edits: {
    text: "Files of the workspace are changed without asking. Any other call that no rule allows waits for an answer, as long as it takes and over restarts.",
    asks: true,
  },
  allow: {
    text: "Everything runs without asking, commands and changes alike. Only what a rule asks about, and commands that name Varve's own folder, wait for an answer.",
    asks: false,
  },
};
