import { afterEach, describe, expect, test } from "vitest";
import { layerProblems } from "./check-layers.mjs";
import { orderProblems } from "./check-order.mjs";
import { packageProblems } from "./check-packages.mjs";
import { purityProblems } from "./check-pure.mjs";
import { sizeProblems } from "./check-sizes.mjs";
import { specProblems } from "./check-spec.mjs";
import { bannedWordIn, readGlossary, wordProblems } from "./check-words.mjs";
import { cyclesOf } from "./lib/cycles.mjs";
import { tempFolder } from "./lib/temp-folder.mjs";

const folders = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});
function problemsOf(check, files) {
  const folder = tempFolder(files);
  folders.push(folder);
  return check(folder.path);
}

const manifest = (name, more = {}) => ({ name: `@varve/${name}`, exports: { ".": "./src/index.ts" }, ...more });
const ROOMS = {
  "package.json": { devDependencies: { vitest: "4" } },
  "packages/protocol/package.json": manifest("protocol", { dependencies: { zod: "4" } }),
  "packages/log/package.json": manifest("log"),
  "packages/server/package.json": manifest("server"),
  "packages/client/package.json": manifest("client"),
  "packages/web/package.json": manifest("web"),
  "packages/sim/package.json": manifest("sim"),
};

describe("layers", () => {
  test.each([
    ["an import to the left", "packages/log/src/a.ts", 'import { x } from "@varve/protocol";'],
    ["a test that uses the simulation", "packages/protocol/src/a.test.ts", 'import { x } from "@varve/sim";'],
    ["an end-to-end test of everything", "packages/web/src/a.e2e.test.ts", 'import { x } from "@varve/server";'],
    ["a declared package", "packages/protocol/src/a.ts", 'import { z } from "zod";'],
    ["a Node module in a Node room", "packages/log/src/a.ts", 'import { join } from "node:path";'],
    ["a suite that other rooms run", "packages/log/src/contract.ts", 'import { test } from "vitest";'],
  ])("%s is fine", (_name, path, text) => {
    expect(problemsOf(layerProblems, { ...ROOMS, [path]: text })).toEqual([]);
  });

  test.each([
    [
      "an import to the right",
      "packages/log/src/a.ts",
      'import { x } from "@varve/server";',
      "log must not import server",
    ],
    [
      "a type import to the right",
      "packages/log/src/a.ts",
      'import type { X } from "@varve/server";',
      "must not import",
    ],
    ["an export from the right", "packages/log/src/a.ts", 'export type { X } from "@varve/server";', "must not import"],
    ["a lazy import to the right", "packages/log/src/a.ts", 'const x = import("@varve/server");', "must not import"],
    [
      "a component's import",
      "packages/web/src/A.svelte",
      '<p/><script lang="ts">import "@varve/server";</script>',
      "must not",
    ],
    ["the simulation in the product", "packages/server/src/a.ts", 'import "@varve/sim";', "must not import sim"],
    ["a deep import", "packages/log/src/a.ts", 'import "@varve/protocol/src/row.ts";', "not among the exports"],
    ["a path into another room", "packages/log/src/a.ts", 'import "../../protocol/src/row.ts";', "leaves the package"],
    ["an unknown room", "packages/log/src/a.ts", 'import "@varve/nowhere";', "no package of this repository"],
    ["an undeclared package", "packages/log/src/a.ts", 'import "left-pad";', "not declared"],
    ["a development tool", "packages/web/src/a.ts", 'import { ref } from "vitest/node";', "only tests may import it"],
    ["a Node module in the browser", "packages/client/src/a.ts", 'import "node:fs";', "does not exist in a browser"],
  ])("%s is found", (_name, path, text, sentence) => {
    const problems = problemsOf(layerProblems, { ...ROOMS, [path]: text });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
    expect(problems[0]).toContain(path);
  });

  test("product code that imports what is there for tests only is found, tests may", () => {
    const files = {
      ...ROOMS,
      "packages/log/src/testing/rows.ts": "",
      "packages/log/src/suite.ts": 'import { test } from "vitest";',
      "packages/log/src/a.test.ts": 'import "./testing/rows.ts"; import "./suite.ts";',
    };
    expect(problemsOf(layerProblems, files)).toEqual([]);
    const text = 'import "./testing/rows.ts"; import "./suite.ts";';
    const problems = problemsOf(layerProblems, { ...files, "packages/log/src/a.ts": text });
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain("there for tests only");
  });

  test("a circle of type imports inside a room is found", () => {
    const problems = problemsOf(layerProblems, {
      ...ROOMS,
      "packages/log/src/a.ts": 'import type { B } from "./b.ts";',
      "packages/log/src/b.ts": 'import { c } from "./c.ts";',
      "packages/log/src/c.ts": 'import { a } from "./a.ts";',
    });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^import cycle: .*a\.ts.*b\.ts.*c\.ts/);
  });

  test("groups that reach each other, and nothing else, are cycles", () => {
    const edges = { a: ["b"], b: ["c", "d"], c: ["b"], d: ["e"], e: ["e"], f: ["a"] };
    const found = cyclesOf(new Map(Object.entries(edges))).map((group) => [...group].sort().join(""));
    expect(found.sort()).toEqual(["bc", "e"]);
  });
});

