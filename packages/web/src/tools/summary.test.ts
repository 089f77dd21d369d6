import { describe, expect, test } from "vitest";
import {
  type CallFacts,
  type CallState,
  callState,
  durationText,
  plainSummary,
  shortPath,
  summarise,
} from "./summary.ts";

const line = (name: string, part: Partial<CallFacts>): string =>
  plainSummary(summarise({ name, args: {}, details: {}, state: "done", cwd: "/w", tookMs: null, ...part }));

describe("a line that says what a call did", () => {
  test.each<[string, string, Partial<CallFacts>]>([
    ["Edited src/a.ts: +3 −1", "edit", { args: { path: "/w/src/a.ts" }, details: { summary: "+3 −1", added: 3 } }],
    ["Patched 2 files: +5 −2", "patch", { details: { summary: "+5 −2", files: ["a.ts", "b.ts"] } }],
    ["Patched a.ts: +1 −1", "patch", { details: { summary: "+1 −1", path: "a.ts", files: ["a.ts"] } }],
    ["Patching files", "patch", { state: "running" }],
    ["Wrote b.ts: +9 −0", "write", { args: { path: "b.ts" }, details: { added: 9 } }],
    [
      "Ran npm test: exit 1, 41 s",
      "bash",
      { args: { command: "npm test" }, details: { summary: "exit 1" }, state: "failed", tookMs: 41_000 },
    ],
    ["Ran npm test: exit 0", "bash", { args: { command: "npm test" }, details: { exitCode: 0 }, tookMs: 200 }],
    [
      "Ran npm test: exit 0",
      "bash",
      { args: { command: "npm test", background: true }, details: { exitCode: 0 }, tookMs: 9000 },
    ],
    [
      "Ran npm test: continues as job 2",
      "bash",
      { args: { command: "npm test" }, details: { summary: "job 2: running", job: "2" }, tookMs: 9000 },
    ],
    ["Ran x: failed, 3 s", "bash", { args: { command: "x" }, state: "failed", tookMs: 3000 }],
    ["Running npm test", "bash", { args: { command: "npm test" }, state: "running", details: { summary: "x" } }],
    ["Wants to run npm test", "bash", { args: { command: "npm test" }, state: "waiting" }],
    ["Wanted to run rm -rf /: denied", "bash", { args: { command: "rm -rf /" }, state: "denied" }],
    [
      "Searched for TODO: 4 matches in 2 files",
      "grep",
      { args: { pattern: "TODO" }, details: { summary: "4 matches in 2 files" } },
    ],
    ["Searched for TODO: 1 match", "grep", { args: { pattern: "TODO" }, details: { matches: 1 } }],
    ["Searched for TODO: 0 matches", "grep", { args: { pattern: "TODO" }, details: { matches: 0 } }],
    ["Looked for *.ts: 2 files", "glob", { args: { pattern: "*.ts" }, details: { summary: "2 files" } }],
    ["Read a.ts: 48 lines", "read", { args: { path: "/w/a.ts" }, details: { summary: "48 lines" } }],
    ["Read /etc/hosts: failed", "read", { args: { path: "/etc/hosts" }, state: "failed" }],
    ["Listed .: 7 entries", "list", { details: { summary: "7 entries" } }],
    [
      "Fetched https://a.example/: 200, 9 bytes",
      "fetch",
      { args: { url: "https://a.example/" }, details: { summary: "200, 9 bytes" } },
    ],
    ["Updated the task list: 1 of 2 done", "todo", { details: { summary: "1 of 2 done" } }],
    [
      "Job wait j1: job j1: ended",
      "job",
      { args: { action: "wait", id: "j1" }, details: { summary: "job j1: ended" } },
    ],
    ["Asking you Which one?", "ask", { args: { question: "Which one?" }, state: "waiting" }],
    ["Used deploy", "deploy", {}],
    ["Used deploy a.txt: all out", "deploy", { args: { path: "/w/a.txt" }, details: { summary: "all out" } }],
  ])("%s", (expected, name, part) => {
    expect(line(name, part)).toBe(expected);
  });

  test("a command over many lines is one line, and a long one is cut", () => {
    expect(line("bash", { args: { command: "a \\\n  b" } })).toBe("Ran a \\ b");
    expect(line("bash", { args: { command: "x".repeat(500) } }).length).toBeLessThan(170);
  });

  test("values of the wrong type are left out", () => {
    expect(line("edit", { args: { path: 7 }, details: { added: "3", matches: null, exitCode: Number.NaN } })).toBe(
      "Edited",
    );
  });
});

describe("the state of a call", () => {
  const none = { result: null, asked: false, denied: false, turnOpen: true };
  test.each<[CallState, Partial<typeof none>]>([
    ["running", {}],
    ["waiting", { asked: true }],
    ["denied", { denied: true, asked: false }],
    ["failed", { turnOpen: false }],
  ])("%s without a result", (expected, part) => {
    expect(callState({ ...none, ...part })).toBe(expected);
  });
});

test.each([
  [400, "under 1 s"],
  [41_000, "41 s"],
  [120_000, "2 min"],
  [125_000, "2 min 5 s"],
  [3_720_000, "1 h 2 min"],
])("%d ms is %s", (ms, expected) => {
  expect(durationText(ms)).toBe(expected);
});

test.each([
  ["/w/a", "/w", "a"],
  ["/w", "/w", "."],
  ["/w2/a", "/w", "/w2/a"],
  ["/a", "/", "a"],
  ["rel", "/w", "rel"],
])("%s seen from %s is %s", (path, cwd, expected) => {
  expect(shortPath(path, cwd)).toBe(expected);
});
