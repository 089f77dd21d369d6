/** Whether a call may run: the rules first, then a person. Applied when the call is about to run, never in the tool block. */
import type { PermissionSubject, ToolCallData } from "@varve/protocol";
import type { Decision } from "./permission/decide-contract.ts";
import { grantedFrom, grantedRules, grantsFrom } from "./permission/granted.ts";
import type { PreparedCall } from "./tools/tool.ts";
import type { Turn } from "./turn.ts";
import type { SystemRow } from "./turn-rows.ts";
import { isKind, rowsOfTurn } from "./turn-rows.ts";
import { unlessAborted } from "./wait.ts";

export type Permit =
  | { readonly kind: "allowed" }
  | { readonly kind: "denied"; readonly reason: string }
  | { readonly kind: "stopped" };

const allowed: Permit = { kind: "allowed" };
const stopped: Permit = { kind: "stopped" };

export interface Asking {
  readonly step: number;
  readonly call: ToolCallData;
  readonly signal: AbortSignal;
}

export async function permit(turn: Turn, asking: Asking, prepared: PreparedCall): Promise<Permit> {
  const { owner, ports } = turn;
  const known = askedAbout(turn, asking.call.callId).findLast(
    (row) => isKind(row, "permission") && asksThis(row, prepared),
  );
  let subject = prepared.subject;
  if (known === undefined) {
    const decision = decided(turn, prepared);
    if (decision.decision === "allow") return allowed;
    if (decision.decision === "deny") return { kind: "denied", reason: decision.reason };
    subject = { ...subject, ...partsOf(decision) };
  }
  const { callId } = asking.call;
  const asked =
    known ??
    turn.rows.system(
      { turnId: turn.turnId, step: asking.step },
      { kind: "permission", state: "asked", askId: ports.ids.chunk(), callId, subject },
    );
  const answer = await unlessAborted(owner.ask(asked, asking.signal), asking.signal);
  if (answer === null || answer === "aborted") return stopped;
  if (!isKind(answer, "permission") || answer.data.state !== "answered") return stopped;
  if (answer.data.verdict !== "deny") return allowed;
  const reason = answer.data.reason?.trim() ?? "";
  return { kind: "denied", reason: reason === "" ? "refused by the user" : reason };
}

/** By the rules as they are now, and what was answered in this tab so far. */
function decided({ owner, ports }: Turn, prepared: PreparedCall): Decision {
  const grants = grantsFrom(owner.rows());
  const { rules, ...held } = ports.permission();
  const all = [...rules, ...grantedRules(grants)];
  return ports.decide(prepared, { ...held, rules: all, granted: grantedFrom(grants), cwd: ports.place.cwd });
}

/** What was asked about a command in a sandbox says nothing of the same command without one. */
const asksThis = ({ data }: SystemRow<"permission">, { subject }: PreparedCall): boolean =>
  data.state === "asked" && (data.subject.sandboxed !== true || subject.sandboxed === true);

/** As a row holds them, which no one else shares. */
const partsOf = ({
  parts,
  offers,
}: Extract<Decision, { decision: "ask" }>): Pick<PermissionSubject, "parts" | "offers"> => ({
  ...(parts !== undefined && { parts: parts.map((part) => ({ ...part })) }),
  ...(offers !== undefined && { offers: [...offers] }),
});

/** Puts the `ask` tool's question and waits for the person's text; null when the call was stopped first. */
export async function askPerson(
  turn: Turn,
  asking: Asking,
  question: { readonly text: string; readonly options: readonly string[] },
): Promise<string | null> {
  const { callId } = asking.call;
  const asked =
    askedAbout(turn, callId).find(({ data }) => "question" in data && data.question === question.text) ??
    turn.rows.system(
      { turnId: turn.turnId, step: asking.step },
      {
        kind: "ask",
        state: "asked",
        askId: turn.ports.ids.chunk(),
        callId,
        question: question.text,
        options: [...question.options],
      },
    );
  const answer = await unlessAborted(turn.owner.ask(asked, asking.signal), asking.signal);
  if (answer === null || answer === "aborted" || !isKind(answer, "ask")) return null;
  return answer.data.state === "answered" ? answer.data.answer : null;
}

/**
 * What was asked about a call that has no result. Asked before a restart, it is the same question now and keeps its id; it may
 * have its answer already, when that came before the call got so far again.
 */
function askedAbout(turn: Turn, callId: string): readonly (SystemRow<"permission"> | SystemRow<"ask">)[] {
  const rows = rowsOfTurn(turn.owner.rows(), turn.turnId);
  const questions = rows.flatMap((row) => (isKind(row, "permission") || isKind(row, "ask") ? [row] : []));
  return questions.filter(({ data }) => data.callId === callId && data.state === "asked");
}
