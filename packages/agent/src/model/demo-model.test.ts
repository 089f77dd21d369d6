import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { memoryLog } from "@varve/log";
import { noTurn, parseTabId, type StoredRow } from "@varve/protocol";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { createFolder, makePrefixData } from "@varve/wire";
import { describe, expect, test } from "vitest";
import { rowMaker } from "../new-rows.ts";
import { decide } from "../permission/decide.ts";
import type { PermissionContext } from "../permission/decide-contract.ts";
import { PlainTab } from "../testing/plain-owner.ts";
import { unlimited, wordsOf } from "../testing/world.ts";
import { nodeOperations } from "../tools/node-operations.ts";
import { createToolBox } from "../tools/toolbox.ts";
import { isKind } from "../turn-rows.ts";
import { createModelRegistry } from "./registry.ts";

const project = {
  "package.json": '{\n  "name": "scratch",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
  "README.md": "# Scratch\n\nA small project.\n\n## Use\n\nRun it.\n",
  "src/price.js": [
    "/** Prices in cents. */",
    "export function totalPrice(items) {",
    "  // TODO: return items.reduce((sum, item) => sum + item.cents, 0)",
    "  return 0;",
    "}",
    "",
    'export const totalPriceLabel = (items) => totalPrice(items) + " ct";',
    "",
  ].join("\n"),
  "src/shop.js":
    'import { totalPrice } from "./price.js";\n\n// TODO: greet the customer by name\nexport const bill = (items) => totalPrice(items);\n',
  "test/price.test.js": [
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    'import { totalPrice } from "../src/price.js";',
    'test("adds up", () => assert.equal(totalPrice([{ cents: 2 }, { cents: 3 }]), 5));',
    "",
  ].join("\n"),
};

/** The demo model on the real loop with the real tools, in a project of its own. */
async function workshop(
  options: { readonly mode?: PermissionContext["mode"]; readonly files?: Record<string, string> } = {},
) {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "varve-demo-")));
  for (const [path, text] of Object.entries(options.files ?? project)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), text);
  }
  const clock = createFakeClock();
  const ids = createFakeIds();
  const tools = createToolBox(nodeOperations());
  const models = createModelRegistry({ env: {}, clock, fetch: globalThis.fetch, demoDelayMs: 0 });
  const tabId = parseTabId("tab-1") ?? expect.fail("a legal id");
  const log = memoryLog();
  const make = rowMaker({ clock, ids });
  const outside = { turnId: noTurn, step: 0 };
  const opening = () => [
    make.system(outside, makePrefixData({ system: ["SYS"], tools: tools.definitions })),
    make.system(outside, { kind: "model-changed", model: "demo/demo", effort: "default" }),
    make.system(outside, { kind: "note", topic: "environment", text: "Directory: x\nTODO: nothing here" }),
  ];
  const ports = {
    clock,
    ids,
    tools,
    place: { tabId, cwd, home: join(cwd, ".no-home"), hiddenEnv: [] },
    blobs: log.blobs,
    models,
    decide,
    permission: () => ({ mode: options.mode ?? ("allow" as const), rules: [] }),
    strict: true,
    folder: createFolder(),
    spending: () => unlimited(),
    autoCompact: () => ({ on: false, share: 0.8 }),
  };
  const before = async (rows: readonly StoredRow[]) => (rows.some((row) => isKind(row, "prefix")) ? [] : opening());
  const tab = await PlainTab.create({ log, clock, ids, ports, before });
  return {
    tab,
    cwd,
    file: (path: string) => readFile(join(cwd, path), "utf8"),
    /** Sends, waits for the end and gives the calls made and the last words. */
    async ask(text: string) {
      const from = tab.rows.length;
      await tab.send(text);
      await tab.idle();
      return told(tab.rows.slice(from));
    },
    async [Symbol.asyncDispose]() {
      await tools.close();
      await rm(cwd, { recursive: true, force: true });
    },
  };
}

function told(rows: readonly StoredRow[]) {
  const said = rows.flatMap((row) => (row.type === "text" && row.role === "assistant" ? [row.data.text] : []));
  return {
    calls: rows.flatMap((row) => (row.type === "tool_call" ? [row.data.name] : [])),
    errors: rows.flatMap((row) => (row.type === "tool_result" && row.data.isError ? [row.data.result] : [])),
    said,
    last: said.at(-1) ?? "",
    end: wordsOf(rows).at(-1),
  };
}