describe("rule book", () => {
  const index = { "docs/SPEC.md": "spec/log.md" };
  const rule = (line) => ({ ...index, "docs/spec/log.md": `# Log\n\n${line}\n` });
  const titled = (title) => ({ "packages/log/src/a.test.ts": `test("${title}", () => {});` });

  test.each([
    ["tested", { ...rule("- **LOG-1** True. *Held by:* test"), ...titled("[LOG-1] true") }],
    ["tested with another", { ...rule("- **LOG-1** True. *Held by:* test"), ...titled("[LOG-1, LOG-1] true") }],
    ["held by a type", rule("- **LOG-1** True. *Held by:* type `Row`")],
    [
      "held by code, over two lines",
      { ...rule("- **LOG-1** True.\n  *Held by:* code: `packages/log/src/b.ts`"), "packages/log/src/b.ts": "" },
    ],
  ])("a rule %s is fine", (_name, files) => expect(problemsOf(specProblems, files)).toEqual([]));

  test.each([
    ["a rule without a test", rule("- **LOG-1** True. *Held by:* test"), "LOG-1 has no test"],
    ["a rule held by nothing", { ...rule("- **LOG-1** True."), ...titled("[LOG-1] true") }, "does not say"],
    ["an id without a rule", { ...index, "docs/spec/log.md": "", ...titled("[LOG-2] true") }, "no rule in docs/spec"],
    ["an id given twice", rule("- **LOG-1** A. *Held by:* type `A`\n- **LOG-1** B. *Held by:* type `B`"), "stands at"],
    ["code that is not there", rule("- **LOG-1** A. *Held by:* code: `packages/log/src/x.ts`"), "does not exist"],
    ["a file that the index misses", { "docs/SPEC.md": "", "docs/spec/log.md": "" }, "does not name docs/spec/log.md"],
  ])("%s is found", (_name, files, sentence) => {
    const problems = problemsOf(specProblems, files);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });
});

