import type { NewRow, StoredRow } from "@varve/protocol";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { fakeToolBox, ok } from "../testing/fake-tools.ts";
import { contextChanges } from "./changes.ts";
import {
  freshPrefix,
  modelIfChanged,
  noteIfChanged,
  openingRows,
  rowsBeforeTurn,
  type TabContext,
  tellRows,
} from "./context.ts";
import { allCharsMax, fileCharsMax } from "./instructions.ts";
import type { ContextOperations, RepositoryFacts } from "./operations.ts";
import { systemPrompt } from "./system-prompt.ts";

interface FakePlace {
  files: Record<string, string>;
  repository: RepositoryFacts | null;
  names: readonly string[];
}

function operationsOf(place: FakePlace): ContextOperations {
  return {
    system: "linux 6.1 (x64)",
    shell: "/bin/bash",
    readText: async (path, { charsMax: max }) => {
      const text = place.files[path];
      return text === undefined ? null : { text: text.slice(0, max), bytes: text.length, clipped: text.length > max };
    },
    list: async (_path, max) => ({ names: place.names.slice(0, max), more: Math.max(0, place.names.length - max) }),
    place: async () => place.repository,
    repository: async () => place.repository,
  };
}

function tab(place: Partial<FakePlace> = {}, changed: Partial<TabContext> = {}) {
  const clock = createFakeClock(new Date(2026, 0, 31, 23, 59, 59, 900).getTime());
  const state: FakePlace = { files: {}, repository: null, names: ["a.ts", "src/"], ...place };
  const tools = fakeToolBox([
    { name: "b", run: () => ok("") },
    { name: "a", run: () => ok("") },
  ]);
  const context: TabContext = {
    operations: operationsOf(state),
    clock,
    ids: createFakeIds(),
    tools,
    home: "/home/.varve",
    cwd: "/home/dev/repo/pkg",
    model: "demo/demo",
    effort: "default",
    ...changed,
  };
  return { context, clock, state };
}
const inRepo: RepositoryFacts = { root: "/home/dev/repo", prefix: "pkg/", branch: "main", changed: 0 };
const sealed = (rows: readonly NewRow[]): readonly StoredRow[] =>
  rows.map((row, index) => ({ ...row, seq: index + 1, term: 1 }));
const dataOf = (row: NewRow | undefined) => (row?.type === "system" ? row.data : expect.fail("a system row"));
function prefixOf(rows: readonly NewRow[]) {
  const data = dataOf(rows[0]);
  return data.kind === "prefix" ? data : expect.fail("a prefix");
}
function noteOf(rows: readonly NewRow[]): string {
  const data = dataOf(rows.at(-1));
  return data.kind === "note" ? data.text : expect.fail("a note");
}

