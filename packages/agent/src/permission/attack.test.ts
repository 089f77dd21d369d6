/** Other spellings of what a rule denies, and what a rule file must not tell. */
import { describe, expect, test } from "vitest";
import { decide } from "./decide.ts";
import { parseRules } from "./rules.ts";

const decided = (command: string, action: "allow" | "deny", pattern: string) =>
  decide(
    { effect: "run", subject: { tool: "bash", key: `${command}\nin /ws`, command } },
    { mode: action === "deny" ? "allow" : "ask", rules: [{ action, tool: "bash", pattern }], granted: [] },
  ).decision;

describe("spellings", () => {
  test.each([
    "/bin/rm -r x",
    "../../bin/rm -r x",
    "./rm -r x",
    "$'rm' -r x",
    '$"rm" -r x',
    "r\\\nm -r x",
    "r''m -r x",
    "\trm\t-r x",
    "true;rm -r x",
    "true\n/bin/rm -r x",
    "env -i /usr/bin/rm -r x",
    "xargs -n1 /bin/rm <list",
    "echo x | /bin/rm -r x",
    "if /bin/rm -r x; then :; fi",
    "f() { /bin/rm -r x; }; f",
    "coproc rm -r x",
    "exec -a ls rm -r x",
  ])("[PERM-7] %j is denied by `rm *`", (command) => {
    expect(decided(command, "deny", "rm *")).toBe("deny");
  });

  test.each([
    "git status\u2028rm x;",
    "git status \\\n; rm x",
    "git log\u000b; rm x",
    "git log #\nrm x",
    "git log \u0001`rm x`",
    "GIT_SSH=x git log",
    "GIT_SSH+=x git log",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's expansion.
    "git log ${IFS}x",
    "git log >|x",
    "git log &>x",
    "git log <<<$(rm x)",
    "/bin/git log",
    "./git log",
  ])("[PERM-6] %j is not allowed by `git *`", (command) => {
    expect(decided(command, "allow", "git *")).toBe("ask");
  });
});

test("[PERM-13] a file that is a link to a secret does not have it quoted", () => {
  const file = { path: "/ws/.varve/permissions.json", owner: "workspace", root: "/ws" } as const;
  for (const text of ["s3cr3t-t0k3n-0123456789", '{"allow": s3cr3t', '{"s3cr3t": 1,}', "[s3cr3t]", '"s3cr3t']) {
    const { rules, problems } = parseRules(text, file);
    expect(rules).toEqual([{ action: "ask", tool: "*" }]);
    expect(problems.join()).not.toContain("s3cr3t");
  }
});
