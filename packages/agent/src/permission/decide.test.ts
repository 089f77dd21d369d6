import type { PermissionMode, PermissionSubject } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ToolEffect } from "../tools/tool.ts";
import { decide } from "./decide.ts";
import type { Decide, PermissionContext, PermissionRule } from "./decide-contract.ts";

type Call = Parameters<Decide>[0];

const bash = (command: string, more: Partial<Call> = {}): Call => ({
  effect: "run",
  subject: { tool: "bash", key: `${command}\nin /ws`, command },
  ...more,
});
const onPath = (tool: string, path: string, effect: ToolEffect): Call => ({
  effect,
  subject: { tool, key: path, path },
});
const context = (mode: PermissionMode, more: Partial<PermissionContext> = {}): PermissionContext => ({
  mode,
  rules: [],
  granted: [],
  ...more,
});
const rule = (text: string): PermissionRule => {
  const [, action, tool = "", pattern] = /^(allow|ask|deny) ([a-z*]+)(?:: (.*))?$/s.exec(text) ?? [];
  if (action !== "allow" && action !== "ask" && action !== "deny") throw new Error(`no rule: ${text}`);
  return pattern === undefined ? { action, tool } : { action, tool, pattern };
};
const answer = (call: Call, mode: PermissionMode, rules: readonly string[] = []) =>
  decide(call, context(mode, { rules: rules.map(rule) })).decision;

const modes = ["read", "ask", "edits", "allow"] as const;

describe("modes", () => {
  test.each([
    ["read", ["allow", "allow", "allow", "allow"]],
    ["ask", ["allow", "allow", "allow", "allow"]],
    ["write", ["deny", "ask", "allow", "allow"]],
    ["run", ["deny", "ask", "ask", "allow"]],
  ] as const)("[PERM-1] what %s does is answered by the mode: %j", (effect, expected) => {
    const call = onPath("t", "/ws/f", effect);
    expect(modes.map((mode) => answer(call, mode))).toEqual(expected);
  });

  test("[PERM-1] a question to the person needs no permission in any mode", () => {
    const call: Call = { effect: "ask", subject: { tool: "ask", key: "Which?" } };
    expect(modes.map((mode) => answer(call, mode))).toEqual(["allow", "allow", "allow", "allow"]);
    expect(answer(call, "ask", ["ask *"])).toBe("allow");
  });

  test("[PERM-2] read only refuses with a reason that says so, whatever was allowed", () => {
    const call = bash("npm test");
    const granted = [{ tool: "bash", key: call.subject.key }];
    const decision = decide(call, context("read", { rules: [rule("allow bash")], granted }));
    expect(decision).toEqual({ decision: "deny", reason: expect.stringContaining("read only") });
  });
});

describe("precedence", () => {
  test.each([
    [["deny bash", "ask bash", "allow bash"], "deny"],
    [["allow bash", "ask bash", "deny bash"], "deny"],
    [["allow bash", "ask bash"], "ask"],
    [["ask bash", "allow bash"], "ask"],
    [["allow bash"], "allow"],
    [["deny write"], "ask"],
    [["deny *"], "deny"],
    [["ask *", "allow bash"], "ask"],
  ] as const)("[PERM-3] deny beats ask beats allow: %j", (rules, decision) => {
    expect(answer(bash("npm test"), "ask", rules)).toBe(decision);
  });

  test("[PERM-3] a deny names its rule", () => {
    const decision = decide(bash("rm x"), context("allow", { rules: [rule("deny bash: rm *")] }));
    expect(decision).toEqual({ decision: "deny", reason: expect.stringContaining("bash: rm *") });
  });

  test("[PERM-3] an ask rule asks also in mode allow, and for reading", () => {
    expect(answer(bash("npm publish"), "allow", ["ask bash: npm publish*"])).toBe("ask");
    expect(answer(onPath("read", "/ws/.env", "read"), "allow", ["ask read: **/.env"])).toBe("ask");
    expect(answer(onPath("read", "/ws/.env", "read"), "ask", ["deny read: **/.env"])).toBe("deny");
  });

  test("[PERM-4] for this tab: exactly this tool and key", () => {
    const granted = [{ tool: "bash", key: "npm test\nin /ws" }];
    const inTab = (call: Call, rules: readonly string[] = []) =>
      decide(call, context("ask", { granted, rules: rules.map(rule) })).decision;
    expect(inTab(bash("npm test"))).toBe("allow");
    expect(inTab(bash("npm test"), ["ask bash"])).toBe("allow");
    expect(inTab(bash("npm test"), ["deny bash"])).toBe("deny");
    for (const other of ["npm test ", "npm  test", "npm test; rm -r .", "npm tes", "npm test\nrm -r ."]) {
      expect(inTab(bash(other))).toBe("ask");
    }
    expect(inTab(onPath("write", "npm test\nin /ws", "write"))).toBe("ask");
    expect(inTab({ effect: "run", subject: { tool: "bash", key: "npm test\nin /other", command: "npm test" } })).toBe(
      "ask",
    );
  });

  test("[PERM-5] a command that names the home is asked each time, in every mode but read only", () => {
    const call = bash("cat ~/.varve/token", { namesHome: true });
    const granted = [{ tool: "bash", key: call.subject.key }];
    const all = modes.map((mode) => decide(call, context(mode, { granted, rules: [rule("allow bash")] })).decision);
    expect(all).toEqual(["deny", "ask", "ask", "ask"]);
    expect(answer(call, "allow", ["deny bash"])).toBe("deny");
  });
});

