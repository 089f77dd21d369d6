import type { StoredRow } from "@varve/protocol";
import { storedRowSchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { grantedFrom, grantedRules, grantsFrom } from "./granted.ts";

let seq = 0;
function row(data: unknown): StoredRow {
  seq += 1;
  const base = { id: `r${seq}`, seq, term: 1, turnId: "t", step: 0, createdAt: 0, role: "system", type: "system" };
  return storedRowSchema.parse({ ...base, data });
}
const answered = (verdict: string, allows?: { readonly tool: string; readonly key: string }) =>
  row({
    kind: "permission",
    state: "answered",
    askId: "a",
    callId: "c",
    verdict,
    by: "me",
    ...(allows ? { allows } : {}),
  });
const test1 = { tool: "bash", key: "npm test\nin /ws" };

describe("grantedFrom", () => {
  test("[PERM-4] answers for this tab count, once each; others do not", () => {
    const subject = { tool: "bash", key: "rm" };
    const rows = [
      row({ kind: "permission", state: "asked", askId: "a", callId: "c", subject }),
      answered("once", subject),
      answered("tab", test1),
      answered("deny", { tool: "bash", key: "x" }),
      answered("tab"),
      answered("tab", { tool: "write", key: "/ws/a" }),
      answered("tab", test1),
      row({ kind: "notice", level: "info", code: "x", text: "tab" }),
    ];
    expect(grantedFrom(grantsFrom(rows))).toEqual([test1, { tool: "write", key: "/ws/a" }]);
    expect(grantedFrom(grantsFrom([]))).toEqual([]);
  });

  test("[PERM-42] rules that were answered for this tab hold, and an answer that is taken back does not", () => {
    const answer = (askId: string, rules: readonly string[]) =>
      row({ kind: "permission", state: "answered", askId, callId: "c", verdict: "tab", by: "me", rules });
    const rows = [
      answer("a1", ["bash: npm test"]),
      answer("a2", ["bash: ls", "bash: npm test", "no rule at all:"]),
      row({
        kind: "permission",
        state: "answered",
        askId: "a3",
        callId: "c",
        verdict: "project",
        by: "me",
        rules: ["bash: x"],
      }),
    ];
    expect(grantedRules(grantsFrom(rows))).toEqual([
      { action: "allow", tool: "bash", pattern: "npm test" },
      { action: "allow", tool: "bash", pattern: "ls" },
    ]);
    expect(grantsFrom(rows)).toMatchObject([{ askId: "a1", by: "me", exact: null }, { askId: "a2" }]);
    const after = [...rows, row({ kind: "permission-revoked", revokes: "a2", by: "me" })];
    expect(grantedRules(grantsFrom(after))).toEqual([{ action: "allow", tool: "bash", pattern: "npm test" }]);
    expect(grantsFrom([...after, answer("a4", ["bash: ls"])])).toHaveLength(2);
  });
});