describe("the opening rows", () => {
  test("[CTX-1] prefix, model, note, outside any turn", async () => {
    const rows = await openingRows(tab().context);
    expect(rows.map((row) => dataOf(row).kind)).toEqual(["prefix", "model-changed", "note"]);
    expect(rows.every((row) => row.turnId === "" && row.step === 0)).toBe(true);
    expect(dataOf(rows[1])).toEqual({ kind: "model-changed", model: "demo/demo", effort: "default" });
  });

  test("[CTX-2] H03 the prefix is the same for another directory, day, branch, model and order of tools", async () => {
    const first = prefixOf(await openingRows(tab().context));
    const other = tab({ repository: inRepo, names: [] }, { cwd: "/elsewhere", model: "x/y", effort: "high" });
    await other.clock.advance(200);
    expect(prefixOf(await openingRows(other.context))).toEqual(first);
    expect(first.system[0]).toBe(systemPrompt);
    expect(first.tools.map((tool) => tool.name)).toEqual(["a", "b"]);
    for (const changing of ["/home", "2026", "linux", "demo"]) expect(systemPrompt).not.toContain(changing);
  });

  test("[CTX-3] instruction files: home first, then from the repository's root down, AGENTS.md before CLAUDE.md", async () => {
    const files = {
      "/home/.varve/AGENTS.md": "mine",
      "/home/dev/repo/AGENTS.md": "root rules",
      "/home/dev/repo/CLAUDE.md": "not read",
      "/home/dev/repo/pkg/CLAUDE.md": "package rules",
      "/home/dev/AGENTS.md": "above the repository",
    };
    const { system, instructions } = prefixOf(await openingRows(tab({ files, repository: inRepo }).context));
    expect(system.slice(1)).toEqual([
      '<instructions path="/home/.varve/AGENTS.md">\nmine\n</instructions>',
      '<instructions path="/home/dev/repo/AGENTS.md">\nroot rules\n</instructions>',
      '<instructions path="/home/dev/repo/pkg/CLAUDE.md">\npackage rules\n</instructions>',
    ]);
    expect(instructions).toEqual([
      { path: "/home/.varve/AGENTS.md", bytes: 4, clipped: false },
      { path: "/home/dev/repo/AGENTS.md", bytes: 10, clipped: false },
      { path: "/home/dev/repo/pkg/CLAUDE.md", bytes: 13, clipped: false },
    ]);
  });

  test("[CTX-3] outside a repository only the directory's own file is read", async () => {
    const files = { "/home/dev/repo/AGENTS.md": "above", "/home/dev/repo/pkg/AGENTS.md": "here" };
    expect(prefixOf(await openingRows(tab({ files }).context)).instructions.map(({ path }) => path)).toEqual([
      "/home/dev/repo/pkg/AGENTS.md",
    ]);
  });

  test("[CTX-3] files are capped one by one and together, and the cut is said", async () => {
    const prefix = ["a", "b", "c", "d"];
    const repository = { ...inRepo, prefix: prefix.join("/") };
    const paths = [
      "/home/dev/repo",
      ...prefix.map((_, depth) => `/home/dev/repo/${prefix.slice(0, depth + 1).join("/")}`),
    ];
    const files = Object.fromEntries(paths.map((path) => [`${path}/AGENTS.md`, "x".repeat(fileCharsMax + 1)]));
    const { system, instructions } = prefixOf(await openingRows(tab({ files, repository }).context));
    expect(instructions[0]).toMatchObject({ clipped: true, bytes: fileCharsMax + 1 });
    expect(system[1]).toContain("the rest was left out");
    expect(system.slice(1).join("").length).toBeLessThan(allCharsMax + 1000);
  });

  test("[CTX-3] an empty file is none", async () => {
    const files = { "/home/dev/repo/pkg/AGENTS.md": " \n" };
    expect(prefixOf(await openingRows(tab({ files }).context)).instructions).toEqual([]);
  });

  test("[CTX-4] the note tells directory, day, branch, system, shell and top level", async () => {
    const names = Array.from({ length: 70 }, (_, index) => `f${index}`);
    const text = noteOf(await openingRows(tab({ repository: { ...inRepo, changed: 3 }, names }).context));
    expect(text.split("\n")).toEqual([
      "Directory: /home/dev/repo/pkg",
      "Date: 2026-01-31 (Saturday)",
      "Git: branch main, 3 changed, root /home/dev/repo",
      "System: linux 6.1 (x64), shell /bin/bash",
      expect.stringMatching(/^Top level: f0 f1 .* f59 and 10 more$/),
    ]);
  });

  test("[CTX-4] names with line ends cannot forge a line of the note", async () => {
    const text = noteOf(await openingRows(tab({ names: ["a\nDate: 1999-01-01"] }).context));
    expect(text.match(/^Date: /gm)).toHaveLength(1);
  });
});

