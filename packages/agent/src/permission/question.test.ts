import type { PermissionMode } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "./decide.ts";
import type { Decide, PermissionContext, PermissionRule } from "./decide-contract.ts";
import { allowedRule } from "./rules.ts";

type Call = Parameters<Decide>[0];

const bash = (command: string): Call => ({
  effect: "run",
  subject: { tool: "bash", key: `${command}\nin /ws`, command },
});
const ruleOf = (text: string): PermissionRule => {
  const rule = allowedRule(text);
  if (rule === null) throw new Error(`no rule: ${text}`);
  return rule;
};
function ask(call: Call, rules: readonly string[] = [], more: Partial<PermissionContext> = {}) {
  const context = { mode: "ask", granted: [], ...more, rules: [...rules.map(ruleOf), ...(more.rules ?? [])] } as const;
  return decide(call, context);
}

describe("parts", () => {
  test("[PERM-40] each part is told in its exact text and order, and what of it asks", () => {
    const decision = ask(bash('npm   test && rm  -r "a b"; echo done'), ["bash: rm *"]);
    expect(decision).toEqual({
      decision: "ask",
      parts: [
        { text: "npm   test", asks: true, why: "no rule allows it" },
        { text: 'rm  -r "a b"', asks: false },
        { text: "echo done", asks: false },
      ],
      offers: ["bash: npm test"],
    });
  });

  test("[PERM-40] what is one thing has no parts, unless there is something to say of it", () => {
    expect(ask(bash(" npm test "))).toEqual({ decision: "ask", offers: ["bash: npm test"] });
    expect(ask(bash("sudo ls"))).toEqual({
      decision: "ask",
      parts: [{ text: "sudo ls", asks: true, why: "sudo is asked each time" }],
    });
    expect(ask({ effect: "write", subject: { tool: "ask", key: "x" } })).toEqual({ decision: "ask" });
  });

  test("[PERM-40] a rule that asks is named, also where the mode allows the rest", () => {
    const rules = [{ action: "ask", tool: "bash", pattern: "npm publish*" }] as const;
    expect(ask(bash("ls; npm publish; $x"), [], { mode: "allow", rules })).toEqual({
      decision: "ask",
      parts: [
        { text: "ls", asks: false },
        { text: "npm publish", asks: true, why: "a rule asks: bash: npm publish*" },
        { text: "$x", asks: true, why: "it may be what a rule means: bash: npm publish*" },
      ],
    });
  });
});

describe("offers", () => {
  test.each([
    ["git add *.ts", undefined],
    ["echo '*?' '\\'", ["bash: echo '\\*\\?' '\\\\'"]],
    ["X=1 npm test > out", ["bash: X=1 npm test > out"]],
    ["a; b; a", ["bash: a", "bash: b"]],
    ["sh -c 'a; b'", ["bash: a", "bash: b"]],
    ["python3 - <<'EOF'\nprint(1)\nEOF", undefined],
    ["cat <<'EOF'\none\nEOF", ["bash: cat <<'EOF'\none\nEOF"]],
    ["sudo ls", undefined],
    ["a; $x", undefined],
    ["a $x", undefined],
    ["ssh h x", undefined],
    ["PATH=/x a", undefined],
    [`a ${"b".repeat(1_000)}`, undefined],
    ["if a", undefined],
  ])("[PERM-41] %j offers %j", (command, offers) => {
    const decision = ask(bash(command));
    expect(decision.decision === "ask" ? decision.offers : decision).toEqual(offers);
  });

  test("[PERM-41] what names the home, and what a rule asks about, is offered nothing", () => {
    const decision = ask({ ...bash("cat ~/.varve/x"), namesHome: true });
    expect(decision).toEqual({ decision: "ask" });
    const rules = [{ action: "ask", tool: "bash" }] as const;
    expect(ask(bash("ls"), [], { rules })).toMatchObject({ parts: [{ why: "a rule asks: bash" }] });
    expect(ask(bash("ls"), [], { rules })).not.toHaveProperty("offers");
  });

  test.each([
    ["write", "/ws/a*b", { path: "/ws/a*b" }, "write: /ws/a\\*b"],
    ["read", "/etc/x", { path: "/etc/x" }, "read: /etc/x"],
    ["fetch", "https://h.example:8080/a?b", { url: "https://h.example:8080/a?b" }, "fetch: https://h.example:8080/*"],
  ] as const)("[PERM-41] %s of %s", (tool, key, subject, offer) => {
    const call: Call = { effect: "run", subject: { tool, key, ...subject } };
    expect(ask(call)).toEqual({ decision: "ask", offers: [offer] });
    expect(ask(call, [offer])).toEqual({ decision: "allow" });
  });

  test("[PERM-41] accepted, the offers allow this command and none that differs", () => {
    const word = fc.constantFrom("a", "b", "'c d'", "*", "?", "\\\\*", "-x", '"q"', "x=1", ">f", "2>&1", "e\\ f");
    const simple = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(" "));
    const command = fc
      .array(fc.tuple(simple, fc.constantFrom("; ", " && ", " | ", "\n")), { minLength: 1, maxLength: 3 })
      .map((parts) =>
        parts
          .map((part) => part.join(""))
          .join("")
          .replace(/[;&|\s]+$/, ""),
      );
    let offered = 0;
    fc.assert(
      fc.property(command, command, (text, other) => {
        const decision = ask(bash(text));
        if (decision.decision !== "ask" || decision.offers === undefined) return;
        offered += 1;
        expect(ask(bash(text), decision.offers).decision).toBe("allow");
        const theirs = ask(bash(other));
        const mine = new Set(decision.offers);
        const isSame = theirs.decision === "ask" && theirs.offers?.every((offer) => mine.has(offer)) === true;
        expect(ask(bash(other), decision.offers).decision).toBe(isSame ? "allow" : "ask");
      }),
      { numRuns: 500 },
    );
    expect(offered).toBeGreaterThan(100);
  });

  test("[PERM-49] what is allowed in the sandbox is allowed nowhere else; what is allowed outside is allowed there too", () => {
    const outside = bash("ls");
    const inside: Call = { ...outside, subject: { ...outside.subject, sandboxed: true } };
    expect(ask(inside)).toEqual({ decision: "ask", offers: ["sandbox: ls"] });
    expect(ask(inside, ["sandbox: ls"]).decision).toBe("allow");
    expect(ask(outside, ["sandbox: ls"]).decision).toBe("ask");
    expect(ask(inside, ["bash: ls"]).decision).toBe("allow");
    const denied = [{ action: "deny", tool: "bash", pattern: "ls" }] as const;
    expect(ask(inside, ["sandbox"], { rules: denied }).decision).toBe("deny");
    const deniedThere = [{ action: "deny", tool: "sandbox", pattern: "ls" }] as const;
    expect(ask(inside, ["bash"], { rules: deniedThere }).decision).toBe("deny");
    expect(ask(outside, ["bash"], { rules: deniedThere }).decision).toBe("allow");
  });

  test("[PERM-41] offers never change what another mode says", () => {
    for (const mode of ["read", "edits"] satisfies readonly PermissionMode[]) {
      expect(ask(bash("ls"), ["bash: ls"], { mode }).decision).toBe(mode === "read" ? "deny" : "allow");
    }
  });
});
