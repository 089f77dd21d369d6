import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { permissionFiles } from "./permission-files.ts";
import { ProjectRules, projectLimits, type RuleDisk } from "./project-rules.ts";
import { temporaryFolder } from "./testing/house.ts";

let home: string;
beforeEach(() => {
  home = temporaryFolder();
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const allow = (pattern: string) => ({ action: "allow", tool: "bash", pattern });

describe("rules of projects", () => {
  test("[PERM-43] are kept for their owner alone, once each, and nothing else is left in the folder", () => {
    const rules = new ProjectRules(home);
    expect(rules.add("/ws", ["bash: npm test", "bash: ls"])).toBeNull();
    expect(rules.add("/ws", ["bash: ls", "bash: pwd"])).toBeNull();
    expect(rules.add("/other", ["bash: ls"])).toBeNull();
    expect(statSync(rules.path).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual(["project-permissions.json"]);
    expect(JSON.parse(readFileSync(rules.path, "utf8"))).toEqual({
      projects: [
        { root: "/ws", allow: ["bash: npm test", "bash: ls", "bash: pwd"] },
        { root: "/other", allow: ["bash: ls"] },
      ],
    });
    const again = new ProjectRules(home);
    expect(again.rulesFor("/ws").rules).toEqual([allow("npm test"), allow("ls"), allow("pwd")]);
    expect(again.rulesFor("/ws/sub").rules).toEqual([]);
    expect(again.rulesFor("__proto__").rules).toEqual([]);
  });

  test("[PERM-45] one that is taken back is gone, for whoever reads the file too", () => {
    const rules = new ProjectRules(home);
    const other = new ProjectRules(home);
    rules.add("/ws", ["bash: a", "bash: b"]);
    expect(other.rulesFor("/ws").rules).toHaveLength(2);
    expect(rules.remove({ root: "/ws", rule: "bash: a" })).toBeNull();
    expect(other.rulesFor("/ws").rules).toEqual([allow("b")]);
    expect(rules.remove({ root: "/ws", rule: "bash: a" })).toMatchObject({ code: "unknown-rule" });
    expect(rules.remove({ root: "/", rule: "bash: b" })).toMatchObject({ code: "unknown-rule" });
    expect(rules.remove({ root: "/ws", rule: "bash: b" })).toBeNull();
    expect(rules.all().projects).toEqual([]);
  });

  test.each([
    ["no JSON", "{"],
    ["another shape", '{"projects": [{"root": "/ws", "deny": ["bash"]}]}'],
    ["a directory that is none", '{"projects": [{"root": "ws", "allow": []}]}'],
    ["no UTF-8", new Uint8Array([0xff, 0xfe])],
    ["too long", " ".repeat(projectLimits.fileBytesMax + 1)],
    ["a folder", null],
  ])("[PERM-46] %s in its place makes every tool ask, and stays as it is", (_, content) => {
    const rules = new ProjectRules(home);
    if (content === null) mkdirSync(rules.path);
    else writeFileSync(rules.path, content);
    expect(rules.rulesFor("/ws")).toEqual({
      rules: [{ action: "ask", tool: "*" }],
      problems: [expect.stringContaining("every tool asks")],
    });
    expect(rules.add("/ws", ["bash: a"])).toMatchObject({ code: "bad-request" });
    expect(rules.remove({ root: "/ws", rule: "bash: a" })).toMatchObject({ code: "bad-request" });
    expect(rules.all().problems).toHaveLength(1);
    if (content !== null) expect(readFileSync(rules.path)).toEqual(Buffer.from(content));
  });

  test("[PERM-46] one wrong rule in it is left out with a word", () => {
    const rules = new ProjectRules(home);
    writeFileSync(rules.path, JSON.stringify({ projects: [{ root: "/ws", allow: ["bash: a", "write: x"] }] }));
    expect(rules.rulesFor("/ws")).toEqual({ rules: [allow("a")], problems: [expect.stringContaining("write: x")] });
  });

  test("[PERM-46] a rule or a project too many is refused, and nothing is changed", () => {
    const rules = new ProjectRules(home);
    const many = Array.from({ length: projectLimits.rulesMax }, (_, at) => `bash: a${at}`);
    expect(rules.add("/ws", many)).toBeNull();
    expect(rules.add("/ws", ["bash: b"])).toMatchObject({ code: "bad-request" });
    expect(rules.add("/ws", many)).toBeNull();
    for (let at = 1; at < projectLimits.rootsMax; at++) expect(rules.add(`/ws${at}`, ["bash: a"])).toBeNull();
    expect(rules.add("/one-more", ["bash: a"])).toMatchObject({ code: "bad-request" });
    expect(rules.all().projects).toHaveLength(projectLimits.rootsMax);
  });

  test.each([
    ["ENOSPC", "disk-full"],
    ["EDQUOT", "disk-full"],
    ["EACCES", "log-unavailable"],
  ])("[PERM-43] what cannot be written (%s) is a fault, and what was there holds", (code, fault) => {
    let text = '{"projects":[{"root":"/ws","allow":["bash: a"]}]}';
    let fails = true;
    const disk: RuleDisk = {
      read: () => text,
      replace: (_, next) => {
        if (fails) throw Object.assign(new Error(code), { code });
        text = next;
      },
    };
    const rules = new ProjectRules(home, disk);
    expect(rules.add("/ws", ["bash: b"])).toMatchObject({ code: fault });
    expect(rules.rulesFor("/ws").rules).toEqual([allow("a")]);
    fails = false;
    expect(rules.add("/ws", ["bash: b"])).toBeNull();
    expect(rules.rulesFor("/ws").rules).toEqual([allow("a"), allow("b")]);
  });

  test("[PERM-43] a link to the directory is the same project, and its own file can still only restrict", () => {
    const files = permissionFiles(home, () => undefined);
    mkdirSync(join(home, "ws/.varve"), { recursive: true });
    writeFileSync(join(home, "ws/.varve/permissions.json"), '{"allow": ["bash: x"], "deny": ["bash: rm *"]}');
    expect(files.keep(join(home, "ws/../ws"), ["bash: a"])).toBeNull();
    const look = files.look(join(home, "ws"));
    expect(look).toMatchObject({ root: join(home, "ws"), projectPath: join(home, "project-permissions.json") });
    expect(look.rules).toEqual([
      { action: "allow", rule: "bash: a", source: "project" },
      { action: "deny", rule: "bash: rm *", source: "workspace" },
    ]);
    expect(look.problems).toHaveLength(1);
  });
});
