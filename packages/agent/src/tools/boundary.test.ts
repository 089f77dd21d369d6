import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { decide } from "../permission/decide.ts";
import { resolveReal, within } from "./boundary.ts";
import { namesHome } from "./home-names.ts";
import { nodeFiles } from "./node-files.ts";
import { runPrepared, type Scratch, scratch } from "./testing/scratch.ts";

/** The tree of the case table: links out, a dangling one, one within, a sibling with the workspace's name as prefix. */
function withLinks(at: Scratch): { readonly out: string } {
  const out = join(at.base, "out");
  mkdirSync(out);
  writeFileSync(join(out, "secret.txt"), "SECRET\n");
  mkdirSync(join(at.base, "ws-evil"));
  writeFileSync(join(at.base, "ws-evil/x"), "SECRET\n");
  mkdirSync(join(at.ws, "sub"));
  at.file("plain.txt", "plain\n");
  symlinkSync(out, join(at.ws, "outbox"));
  symlinkSync(join(out, "new"), join(at.ws, "dang"));
  symlinkSync("sub", join(at.ws, "inlink"));
  symlinkSync("../../out/secret.txt", join(at.ws, "sub/hidden.txt"));
  symlinkSync("loop-b", join(at.ws, "loop-a"));
  symlinkSync("loop-a", join(at.ws, "loop-b"));
  symlinkSync(at.ws, join(at.base, "root-link"));
  writeFileSync(join(at.place.home, "token"), "SECRET\n");
  symlinkSync(at.place.home, join(at.ws, "home-link"));
  return { out };
}

const notInside: readonly (readonly [string, JsonObject])[] = [
  ["read", { path: "outbox/secret.txt" }],
  ["read", { path: "./outbox/./secret.txt" }],
  ["read", { path: "../out/secret.txt" }],
  ["read", { path: "sub/../../out/secret.txt" }],
  ["read", { path: "sub/hidden.txt" }],
  ["read", { path: "inlink/hidden.txt" }],
  ["read", { path: "outbox/../out/secret.txt" }],
  ["read", { path: "../ws-evil/x" }],
  ["read", { path: "/etc/hostname" }],
  ["read", { path: "~/x" }],
  ["write", { path: "outbox/a", content: "x" }],
  ["write", { path: "outbox/deep/a", content: "x" }],
  ["write", { path: "dang", content: "x" }],
  ["write", { path: "dang/below", content: "x" }],
  ["write", { path: "../ws-evil/y", content: "x" }],
  ["write", { path: "nothing/../../out/a", content: "x" }],
  ["edit", { path: "outbox/secret.txt", oldText: "SECRET", newText: "x" }],
  ["edit", { path: "sub/hidden.txt", oldText: "SECRET", newText: "x" }],
  ["list", { path: "outbox" }],
  ["list", { path: ".." }],
  ["glob", { pattern: "*", path: "outbox" }],
  ["grep", { pattern: "SECRET", path: "outbox" }],
  ["grep", { pattern: "SECRET", path: ".." }],
];

const denied: readonly (readonly [string, JsonObject])[] = [
  ["read", { path: "../home/token" }],
  ["read", { path: "home-link/token" }],
  ["read", { path: "home-link/../home/token" }],
  ["read", { path: "outbox/../home/token" }],
  ["write", { path: "../home/token", content: "x" }],
  ["write", { path: "home-link/new", content: "x" }],
  ["edit", { path: "home-link/token", oldText: "SECRET", newText: "x" }],
  ["list", { path: "../home" }],
  ["glob", { pattern: "*", path: "home-link" }],
  ["grep", { pattern: "SECRET", path: "../home" }],
  ["read", { path: "/proc/self/environ" }],
  ["read", { path: `/proc/${process.pid}/environ` }],
  ["list", { path: "/proc/self" }],
];

const inside: readonly (readonly [string, JsonObject, string])[] = [
  ["read", { path: "plain.txt" }, "read"],
  ["read", { path: "sub/../plain.txt" }, "read"],
  ["read", { path: "inlink/../plain.txt" }, "read"],
  ["write", { path: "inlink/b", content: "x" }, "write"],
  ["write", { path: "newdir/deep/c", content: "x" }, "write"],
  ["edit", { path: "plain.txt", oldText: "plain", newText: "x" }, "write"],
  ["list", {}, "read"],
  ["grep", { pattern: "x" }, "read"],
];

