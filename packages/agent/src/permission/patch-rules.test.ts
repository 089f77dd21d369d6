/** A patch is about several files: each of them is judged, and rules of `edit` and `write` are no way around. */
import { describe, expect, test } from "vitest";
import { decide } from "./decide.ts";
import type { PermissionContext, PermissionRule } from "./decide-contract.ts";

const patchOf = (...paths: readonly string[]) => ({
  effect: "write" as const,
  subject: { tool: "patch", key: paths.join("\n"), parts: paths.map((text) => ({ text, asks: true })) },
});
const rule = (action: PermissionRule["action"], tool: string, pattern?: string): PermissionRule => ({
  action,
  tool,
  ...(pattern !== undefined && { pattern }),
});
const decided = (paths: readonly string[], rules: readonly PermissionRule[], mode: PermissionContext["mode"] = "ask") =>
  decide(patchOf(...paths), { mode, rules, granted: [] }).decision;

describe("rules about a patch", () => {
  test.each<[string, readonly PermissionRule[], PermissionContext["mode"], string]>([
    ["a deny rule of its own", [rule("deny", "patch", "**/.env")], "edits", "deny"],
    ["a deny rule for edits", [rule("deny", "edit", "**/.env")], "allow", "deny"],
    ["a deny rule for writes", [rule("deny", "write", "/w/.env")], "edits", "deny"],
    ["a deny rule for any edit", [rule("deny", "edit")], "allow", "deny"],
    ["a deny rule for everything", [rule("deny", "*", "**/.env")], "allow", "deny"],
    ["an ask rule for edits", [rule("ask", "edit", "**/.env")], "edits", "ask"],
    ["a deny rule for another file", [rule("deny", "edit", "**/.envrc")], "edits", "allow"],
    ["a deny rule for reading", [rule("deny", "read", "**/.env")], "edits", "allow"],
    ["an allow rule for one of its files", [rule("allow", "patch", "/w/a")], "ask", "ask"],
    ["an allow rule for all of its files", [rule("allow", "patch", "/w/**")], "ask", "allow"],
    [
      "an allow rule for each of its files",
      [rule("allow", "patch", "/w/a"), rule("allow", "patch", "/w/.env")],
      "ask",
      "allow",
    ],
    ["an allow rule without pattern", [rule("allow", "patch")], "ask", "allow"],
    ["an allow rule for edits", [rule("allow", "edit", "/w/**")], "ask", "ask"],
    ["no rule, and mode edits", [], "edits", "allow"],
    ["no rule, and mode read", [], "read", "deny"],
  ])("[PERM-50] %s", (_name, rules, mode, decision) => {
    expect(decided(["/w/a", "/w/.env"], rules, mode)).toBe(decision);
  });

  test("[PERM-50] the rules that are offered allow exactly its files together", () => {
    const asked = decide(patchOf("/w/a", "/w/b*"), { mode: "ask", rules: [], granted: [] });
    if (asked.decision !== "ask") throw new Error("it asks");
    expect(asked.offers).toHaveLength(2);
    const rules = (asked.offers ?? []).map((offer) => rule("allow", "patch", offer.slice("patch: ".length)));
    expect(decided(["/w/a", "/w/b*"], rules)).toBe("allow");
    expect(decided(["/w/a", "/w/bc"], rules)).toBe("ask");
    expect(decided(["/w/a", "/w/b*", "/w/c"], rules)).toBe("ask");
  });

  test("[PERM-50] more files than rules can be offered are asked for as a whole", () => {
    const asked = decide(patchOf(...Array.from({ length: 17 }, (_, i) => `/w/${i}`)), {
      mode: "ask",
      rules: [],
      granted: [],
    });
    expect(asked).toEqual({ decision: "ask" });
  });
});
