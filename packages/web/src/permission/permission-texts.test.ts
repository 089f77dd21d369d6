import type { PermissionSubject, TabOptions } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { chunkId } from "../dev/fake-rows.ts";
import { wordsOf } from "../settings/setting-words.ts";
import { permissionAnswerText } from "./answer-words.ts";
import { lastingWords, networkWord, permissionTitle, sandboxWord } from "./card-words.ts";
import { askedText, grantTexts, ruleGroups, verdictText } from "./log-words.ts";
import type { RuleInForce } from "./permission-calls.ts";
import { machineText, reachBadges, type SandboxFacts } from "./reach-words.ts";

const subject = (part: Partial<PermissionSubject>): PermissionSubject => ({ tool: "bash", key: "k", ...part });

describe("the card", () => {
  test.each([
    ["bash", "May it run this command?"],
    ["patch", "May it change these files?"],
    ["o\u202eps", "May it use the tool “o⟨U+202E⟩ps”?"],
  ])("asks about %j", (tool, title) => {
    expect(permissionTitle(subject({ tool }))).toBe(title);
  });

  const command = "ls";
  test.each<[string, Partial<PermissionSubject>, Pick<TabOptions, "sandbox" | "network">, string | null, boolean]>([
    ["what is no command", { path: "/x" }, { sandbox: "on" }, null, false],
    ["no sandbox", { command }, {}, "whatever your user can", false],
    ["no sandbox though asked for", { command, sandboxed: false }, { sandbox: "on" }, "although this tab asks", true],
    ["an old question in a tab with one", { command }, { sandbox: "on" }, "although this tab asks", true],
    ["a sandbox", { command, sandboxed: true }, { sandbox: "on" }, "no network", false],
    [
      "one with hosts",
      { command, sandboxed: true },
      { sandbox: "on", network: ["a.example"] },
      "only to a.example",
      false,
    ],
  ])("says of %s where it runs", (_, part, options, said, warns) => {
    const word = sandboxWord(subject(part), options);
    if (said === null) expect(word).toBeNull();
    else expect(word).toEqual({ text: expect.stringContaining(said), warns });
  });

  test("names the network, and a directory's hidden characters", () => {
    expect(networkWord(["*"])).toBe("the whole network");
    expect(networkWord(["a\u202e"])).toContain("a⟨U+202E⟩");
    expect(lastingWords("/w\u200bork")).toContain("every tab in /w⟨U+200B⟩ork.");
  });
});

describe("an answer", () => {
  const none = { reason: null, rules: [] };
  test.each([
    [{ ...none, verdict: "once" }, "Allowed once."],
    [{ ...none, verdict: "tab" }, "Allowed in this tab, exactly this."],
    [
      { ...none, verdict: "tab", rules: ["bash: a", "bash: b\u202e"] },
      "Allowed in this tab from now on: bash: a, bash: b⟨U+202E⟩",
    ],
    [{ ...none, verdict: "project", rules: ["bash: a"] }, "Allowed in this project from now on: bash: a"],
    [{ ...none, verdict: "deny" }, "Denied."],
    [{ ...none, verdict: "deny", reason: "no" }, "Denied: no"],
  ] as const)("%j is %j", (answer, text) => {
    expect(permissionAnswerText(answer)).toBe(text);
  });

  test("that was never given is no allowance", () => {
    expect(verdictText({ answer: null })).toBe("Not answered.");
    expect(verdictText({ answer: { at: 1, verdict: "deny", by: "me", reason: "no" } })).toBe("Denied: no");
  });
});

describe("rules", () => {
  const rule = (source: RuleInForce["source"], text: string): RuleInForce => ({ action: "ask", rule: text, source });

  test("stand by their source, the farthest first, and where they are kept", () => {
    const rules = [rule("workspace", "w"), rule("project", "p"), rule("workspace", "v")];
    const groups = ruleGroups({ rules, root: "/r", projectPath: "/home/p.json" });
    expect(groups.map(({ source, path, rules: of }) => [source, path, of.map((one) => one.rule)])).toEqual([
      ["project", "/home/p.json, for /r", ["p"]],
      ["workspace", "/r/.varve/permissions.json", ["w", "v"]],
    ]);
  });

  test("an exact answer is told as what it allows", () => {
    const grant = { askId: chunkId("q"), at: 1, by: "me" };
    expect(grantTexts({ ...grant, rules: ["bash: a"], exact: { tool: "bash", key: "a && b" } })).toEqual(["bash: a"]);
    expect(grantTexts({ ...grant, rules: [], exact: { tool: "bash", key: "a && b" } })).toEqual(["bash: a && b"]);
    expect(grantTexts({ ...grant, rules: [] })).toEqual([]);
  });

  test("what was asked is shown as what would have run", () => {
    expect(askedText(subject({ command: "ls \u202e" }))).toBe("ls ⟨U+202E⟩");
    expect(askedText(subject({ path: "/p" }))).toBe("/p");
    expect(askedText(subject({ url: "https://a/" }))).toBe("https://a/");
    expect(askedText(subject({}))).toBe("k");
  });
});

describe("a tab's head", () => {
  const has: SandboxFacts = { available: true };
  const lacks: SandboxFacts = { available: false, reason: "bwrap is not installed." };
  test.each<[string, Parameters<typeof reachBadges>[0], SandboxFacts | null, readonly string[]]>([
    ["asks first", { permissions: "ask", options: {} }, lacks, []],
    ["never asks", { permissions: "allow", options: {} }, has, ["never asks"]],
    ["a sandbox that is there", { permissions: "ask", options: { sandbox: "on" } }, has, []],
    ["one that nobody knows of", { permissions: "ask", options: { sandbox: "on" } }, null, []],
    ["one that is missing", { permissions: "ask", options: { sandbox: "on" } }, lacks, ["not sandboxed"]],
    [
      "one that is required",
      { permissions: "allow", options: { sandbox: "required" } },
      lacks,
      ["never asks", "no sandbox"],
    ],
  ])("with %s says so", (_, tab, facts, texts) => {
    expect(reachBadges(tab, facts).map((badge) => badge.text)).toEqual(texts);
  });

  test("why this machine has no sandbox is said", () => {
    expect(machineText(lacks)).toBe("This machine has no sandbox. bwrap is not installed.");
    expect(machineText({ available: false })).toBe("This machine has no sandbox.");
    expect(machineText(null)).toContain("not known");
  });
});

test("a setting that a server does not have is no empty list", () => {
  expect(wordsOf(undefined)).toBeNull();
  expect(wordsOf("x")).toBeNull();
  expect(wordsOf(null)).toEqual([]);
  expect(wordsOf(["a", 1, "b"])).toEqual(["a", "b"]);
});
