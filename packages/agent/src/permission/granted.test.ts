import type { StoredRow } from "@varve/protocol";
import { storedRowSchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { grantedFrom } from "./granted.ts";

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
    expect(grantedFrom(rows)).toEqual([test1, { tool: "write", key: "/ws/a" }]);
    expect(grantedFrom([])).toEqual([]);
  });
});
