import type { PermissionSubject, StoredRow } from "@varve/protocol";
import { chunkIdSchema, storedRowSchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { answeredRow, projectRulesOf, revokedRow } from "./answer.ts";

const chunkId = (text: string) => chunkIdSchema.parse(text);
const made = { id: chunkId("new"), at: 7, by: "phone" };
function rowsWith(...data: readonly unknown[]): readonly StoredRow[] {
  const base = { term: 1, turnId: "t", step: 0, createdAt: 0, role: "system", type: "system" };
  return data.map((one, at) => storedRowSchema.parse({ ...base, id: `r${at}`, seq: at + 1, data: one }));
}
const asked = (subject: Partial<PermissionSubject>) => ({
  ...{ kind: "permission", state: "asked", askId: "a", callId: "c" },
  subject: { tool: "bash", key: "x; y\nin /ws", command: "x; y", ...subject },
});
const askId = chunkId("a");
const offers = ["bash: x", "bash: y"];

describe("answers to a permission question", () => {
  test.each([
    [{ verdict: "tab" }, { rules: offers }],
    [{ verdict: "tab", rules: ["bash: y", "bash: y"] }, { rules: ["bash: y"] }],
    [{ verdict: "project" }, { rules: offers }],
    [{ verdict: "project", rules: ["bash: x"] }, { rules: ["bash: x"] }],
    [{ verdict: "once", rules: ["bash: z"] }, {}],
    [{ verdict: "deny", text: "no" }, { reason: "no" }],
  ] as const)("[PERM-44] %j takes of the offered rules", (body, taken) => {
    const row = answeredRow(
      rowsWith(asked({ offers })),
      { askId, ...body, rules: "rules" in body ? [...body.rules] : undefined },
      made,
    );
    const answer = {
      kind: "permission",
      state: "answered",
      askId: "a",
      callId: "c",
      verdict: body.verdict,
      by: "phone",
    };
    expect(row).toMatchObject({ turnId: "t", by: "phone", createdAt: 7 });
    expect("data" in row && row.data).toEqual({ ...answer, ...taken });
    const kept = body.verdict === "project" && "rules" in taken ? taken.rules : [];
    expect("data" in row && projectRulesOf(row)).toEqual(kept);
  });

  test.each([
    [{ verdict: "tab", rules: ["bash: z"] }, { offers }],
    [{ verdict: "tab", rules: ["bash: x", "bash"] }, { offers }],
    [{ verdict: "project", rules: ["bash: *"] }, { offers }],
    [{ verdict: "project", rules: [] }, { offers }],
    [{ verdict: "tab", rules: [] }, { offers }],
    [{ verdict: "project" }, {}],
    [{ verdict: "tab", rules: ["bash: x"] }, {}],
    [{}, { offers }],
  ] as const)("[PERM-44] %j of a question with %j is refused, and it stays open", (body, subject) => {
    const rows = rowsWith(asked("offers" in subject ? { offers: [...subject.offers] } : {}));
    const answer = answeredRow(rows, { askId, ...body, rules: "rules" in body ? [...body.rules] : undefined }, made);
    expect(answer).toMatchObject({ code: "bad-request", hint: "The question is still open." });
  });

  test("[PERM-42] where nothing is offered, for this tab means exactly this", () => {
    const row = answeredRow(rowsWith(asked({})), { askId, verdict: "tab" }, made);
    expect(row).toMatchObject({ data: { allows: { tool: "bash", key: "x; y\nin /ws" } } });
  });

  test("[PERM-42] only what holds can be taken back, once", () => {
    const answered = { kind: "permission", state: "answered", askId: "a", callId: "c", by: "me" };
    const rows = rowsWith(asked({ offers }), { ...answered, verdict: "tab", rules: offers });
    const row = revokedRow(rows, askId, made);
    expect(row).toMatchObject({ turnId: "", data: { kind: "permission-revoked", revokes: "a", by: "phone" } });
    const after = rowsWith(...rows.map(({ data }) => data), "data" in row ? row.data : null);
    for (const [log, id] of [
      [after, askId],
      [rows, chunkId("b")],
      [rowsWith(asked({}), { ...answered, verdict: "once" }), askId],
      [rowsWith(asked({ offers }), { ...answered, verdict: "project", rules: offers }), askId],
    ] as const) {
      expect(revokedRow(log, id, made)).toMatchObject({ code: "unknown-rule" });
    }
  });
});
