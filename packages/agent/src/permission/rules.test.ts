import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nodeFiles } from "../tools/node-files.ts";
import { ruleFileReader } from "./rule-file.ts";
import { loadRules, parseRules, permissionLimits, type RuleFile } from "./rules.ts";

const person: RuleFile = { path: "/home/.varve/permissions.json", owner: "person", root: "/ws" };
const workspace: RuleFile = { path: "/ws/.varve/permissions.json", owner: "workspace", root: "/ws" };
const askAll = [{ action: "ask", tool: "*" }];

describe("rule files", () => {
  test("[PERM-10] a file's rules, the strictest first", () => {
    const text = JSON.stringify({
      allow: ["bash: npm test", "write: /notes/**"],
      ask: ["fetch"],
      deny: ["read: **/.env", "bash: rm *"],
    });
    expect(parseRules(text, person)).toEqual({
      problems: [],
      rules: [
        { action: "deny", tool: "read", pattern: "**/.env" },
        { action: "deny", tool: "bash", pattern: "rm *" },
        { action: "ask", tool: "fetch" },
        { action: "allow", tool: "bash", pattern: "npm test" },
        { action: "allow", tool: "write", pattern: "/notes/**" },
      ],
    });
  });

  test("[PERM-10] a pattern may hold colons", () => {
    expect(parseRules('{"allow":["fetch: https://a.example/*"]}', person).rules).toEqual([
      { action: "allow", tool: "fetch", pattern: "https://a.example/*" },
    ]);
  });

  test("[PERM-11] a workspace may ask and deny, not allow; its paths begin at its root", () => {
    const { rules, problems } = parseRules(
      '{"allow":["bash"],"ask":["write: src/**"],"deny":["read: **/.env"]}',
      workspace,
    );
    expect(rules).toEqual([
      { action: "deny", tool: "read", pattern: "**/.env" },
      { action: "ask", tool: "write", pattern: "/ws/src/**" },
    ]);
    expect(problems).toEqual([expect.stringContaining("may ask or deny, not allow")]);
  });

  test("[PERM-12] an allowed path is absolute; a restricted one holds anywhere", () => {
    const { rules, problems } = parseRules('{"allow":["write: src/**"],"deny":["write: src/**"]}', person);
    expect(rules).toEqual([{ action: "deny", tool: "write", pattern: "**/src/**" }]);
    expect(problems).toEqual([expect.stringContaining("begins with /")]);
  });

  test.each([
    ["not JSON", "{", /not JSON/],
    ["an array", "[]", /the whole/],
    ["an unknown list", '{"forbid":["bash"]}', /forbid/],
    ["a rule that is no text", '{"deny":[3]}', /deny\.0/],
    ["a rule that is too long", JSON.stringify({ deny: ["x".repeat(permissionLimits.ruleCharsMax + 1)] }), /deny\.0/],
    [
      "too many rules",
      JSON.stringify({ deny: Array.from({ length: permissionLimits.rulesMax + 1 }, () => "x") }),
      /deny/,
    ],
    ["too long", " ".repeat(permissionLimits.fileCharsMax + 1), /too long/],
  ])("[PERM-13] a file that can't be understood makes every tool ask: %s", (_name, text, words) => {
    const { rules, problems } = parseRules(text, person);
    expect(rules).toEqual(askAll);
    expect(problems).toEqual([expect.stringMatching(words)]);
    expect(problems[0]).toContain(person.path);
  });

  test.each(["", " : x", "two words: x", "bash:", "bash:   "])(
    "[PERM-13] %j alone is left out with a word",
    (entry) => {
      const { rules, problems } = parseRules(JSON.stringify({ deny: [entry || " ", "bash: rm *"] }), person);
      expect(rules).toEqual([{ action: "deny", tool: "bash", pattern: "rm *" }]);
      expect(problems).toHaveLength(1);
    },
  );
});

describe("loading", () => {
  function folders(): Disposable & { readonly home: string; readonly root: string } {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-rules-")));
    const [home, root] = [join(base, "home"), join(base, "ws")];
    mkdirSync(home);
    mkdirSync(join(root, ".varve"), { recursive: true });
    return { home, root, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }) };
  }
  const load = (places: { readonly home: string; readonly root: string }) =>
    loadRules(ruleFileReader(nodeFiles("/tmp")), places);

  test("[PERM-14] no files, no rules", async () => {
    using at = folders();
    expect(await load(at)).toEqual({ rules: [], problems: [] });
  });

  test("[PERM-14] the person's and the workspace's rules hold together", async () => {
    using at = folders();
    writeFileSync(join(at.home, "permissions.json"), '{"allow":["bash: npm test"]}');
    writeFileSync(join(at.root, ".varve/permissions.json"), '{"deny":["bash: rm *"],"allow":["bash"]}');
    const { rules, problems } = await load(at);
    expect(rules).toEqual([
      { action: "allow", tool: "bash", pattern: "npm test" },
      { action: "deny", tool: "bash", pattern: "rm *" },
    ]);
    expect(problems).toHaveLength(1);
  });

  test.each([
    ["a directory", (path: string) => mkdirSync(path)],
    ["a pipe", (path: string) => void execFileSync("mkfifo", [path])],
    ["a device", (path: string) => symlinkSync("/dev/zero", path)],
    ["a huge file", (path: string) => writeFileSync(path, " ".repeat(permissionLimits.fileCharsMax + 1))],
    ["no UTF-8", (path: string) => writeFileSync(path, Buffer.from([0xff, 0x7b]))],
  ])("[PERM-13] %s in its place makes every tool ask and hangs nothing", async (_name, plant) => {
    using at = folders();
    plant(join(at.root, ".varve/permissions.json"));
    const { rules, problems } = await load(at);
    expect(rules).toEqual(askAll);
    expect(problems).toHaveLength(1);
  });
});