describe("words", () => {
  const glossary = { "docs/GLOSSARY.md": "```banned\nsession\nchat\n```\n```exempt\nsign in session # ours\n```\n" };

  test.each([
    ["a type", "packages/log/src/a.ts", "export type LogSession = 1;", "LogSession"],
    ["a class", "packages/log/src/a.ts", "export class Sessions {}", "Sessions"],
    ["a file", "packages/log/src/chat-log.ts", "", "chat-log"],
    ["a folder", "packages/log/src/chat/a.ts", "", "chat"],
    ["an event's type", "packages/log/src/a.ts", 'type A = { readonly type: "session-start" };', "session-start"],
    ["an operation in a schema", "packages/log/src/a.ts", 'const a = { op: z.literal("chat-open") };', "chat-open"],
  ])("%s with a banned word is found", (_name, path, text, word) => {
    const problems = problemsOf(wordProblems, { ...glossary, [path]: text });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`"${word}"`);
  });

  test("inner names, exempted phrases and words that only contain a banned one are fine", () => {
    const text = 'type Session = 1; export type SignInSessionRow = 1; export type Obsession = { kind: "session" };';
    expect(problemsOf(wordProblems, { ...glossary, "packages/log/src/a.ts": text })).toEqual([]);
  });

  test("more than fifteen words, or none, is a mistake of the glossary", () => {
    const words = Array.from({ length: 16 }, (_, at) => `word${"abcdefghijklmnop"[at]}`).join("\n");
    expect(problemsOf(wordProblems, { "docs/GLOSSARY.md": `\`\`\`banned\n${words}\n\`\`\`` })[0]).toContain(
      "at most 15",
    );
    expect(problemsOf(wordProblems, {})[0]).toContain("no list");
  });

  test("this repository's glossary can be read", () => {
    const { banned, exempt, problems } = readGlossary();
    expect(problems).toEqual([]);
    expect(banned).toContain("session");
    expect(bannedWordIn("signInSessions", banned, exempt)).toBe("sessions");
    expect(bannedWordIn("SignInSession", banned, exempt)).toBeUndefined();
    expect(bannedWordIn("openai-chat", banned, exempt)).toBeUndefined();
  });
});

describe("sizes", () => {
  const lines = (count) => "// line\n".repeat(count);
  const longFunction = `export function long() {\n${lines(69)}}\n`;

  test.each([
    ["a file at the limit", "packages/log/src/a.ts", lines(500), []],
    ["a file over it", "packages/log/src/a.ts", lines(501), ["packages/log/src/a.ts: 501 lines, at most 500"]],
    ["a test may be longer", "packages/log/src/a.test.ts", lines(800), []],
    [
      "a test over its limit",
      "packages/log/src/a.test.ts",
      lines(801),
      ["packages/log/src/a.test.ts: 801 lines, at most 800"],
    ],
    [
      "a long function",
      "packages/log/src/a.ts",
      longFunction,
      ["packages/log/src/a.ts:1: long has 71 lines, at most 70"],
    ],
    ["a long function in a test", "packages/log/src/a.test.ts", longFunction, []],
  ])("%s", (_name, path, text, expected) => expect(problemsOf(sizeProblems, { [path]: text })).toEqual(expected));
});

describe("order", () => {
  test.each([
    ["<", "a.chunkId < b.chunkId", "chunkId"],
    [">= on a time", "row.createdAt >= other", "createdAt"],
    ["localeCompare", "a.id.localeCompare(b.id)", "id"],
    ["a bare sort", "ids.sort()", "ids"],
    ["a sort by time", "rows.toSorted((a, b) => a.createdAt - b.createdAt)", "createdAt"],
    ["SQL", '"SELECT id FROM tabs ORDER BY created_at"', "created_at"],
  ])("%s is found", (_name, text, name) => {
    const problems = problemsOf(orderProblems, { "packages/log/src/a.ts": `const x = ${text};` });
    expect(problems).toEqual([`packages/log/src/a.ts:1: orders by ${name}; ids and clocks are never order`]);
  });

  test.each([
    ["equality", "packages/log/src/a.ts", "a.id === b.id"],
    ["a name that people choose", "packages/log/src/a.ts", "a.keyId < b.keyId"],
    ["seq", "packages/log/src/a.ts", "rows.sort((a, b) => a.seq - b.seq)"],
    ["widths and other words that end alike", "packages/log/src/a.ts", "grid < valid"],
    ["SQL by seq", "packages/log/src/a.ts", '"SELECT id FROM chunks WHERE id = ? ORDER BY log_id, seq"'],
    ["the total order itself", "packages/protocol/src/order.ts", "a.id < b.id"],
  ])("%s is fine", (_name, path, text) => {
    expect(problemsOf(orderProblems, { [path]: `const x = ${text};` })).toEqual([]);
  });
});

