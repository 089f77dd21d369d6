import { grantsFrom } from "@varve/agent";
import {
  type AnswerBody,
  type ChunkId,
  type Fault,
  fault,
  type NewRow,
  noTurn,
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
  return permissionAnswered(asked, body, by);
}

type PermissionAnswer = Extract<SystemData, { kind: "permission"; state: "answered" }>;

function permissionAnswered(
  { askId, callId, subject }: Extract<Asked, { kind: "permission" }>,
  { verdict, text = "", rules }: AnswerBody,
  by: string,
): PermissionAnswer | Fault {
  if (verdict === undefined) {
    return wrong("A permission question wants a verdict: once, tab, project or deny.");
  }
  const answer = { kind: "permission", state: "answered", askId, callId, verdict, by } as const;
  if (verdict === "once") return answer;
  if (verdict === "deny") return text.trim() === "" ? answer : { ...answer, reason: text };
  const { tool, key, offers = [] } = subject;
  const chosen = [...new Set(rules ?? offers)];
  const foreign = chosen.find((rule) => !offers.includes(rule));
  if (foreign !== undefined) return wrong(`"${foreign}" is not among the rules that this question offers.`);
  if (chosen.length > 0) return { ...answer, rules: chosen };
  if (offers.length > 0) return wrong("None of the offered rules was chosen.");
  return verdict === "tab"
    ? { ...answer, allows: { tool, key } }
    : wrong("No rule can say this, so that it cannot be allowed for a whole project.");
}

/** The rules that this answer allows in every tab of the project, to be kept before it is. */
export const projectRulesOf = ({ type, data }: NewRow): readonly string[] =>
  type === "system" && data.kind === "permission" && data.state === "answered" && data.verdict === "project"
    ? (data.rules ?? [])
    : [];

/** The row that takes back what an answer allowed for this tab, or why there is nothing to take back. */
export function revokedRow(
  rows: readonly StoredRow[],
  askId: ChunkId,
  made: { readonly id: ChunkId; readonly at: number; readonly by: string },
): NewRow | Fault {
  if (!grantsFrom(rows).some((grant) => grant.askId === askId)) {
    return fault(
      "unknown-rule",
      "Nothing that was answered to this question holds for this tab.",
      "It may have been taken back already.",
    );
  }
  return {
    ...{ id: made.id, turnId: noTurn, step: 0, role: "system", type: "system", createdAt: made.at, by: made.by },
    data: { kind: "permission-revoked", revokes: askId, by: made.by },
  };
}

const wrong = (what: string): Fault => fault("bad-request", what, "The question is still open.");

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
