import {
  type AnswerBody,
  type ChunkId,
  type Fault,
  fault,
  type NewRow,
  type StoredRow,
  type SystemData,
} from "@varve/protocol";

type Asked = Extract<SystemData, { state: "asked" }>;

/** The row that a person's answer becomes, or why it is none. The first answer wins: a second one is told so. */
export function answeredRow(
  rows: readonly StoredRow[],
  body: AnswerBody,
  made: { readonly id: ChunkId; readonly at: number; readonly by: string },
): NewRow | Fault {
  const about = rows.filter((row) => row.type === "system" && "askId" in row.data && row.data.askId === body.askId);
  const question = about.find(({ type, data }) => type === "system" && "askId" in data && data.state === "asked");
  if (question === undefined) return fault("unknown-question", "This tab has asked no such question.");
  if (about.some(({ type, data }) => type === "system" && "askId" in data && data.state === "answered")) {
    return fault("already-answered", "Somebody answered that question first.", "Their answer holds.");
  }
  const data = answeredData(question.data as Asked, body, made.by);
  if ("code" in data) return data;
  return {
    id: made.id,
    turnId: question.turnId,
    step: question.step,
    role: "system",
    type: "system",
    data,
    createdAt: made.at,
    by: made.by,
  };
}

/** The height of the limit that this question is about. */
export function askedMax(rows: readonly StoredRow[], askId: string): number {
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at];
    if (row?.type !== "system" || row.data.kind !== "limit" || row.data.state !== "asked") continue;
    if (row.data.askId === askId) return row.data.max;
  }
  return 0;
}

function answeredData(asked: Asked, body: AnswerBody, by: string): Extract<SystemData, { state: "answered" }> | Fault {
  if (asked.kind === "limit") return limitAnswered(asked, body, by);
  const { askId, callId } = asked;
  if (asked.kind === "ask") {
    if (body.text === undefined || body.text.trim() === "") return fault("bad-request", "The answer is empty.");
    return { kind: "ask", state: "answered", askId, callId, answer: body.text, by };
  }
  const verdict = body.verdict;
  if (verdict === undefined) {
    return fault(
      "bad-request",
      "A permission question wants a verdict: once, tab or deny.",
      "The question is still open.",
    );
  }
  const { tool, key } = asked.subject;
  return {
    kind: "permission",
    state: "answered",
    askId,
    callId,
    verdict,
    ...(verdict === "deny" && body.text !== undefined && body.text.trim() !== "" && { reason: body.text }),
    ...(verdict === "tab" && { allows: { tool, key } }),
    by,
  };
}

function limitAnswered(
  { askId, limit, used }: Extract<Asked, { kind: "limit" }>,
  { choice, raiseTo }: AnswerBody,
  by: string,
): Extract<SystemData, { kind: "limit"; state: "answered" }> | Fault {
  const answer = { kind: "limit", state: "answered", askId, limit, by } as const;
  if (choice === undefined) {
    return fault("bad-request", "A limit wants a choice: go-on, raise or stop.", "The question is still open.");
  }
  if (choice !== "raise") return { ...answer, choice };
  if (raiseTo === undefined || raiseTo <= used) {
    return fault("bad-request", `raiseTo: the new limit must be above ${used}.`, "The question is still open.");
  }
  return { ...answer, choice, raiseTo };
}