describe("purity", () => {
  test.each([
    ["a clock", "packages/protocol/src/a.ts", "const x = Date.now();", "Date.now"],
    ["a clock by its constructor", "packages/wire/src/a.ts", "const x = new Date();", "new Date()"],
    ["a clock handed on", "packages/client/src/a.ts", "const x = { now: Date.now };", "Date.now"],
    ["a timer", "packages/agent/src/loop.ts", "setTimeout(() => {}, 1);", "setTimeout"],
    ["a timer handed on", "packages/agent/src/loop.ts", "start({ setTimeout });", "setTimeout"],
    ["a timer of the global object", "packages/client/src/a.ts", "globalThis.setTimeout(f, 1);", "setTimeout"],
    ["chance in the actor", "packages/server/src/tab-actor.ts", "const x = Math.random();", "Math.random"],
    ["the disk", "packages/wire/src/a.ts", 'import { readFileSync } from "node:fs";', "node:fs"],
    ["the network", "packages/client/src/a.ts", "const x = fetch(url);", "fetch"],
  ])("%s is found", (_name, path, text, name) => {
    expect(problemsOf(purityProblems, { [path]: text })).toEqual([`${path}:1: ${name} must be passed in here`]);
  });

  test.each([
    ["a clock that is passed in", "packages/protocol/src/a.ts", "const x = (clock) => clock.now();"],
    ["a date of a given time", "packages/protocol/src/a.ts", "const x = new Date(0);"],
    ["a parameter of that name", "packages/client/src/a.ts", "function f({ fetch }) { return fetch(1); }"],
    ["a port's member of that name", "packages/client/src/a.ts", "interface P { fetch(url: string): void }"],
    ["a type of that name", "packages/client/src/a.ts", "type F = typeof fetch;"],
    ["the rim", "packages/agent/src/rim/clock.ts", "const x = Date.now();"],
    ["an adapter", "packages/client/src/adapters/http.ts", "const x = fetch(url);"],
    ["a room at the rim", "packages/server/src/main.ts", "const x = Date.now();"],
    ["a test", "packages/wire/src/a.test.ts", "const x = Date.now();"],
  ])("%s is fine", (_name, path, text) => expect(problemsOf(purityProblems, { [path]: text })).toEqual([]));
});

describe("packages", () => {
  const lock = (dependencies, more = {}) => ({ packages: { "packages/log": { dependencies }, ...more } });
  const files = (version, packageLock) => ({
    "packages/log/package.json": { dependencies: { zod: version } },
    "package-lock.json": packageLock,
  });

  test("exact versions with a lock that fits are fine, an alias too", () => {
    expect(problemsOf(packageProblems, files("4.6.7", lock({ zod: "4.6.7" })))).toEqual([]);
    expect(problemsOf(packageProblems, files("npm:zod@4.6.7", lock({ zod: "npm:zod@4.6.7" })))).toEqual([]);
  });

  test.each([
    ["a range", files("^4.6.7", lock({ zod: "^4.6.7" })), "not pinned exactly"],
    ["a tag", files("latest", lock({ zod: "latest" })), "not pinned exactly"],
    ["a lock that lags", files("4.6.7", lock({ zod: "4.6.6" })), "changed since it was made"],
    [
      "a host in the lock",
      files("4.6.7", lock({ zod: "4.6.7" }, { "node_modules/zod": { resolved: "https://packages.invalid/zod.tgz" } })),
      "names the host",
    ],
  ])("%s is found", (_name, tree, sentence) => {
    const problems = problemsOf(packageProblems, tree);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });
});