describe("the workspace's edge", () => {
  test.each(notInside)("[TOOL-10] H19 %s %j is not inside: asked, with its real path", async (name, args) => {
    await using at = scratch();
    withLinks(at);
    const prepared = await at.prepare(name, args);
    expect(prepared.effect).toBe("run");
    expect(within(at.ws, String(prepared.subject.path))).toBe(false);
    expect(prepared.subject.key).toBe(prepared.subject.path);
    for (const mode of ["read", "ask", "edits"] as const) {
      expect(decide(prepared, { mode, rules: [], granted: [] }).decision).not.toBe("allow");
    }
  });

  test.each(denied)("[TOOL-11] H19 %s %j is denied in every mode", async (name, args) => {
    await using at = scratch();
    withLinks(at);
    const tool = at.box.get(name);
    expect(await tool?.prepare(args, at.place)).toEqual({ error: expect.stringContaining("no tool may touch") });
    expect(readdirSync(at.place.home)).toEqual(["token"]);
  });

  test.each(inside)("[TOOL-10] H19 %s %j is inside", async (name, args, effect) => {
    await using at = scratch();
    const { out } = withLinks(at);
    const prepared = await at.prepare(name, args);
    expect(prepared.effect).toBe(effect);
    expect((await runPrepared(prepared)).isError).toBe(false);
    expect(readdirSync(out)).toEqual(["secret.txt"]);
  });

  test("[TOOL-10] H19 a workspace opened through a link is its real directory", async () => {
    await using at = scratch();
    withLinks(at);
    const place = { ...at.place, cwd: join(at.base, "root-link") };
    const prepared = await at.box.get("read")?.prepare({ path: "plain.txt" }, place);
    expect(prepared).toMatchObject({ effect: "read", subject: { path: join(at.ws, "plain.txt") } });
    const outside = await at.box.get("read")?.prepare({ path: join(at.base, "root-link/plain.txt") }, place);
    expect(outside).toMatchObject({ effect: "read" });
  });

  test.each([true, false])(
    "[TOOL-12] H19 searches show no line from outside or from home (ripgrep: %s)",
    async (program) => {
      await using at = scratch({
        change: (real) => (program ? real : { ...real, processes: { ...real.processes, ripgrep: async () => null } }),
      });
      withLinks(at);
      const found = await at.call("grep", { pattern: "SECRET|plain" });
      expect(found.text).toBe("plain.txt:1:plain");
      expect((await at.call("glob", { pattern: "**" })).text).toBe("plain.txt");
      const place = { ...at.place, cwd: at.base };
      const whole = await at.box.get("grep")?.prepare({ pattern: "SECRET" }, place);
      if (whole === undefined || "error" in whole) throw new Error("grep prepares");
      expect((await runPrepared(whole)).text.split("\n")).toEqual(["out/secret.txt:1:SECRET", "ws-evil/x:1:SECRET"]);
      const listed = await at.box.get("list")?.prepare({}, place);
      if (listed === undefined || "error" in listed) throw new Error("list prepares");
      expect((await runPrepared(listed)).text).not.toContain("home");
    },
  );

  test("[TOOL-13] H19 a directory swapped for a link after the check is not followed", async () => {
    await using at = scratch();
    const { out } = withLinks(at);
    at.file("swap/secret.txt", "mine\n");
    const calls = [
      await at.prepare("read", { path: "swap/secret.txt" }),
      await at.prepare("write", { path: "swap/a", content: "x" }),
      await at.prepare("edit", { path: "swap/secret.txt", oldText: "mine", newText: "x" }),
      await at.prepare("list", { path: "swap" }),
    ];
    renameSync(join(at.ws, "swap"), join(at.ws, "gone"));
    symlinkSync(out, join(at.ws, "swap"));
    for (const call of calls) {
      const outcome = await runPrepared(call);
      expect(outcome.isError).toBe(true);
      expect(outcome.text).not.toContain("SECRET");
    }
    expect(readdirSync(out)).toEqual(["secret.txt"]);
    expect(readFileSync(join(out, "secret.txt"), "utf8")).toBe("SECRET\n");
  });

  test("[TOOL-13] H19 a file swapped for a link after the check is not followed", async () => {
    await using at = scratch();
    const { out } = withLinks(at);
    const read = await at.prepare("read", { path: "plain.txt" });
    const edit = await at.prepare("edit", { path: "plain.txt", oldText: "plain", newText: "x" });
    renameSync(join(at.ws, "plain.txt"), join(at.ws, "moved.txt"));
    symlinkSync(join(out, "secret.txt"), join(at.ws, "plain.txt"));
    for (const call of [read, edit]) expect((await runPrepared(call)).text).not.toContain("SECRET\n");
    expect(readFileSync(join(out, "secret.txt"), "utf8")).toBe("SECRET\n");
    expect(readFileSync(join(at.ws, "moved.txt"), "utf8")).toBe("plain\n");
  });

  test.each([
    ["loop-a", /circle/],
    ["a\0b", /NUL/],
    ["plain.txt/below", /not a directory/],
  ])("[TOOL-14] %j is refused in words", async (path, words) => {
    await using at = scratch();
    withLinks(at);
    expect((await at.call("read", { path })).text).toMatch(words);
  });

  test("[TOOL-14] a vanished working directory is said, and later calls work", async () => {
    await using at = scratch();
    renameSync(at.ws, `${at.ws}-gone`);
    for (const [name, args] of [
      ["read", { path: "x" }],
      ["list", {}],
      ["bash", { command: "true" }],
    ] as const) {
      expect(await at.call(name, args)).toMatchObject({
        isError: true,
        text: expect.stringContaining("does not exist any more"),
      });
    }
    renameSync(`${at.ws}-gone`, at.ws);
    expect((await at.call("list", {})).text).toBe("⟨empty directory⟩");
  });
});