/** Commands against one allow rule and one deny rule: what a pattern names, and what hides behind it. */
const commands: readonly (readonly [string, "allowed" | "not allowed", "denied" | "not denied"])[] = [
  ["git status", "allowed", "not denied"],
  ["git log --oneline -5", "allowed", "not denied"],
  ["git commit -m 'a message'", "allowed", "not denied"],
  ["  git status  ", "allowed", "not denied"],
  ["git add ./*.ts", "allowed", "not denied"],
  ["git add *.ts", "not allowed", "not denied"],
  ["git status; rm -r x", "not allowed", "denied"],
  ["git status && rm -r x", "not allowed", "denied"],
  ["git status || rm -r x", "not allowed", "denied"],
  ["git status | rm -r x", "not allowed", "denied"],
  ["git status |& rm -r x", "not allowed", "denied"],
  ["git status & rm -r x", "not allowed", "denied"],
  ["git status\nrm -r x", "not allowed", "denied"],
  ["git status\r\nrm -r x", "not allowed", "denied"],
  ["git log $(rm -r x)", "not allowed", "denied"],
  ["git log `rm -r x`", "not allowed", "denied"],
  ['git log "$(rm -r x)"', "not allowed", "denied"],
  ['git log "`rm -r x`"', "not allowed", "denied"],
  ["git log <(rm -r x)", "not allowed", "denied"],
  ["git log > >(rm -r x)", "not allowed", "denied"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's expansion.
  ["git log ${x:-$(rm -r x)}", "not allowed", "denied"],
  ["(rm -r x)", "not allowed", "denied"],
  ["{ rm -r x; }", "not allowed", "denied"],
  ["X=1 rm -r x", "not allowed", "denied"],
  ["X=1 git status", "not allowed", "not denied"],
  ["env rm -r x", "not allowed", "denied"],
  ["env X=1 rm -r x", "not allowed", "denied"],
  ["command rm -r x", "not allowed", "denied"],
  ["timeout 5 rm -r x", "not allowed", "denied"],
  ["nohup nice -n 5 rm -r x", "not allowed", "denied"],
  ["xargs rm -r x", "not allowed", "denied"],
  ["find . -exec rm -r x {} +", "not allowed", "denied"],
  ["sh -c 'rm -r x'", "not allowed", "denied"],
  ['bash -c "rm -r x"', "not allowed", "denied"],
  ["eval rm -r x", "not allowed", "denied"],
  ["eval 'rm -r x'", "not allowed", "denied"],
  ["r\\m -r x", "not allowed", "denied"],
  ["'rm' -r x", "not allowed", "denied"],
  ['"r"m -r x', "not allowed", "denied"],
  ["rm -r x", "not allowed", "denied"],
  ["rm   -r x", "not allowed", "denied"],
  ["if true; then rm -r x; fi", "not allowed", "denied"],
  ["for f in *; do rm -r x; done", "not allowed", "denied"],
  ["! rm -r x", "not allowed", "denied"],
  ["time rm -r x", "not allowed", "denied"],
  ["git log > file", "not allowed", "not denied"],
  ["git log >> file", "not allowed", "not denied"],
  ["git log < file", "allowed", "not denied"],
  ["git log < ../file", "not allowed", "not denied"],
  ["git log 2>&1", "allowed", "not denied"],
  ["git log 2>/dev/null", "allowed", "not denied"],
  ["git log $HOME", "not allowed", "not denied"],
  ["git log <<EOF\nrm -r x\nEOF", "allowed", "denied"],
  ["git{,} log", "not allowed", "not denied"],
  ["gitx status", "not allowed", "not denied"],
  ["git", "not allowed", "not denied"],
  ["/usr/bin/git status", "not allowed", "not denied"],
  ["sudo git status", "not allowed", "not denied"],
  ["echo git status", "not allowed", "not denied"],
  ["echo rm", "not allowed", "not denied"],
  ["npm test", "not allowed", "not denied"],
  ["rmdir x", "not allowed", "not denied"],
];

const paths: readonly (readonly [string, string, PermissionRule["action"] | "none"])[] = [
  ["allow write: /ws/src/**", "/ws/src/a.ts", "allow"],
  ["allow write: /ws/src/**", "/ws/src/deep/a.ts", "allow"],
  ["allow write: /ws/src/**", "/ws/src-evil/a.ts", "none"],
  ["allow write: /ws/src/**", "/etc/ws/src/a.ts", "none"],
  ["allow write: /ws/src/a.ts", "/ws/src/a.ts", "allow"],
  ["allow write: /ws/src/a.ts", "/ws/src/a.tsx", "none"],
  ["allow edit: /ws/src/**", "/ws/src/a.ts", "none"],
  ["allow *: /ws/**", "/ws/a", "allow"],
  ["deny write: **/.env", "/ws/deep/.env", "deny"],
  ["deny write: **/.env", "/ws/env", "none"],
  ["deny *: **/secrets/**", "/ws/secrets/a/b", "deny"],
  ["deny write: /ws/", "/ws/anything/below", "deny"],
];

describe("patterns in rules", () => {
  test.each(commands)("[PERM-6] %j is %s by `git *`", (command, allowed) => {
    expect(answer(bash(command), "ask", ["allow bash: git *"])).toBe(allowed === "allowed" ? "allow" : "ask");
  });

  test.each(commands)("[PERM-7] %j: %s by `git *`, %s by `rm *`", (command, _allowed, denied) => {
    expect(answer(bash(command), "allow", ["deny bash: rm *"])).toBe(denied === "denied" ? "deny" : "allow");
    expect(answer(bash(command), "allow", ["ask bash: rm *"])).toBe(denied === "denied" ? "ask" : "allow");
  });

  test("[PERM-6] the exact text allows a compound command, a rule without pattern allows all", () => {
    expect(answer(bash("a && b"), "ask", ["allow bash: a && b"])).toBe("allow");
    expect(answer(bash("a && b"), "ask", ["allow bash: a && *"])).toBe("ask");
    expect(answer(bash("a && b"), "ask", ["allow bash"])).toBe("allow");
  });

  test.each(paths)("[PERM-8] %s over %s: %s", (text, path, expected) => {
    const decision = answer(onPath("write", path, "write"), "ask", [text]);
    expect(decision).toBe(expected === "none" ? "ask" : expected);
  });

  test.each([
    ["allow fetch: https://docs.example/*", "https://docs.example/a/b", "allow"],
    ["allow fetch: https://docs.example/*", "https://docs.example.evil/a", "ask"],
    ["deny fetch: *evil*", "https://docs.example.evil/a", "deny"],
  ])("[PERM-8] %s over %s: %s", (text, url, expected) => {
    const subject: PermissionSubject = { tool: "fetch", key: url, url };
    expect(answer({ effect: "run", subject }, "ask", [text])).toBe(expected);
  });
});

test("[PERM-9] more restriction never allows more", () => {
  const actions = fc.constantFrom("allow", "ask", "deny") as fc.Arbitrary<PermissionRule["action"]>; // The three there are.
  const rules = fc.array(
    fc.record({
      action: actions,
      tool: fc.constantFrom("bash", "*", "write"),
      pattern: fc.constantFrom("git *", "*", "rm *"),
    }),
    { maxLength: 5 },
  );
  const command = fc.constantFrom("git status", "git log; rm x", "rm x", "ls");
  const rank = { allow: 2, ask: 1, deny: 0 } as const;
  fc.assert(
    fc.property(rules, command, fc.constantFrom(...modes), (all, text, mode) => {
      const before = decide(bash(text), context(mode, { rules: all })).decision;
      for (const action of ["ask", "deny"] as const) {
        const after = decide(bash(text), context(mode, { rules: [...all, { action, tool: "bash" }] })).decision;
        expect(rank[after]).toBeLessThanOrEqual(rank[before]);
        expect(rank[after]).toBeLessThanOrEqual(rank[action]);
      }
      const looser = decide(bash(text), context(mode, { rules: [...all, { action: "allow", tool: "bash" }] })).decision;
      expect(rank[looser]).toBeGreaterThanOrEqual(rank[before]);
    }),
  );
});