describe("tasks", () => {
  test("[DEMO-1] list the TODO comments and fix the first one: searched, read, edited, checked", async () => {
    await using place = await workshop();
    const answer = await place.ask("list the TODO comments in this project and fix the first one");
    expect(answer.calls).toEqual(["grep", "read", "edit", "bash"]);
    expect(answer.errors).toEqual([]);
    expect(answer.said.join("\n")).toContain("`src/shop.js:3`");
    expect(await place.file("src/price.js")).toContain("  return items.reduce((sum, item) => sum + item.cents, 0);\n}");
    expect(await place.file("src/price.js")).not.toContain("TODO");
    expect(answer.last).toContain("syntax is fine");
    expect(answer.end).toBe("end:done");
  });

  test("[DEMO-1] which todos are there: only listed, nothing is changed", async () => {
    await using place = await workshop();
    const answer = await place.ask("Which todos are left here?");
    expect(answer.calls).toEqual(["grep"]);
    expect(answer.last).toMatch(/2 TODO comments/);
    expect(await place.file("src/price.js")).toBe(project["src/price.js"]);
  });

  test("[DEMO-1] a comment that rules cannot carry out is marked, and that is said", async () => {
    await using place = await workshop({ files: { "a.py": "# TODO: make it faster\nx = 1\n" } });
    const answer = await place.ask("Please fix the first TODO");
    expect(answer.said.join("\n")).toContain("beyond plain rules");
    expect(await place.file("a.py")).toBe("# NOTE (looked at by the demo model): make it faster\nx = 1\n");
  });

  test.each(["where is totalPrice defined?", "Find all usages of `totalPrice`", "search for totalPrice please"])(
    "[DEMO-1] find: %s",
    async (task) => {
      await using place = await workshop();
      const answer = await place.ask(task);
      expect(answer.calls).toEqual(["grep"]);
      expect(answer.last).toContain("`src/price.js` at line 2");
      expect(answer.last).toContain("`src/shop.js:4`");
    },
  );

  test("[DEMO-1] something that is nowhere is said to be nowhere", async () => {
    await using place = await workshop();
    expect((await place.ask('where is "quantumFoam"?')).last).toContain(
      "Nothing in this directory holds `quantumFoam`",
    );
  });

  test.each<[string, string]>([
    ["What does src/price.js do?", "the function|function `totalPrice`"],
    ["explain price.js to me", "function `totalPrice`"],
    ["show me the README", "A small project|# Scratch"],
  ])("[DEMO-1] read: %s", async (task, expected) => {
    await using place = await workshop();
    const answer = await place.ask(task);
    expect(answer.calls.at(-1)).toBe("read");
    expect(answer.last).toMatch(new RegExp(expected));
  });

  test.each<[string, string, string]>([
    ['create a file notes/today.md with "buy milk"', "notes/today.md", "buy milk\n"],
    ["Write hello.txt containing: Hello there", "hello.txt", "Hello there\n"],
    ["Please make a new file conf.json with\n```json\n{}\n```", "conf.json", "{}\n"],
  ])("[DEMO-1] create: %s", async (task, path, content) => {
    await using place = await workshop();
    const answer = await place.ask(task);
    expect(answer.calls).toEqual(["write"]);
    expect(await place.file(path)).toBe(content);
  });

  test('[DEMO-1] edit: replace "A small project" with ...', async () => {
    await using place = await workshop();
    const answer = await place.ask('replace "A small project." with "A tiny project." in README.md');
    expect(answer.calls).toEqual(["read", "edit"]);
    expect(await place.file("README.md")).toContain("A tiny project.");
  });

  test("[DEMO-1] edit without a file: it is looked for", async () => {
    await using place = await workshop();
    const answer = await place.ask("Change 'Run it.' to 'Just run it.'");
    expect(answer.calls).toEqual(["grep", "read", "edit"]);
    expect(await place.file("README.md")).toContain("Just run it.");
  });

  test("[DEMO-1] rename across files: whole names only", async () => {
    await using place = await workshop();
    const answer = await place.ask("rename totalPrice to sumOf in all files");
    expect(answer.errors).toEqual([]);
    expect(await place.file("src/shop.js")).toContain("export const bill = (items) => sumOf(items);");
    expect(await place.file("src/price.js")).toContain(
      'export const totalPriceLabel = (items) => sumOf(items) + " ct";',
    );
    expect(await place.file("test/price.test.js")).not.toContain("totalPrice");
    expect(answer.last).toContain("no place is left");
  });

  test("[DEMO-1] run the tests: how is read from the project", async () => {
    await using place = await workshop();
    const answer = await place.ask("run the tests");
    expect(answer.calls).toEqual(["list", "read", "bash"]);
    expect(answer.last).toContain("tests **fail**");
    expect(answer.last).toContain("npm test");
  });

  test("[DEMO-1] why do the tests fail: run, then read where the output points", async () => {
    await using place = await workshop();
    const answer = await place.ask("Why do the tests fail?");
    expect(answer.calls).toEqual(["list", "read", "bash", "read"]);
    expect(answer.last).toContain("price.test.js");
    expect(answer.last).toMatch(/0 !== 5|expected: 5|actual: 0/);
  });

  test.each(["What files are here?", "list the files", "show me the structure of this project"])(
    "[DEMO-1] list: %s",
    async (task) => {
      await using place = await workshop();
      const answer = await place.ask(task);
      expect(answer.calls).toEqual(["list"]);
      expect(answer.last).toContain("package.json");
    },
  );
});