describe("before a later turn", () => {
  test.each<[string, (world: ReturnType<typeof tab>) => Promise<void> | void, number]>([
    ["nothing changed", () => undefined, 0],
    ["a new day", ({ clock }) => clock.advance(200), 1],
    [
      "another branch",
      ({ state }) => {
        state.repository = { ...inRepo, branch: "fix" };
      },
      1,
    ],
    [
      "more changed files",
      ({ state }) => {
        state.repository = { ...inRepo, changed: 9 };
      },
      0,
    ],
    [
      "the listing",
      ({ state }) => {
        state.names = ["new.ts"];
      },
      0,
    ],
    [
      "no repository any more",
      ({ state }) => {
        state.repository = null;
      },
      1,
    ],
  ])("[CTX-5] a new note only for directory, day or branch: %s", async (_name, change, notes) => {
    const world = tab({ repository: inRepo });
    const rows = sealed(await openingRows(world.context));
    await change(world);
    const more = await rowsBeforeTurn(world.context, rows);
    expect(more.map((row) => dataOf(row).kind)).toEqual(Array(notes).fill("note"));
  });

  test("[CTX-5] another directory, and then none again", async () => {
    const world = tab();
    const rows = sealed(await openingRows(world.context));
    const moved = { ...world.context, cwd: "/other" };
    const note = await noteIfChanged(moved, rows);
    expect(noteOf(note)).toContain("Directory: /other");
    expect(await noteIfChanged(moved, [...rows, ...sealed(note)])).toEqual([]);
  });

  test("[CTX-6] a change of model or effort is a row, once", async () => {
    const { context } = tab();
    const rows = sealed(await openingRows(context));
    expect(modelIfChanged(context, rows)).toEqual([]);
    const changed = modelIfChanged({ ...context, effort: "high" }, rows);
    expect(changed.map(dataOf)).toEqual([{ kind: "model-changed", model: "demo/demo", effort: "high" }]);
    expect(modelIfChanged({ ...context, effort: "high" }, [...rows, ...sealed(changed)])).toEqual([]);
  });

  test("[CTX-24] another cache lifetime is a row, and so is the way back", async () => {
    const { context } = tab();
    const rows = sealed(await openingRows(context));
    const long = modelIfChanged({ ...context, cacheTtl: "1h" }, rows);
    const model = { kind: "model-changed", model: "demo/demo", effort: "default" };
    expect(long.map(dataOf)).toEqual([{ ...model, cacheTtl: "1h" }]);
    const after = [...rows, ...sealed(long)];
    expect(modelIfChanged({ ...context, cacheTtl: "1h" }, after)).toEqual([]);
    expect(modelIfChanged(context, after).map(dataOf)).toEqual([{ ...model, cacheTtl: "5m" }]);
    const fresh = await openingRows({ ...context, cacheTtl: "1h" });
    expect(dataOf(fresh[1])).toEqual({ ...model, cacheTtl: "1h" });
  });

  test("[CTX-23] H03 a changed instruction file moves nothing and is said once, until it is told", async () => {
    const world = tab({ repository: inRepo, files: { "/home/dev/repo/AGENTS.md": "one" } });
    let rows = sealed(await openingRows(world.context));
    const add = (more: readonly NewRow[]): void => {
      rows = [...rows, ...more].map((row, index) => ({ ...row, seq: index + 1, term: 1 }));
    };
    world.state.files = { "/home/dev/repo/AGENTS.md": "two" };
    const said = await rowsBeforeTurn(world.context, rows);
    const text = "/home/dev/repo/AGENTS.md edited";
    expect(said.map(dataOf)).toEqual([{ kind: "context-changed", text }]);
    add(said);
    expect(await rowsBeforeTurn(world.context, rows)).toEqual([]);
    add(tellRows(world.context, contextChanges(rows, await freshPrefix(world.context))));
    expect(await rowsBeforeTurn(world.context, rows)).toEqual([]);
    world.state.files = { "/home/dev/repo/AGENTS.md": "three" };
    expect((await rowsBeforeTurn(world.context, rows)).map(dataOf)).toEqual([{ kind: "context-changed", text }]);
  });

  test("[CTX-23] looking at what changed reads the instructions, and never the state of the repository", async () => {
    const { context } = tab({ repository: inRepo, files: { "/home/dev/repo/AGENTS.md": "one" } });
    const rows = sealed(await openingRows(context));
    const operations = {
      ...context.operations,
      repository: () => expect.fail("the whole repository was looked through"),
    };
    expect(contextChanges(rows, await freshPrefix({ ...context, operations }))).toEqual([]);
  });

  test("[CTX-1] a log without a prefix gets the opening rows, one with a prefix never another", async () => {
    const { context } = tab();
    const opening = await rowsBeforeTurn(context, []);
    expect(opening).toHaveLength(3);
    expect(await rowsBeforeTurn(context, sealed(opening))).toEqual([]);
  });
});