describe("resolveReal", () => {
  test.each([
    ["/", "/"],
    ["BASE/ws/inlink/..", "BASE/ws"],
    ["BASE/ws/outbox/..", "BASE"],
    ["BASE/ws/dang", "BASE/out/new"],
    ["BASE/ws/dang/x/../y", "BASE/out/new/y"],
    ["BASE/ws//sub///.", "BASE/ws/sub"],
    ["BASE/../../../../../../..", "/"],
  ])("[TOOL-10] %s resolves as the system would", async (path, real) => {
    await using at = scratch();
    withLinks(at);
    const files = nodeFiles(at.base);
    const resolved = await resolveReal(files, path.replace("BASE", at.base));
    expect(resolved.real).toBe(real.replace("BASE", at.base));
  });
});

describe("commands that name the home", () => {
  const at = { home: "/home/me/.varve", cwd: "/home/me/work", userHome: "/home/me" };
  const files = { ...nodeFiles("/tmp"), userHome: at.userHome, facts: async () => null };
  const place = { tabId: scratchTab(), cwd: at.cwd, home: at.home, hiddenEnv: [] };
  function scratchTab() {
    return "tab" as unknown as Scratch["place"]["tabId"]; // A made-up tab: nothing here looks at it.
  }

  test.each([
    ["cat /home/me/.varve/token", true],
    ["cat ~/.varve/token", true],
    ["cat $HOME/.varve/token", true],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's variable.
    ['cat "${HOME}"/.varve/varve.db', true],
    ["cat $VARVE_HOME/token", true],
    ["cat ../.varve/token", true],
    ["cd ~ && cat .varve/token", true],
    ["cat '/home/me'/.var''ve/token", true],
    ["cat /home/me/.\\varve/token", true],
    ["tar c /home/me/.varve", true],
    ["cat ~/.v*/key", true],
    ["cat $HOME/.varv?", true],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's variable.
    ["cat ${HOME}/.va[qr]ve/token", true],
    ["tar c /home/*/.varve", true],
    ["cat /*/*/.v*/varve.db", true],
    ["cat ~me/.{varve,ssh}/token", true],
    ["ls ~/{.varve,x}", true],
    ["cat ../.v*/key", true],
    ["cd ..; cat .v*/key", true],
    ["cd ~ && cp -r .* /tmp/x", true],
    ["shopt -s dotglob; cat ~/*/key", true],
    ["cat ~/**/key", false],
    ["cat ~/*/key", false],
    ["ls *", false],
    ["git add .*", false],
    ["rm -rf /tmp/.v*", false],
    ["ls ~/.w*", false],
    ["cd src && ls *.ts", false],
    ["awk '{print $1}' x.txt", false],
    ["cat .varve.bak", false],
    ["cat /home/me/.varved/x", false],
    ["echo varve", false],
    ["npm test", false],
  ])("[TOOL-15] %s", async (command, named) => {
    expect(await namesHome(files, place, command)).toBe(named);
  });

  test("[TOOL-15] such a command is marked, others are not", async () => {
    await using real = scratch();
    expect((await real.prepare("bash", { command: `ls ${real.place.home}` })).namesHome).toBe(true);
    expect((await real.prepare("bash", { command: "ls" })).namesHome).toBeUndefined();
  });
});