describe("honesty", () => {
  test.each(["Hello!", "Write me a poem about the sea", "What is the capital of France?"])(
    "[DEMO-2] on anything else it says what it is and what it can do: %s",
    async (task) => {
      await using place = await workshop();
      const answer = await place.ask(task);
      expect(answer.calls).toEqual([]);
      expect(answer.last).toContain("demo model");
      expect(answer.last).toContain("run the tests");
    },
  );

  test("[DEMO-2] every task begins with the words that it is a demo", async () => {
    await using place = await workshop();
    expect((await place.ask("run the tests")).said[0]).toContain("Demo model: plain rules, no AI");
  });

  test("[DEMO-3] a refused call ends its work with the reason, and nothing was changed", async () => {
    await using place = await workshop({ mode: "read" });
    const answer = await place.ask('create a file a.txt with "x"');
    expect(answer.errors).toHaveLength(1);
    expect(answer.last).toContain("did not go through");
    await expect(place.file("a.txt")).rejects.toThrow("ENOENT");
  });

  test("[DEMO-4] it asks before it writes or runs, and goes on once it may", async () => {
    await using place = await workshop({ mode: "ask" });
    const { tab } = place;
    await tab.send("list the TODO comments in this project and fix the first one");
    await tab.until(() => tab.questions().length === 1);
    expect(tab.questions()[0]?.data).toMatchObject({ subject: { tool: "edit" } });
    await tab.answer("once");
    await tab.until(() => tab.questions().length === 1);
    expect(tab.questions()[0]?.data).toMatchObject({ subject: { tool: "bash" } });
    await tab.answer("deny", "no shell please");
    await tab.idle();
    expect(told(tab.rows).last).toContain("is changed");
    expect(await place.file("src/price.js")).not.toContain("TODO");
  });
});

describe("steers", () => {
  test.each<[string, RegExp, readonly string[]]>([
    ["by the way, nice weather", /You said meanwhile: “by the way, nice weather”/, ["grep", "read", "edit", "bash"]],
    ["also tell me what files are here", /Now to what you asked meanwhile/, ["grep", "read", "edit", "bash", "list"]],
    ["stop, that is enough", /so I stop here/, ["grep", "read"]],
  ])("[DEMO-5] one sent in the middle is answered: %s", async (steer, expected, calls) => {
    await using place = await workshop();
    const { tab } = place;
    await tab.send("list the TODO comments in this project and fix the first one");
    await tab.until(() => tab.step === 1);
    await tab.send(steer, "steer");
    await tab.idle();
    const answer = told(tab.rows);
    expect(answer.said.join("\n")).toMatch(expected);
    expect(answer.calls).toEqual(calls);
    expect(answer.end).toBe("end:done");
  });

  test("[DEMO-5] continue takes up the task that was stopped", async () => {
    await using place = await workshop({ mode: "ask" });
    const { tab } = place;
    await tab.send("list the TODO comments in this project and fix the first one");
    await tab.until(() => tab.questions().length === 1);
    tab.stop();
    await tab.idle();
    const from = tab.rows.length;
    await tab.send("continue");
    await tab.until(() => tab.questions().length === 1 || tab.turnId === null);
    if (tab.turnId !== null) {
      await tab.answer("deny", "no");
      await tab.idle();
    }
    expect(told(tab.rows.slice(from)).said.join("\n")).not.toContain("run the tests");
  });
});
