/**
 * Ways out of a workspace, each by a file tool. A call counts as carried out when it needs no person (mode `edits`); whatever
 * comes of it, what lies outside is the same afterwards, byte for byte, and none of it is in the answer.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@varve/protocol";
import { afterAll, describe, expect, test } from "vitest";
import { within } from "./boundary.ts";
import type { FileOperations } from "./operations.ts";
import { runPrepared, type Scratch, type ScratchOptions, scratch } from "./testing/scratch.ts";

const secret = "SECRET\n";
const linux = process.platform === "linux";

/** What is outside, and the links that lead there. `BASE` in a path stands for the folder that holds all of it. */
function maze(options: ScratchOptions = {}): Scratch & { readonly outside: () => string } {
  const at = scratch(options);
  const file = (path: string, text: string) => {
    mkdirSync(join(at.base, path, ".."), { recursive: true });
    writeFileSync(join(at.base, path), text);
  };
  for (const path of [
    "out/secret.txt",
    "out/dir/deep.txt",
    "ws-evil/x",
    "home/token",
    "spill/other/1-x.txt",
    "extra-evil/x",
  ]) {
    file(path, secret);
  }
  for (const path of ["ws/plain.txt", "ws/sub/inner.txt", "extra/mine.txt"]) file(path, "plain\n");
  const link = (path: string, target: string) => symlinkSync(target.replaceAll("BASE", at.base), join(at.base, path));
  for (const [path, target] of links) link(path, target);
  for (let i = 0; i < 50; i++) link(`ws/step${i}`, i === 49 ? "../out" : `step${i + 1}`);
  linkSync(join(at.base, "out/secret.txt"), join(at.ws, "hard.txt"));
  return {
    ...at,
    outside: () => ["out", "ws-evil", "home", "spill", "extra-evil"].map((name) => imageOf(join(at.base, name))).join(),
  };
}

const links: readonly (readonly [string, string])[] = [
  ["ws/outbox", "BASE/out"],
  ["ws/relative", "../out"],
  ["ws/dang", "BASE/out/new"],
  ["ws/dangdir", "BASE/out/new/dir"],
  ["ws/sub/hidden", "../../out/secret.txt"],
  ["ws/sub/twice", "../outbox"],
  ["ws/one", "two"],
  ["ws/two", "sub/three"],
  ["ws/sub/three", "../../out"],
  ["ws/loop-a", "loop-b"],
  ["ws/loop-b", "loop-a"],
  ["ws/self", "self"],
  ["ws/sub/up", "../.."],
  ["ws/root", "/"],
  ["ws/dots", "BASE/ws/../out"],
  ["ws/inlink", "sub"],
  ["ws/home-link", "BASE/home"],
  ["ws/home-new", "BASE/home/new"],
  ["ws/parent", ".."],
  ["ws/proc-root", "/proc/self/root"],
  ["ws/e\u0301", "../out"],
  ["root-link", "ws"],
  ["extra/away", "../out"],
];

/** Names, kinds and bytes of all that is below. */
function imageOf(folder: string): string {
  const hash = createHash("sha256");
  const visit = (path: string): void => {
    const stats = lstatSync(path);
    hash.update(`${path}\0${stats.mode}\0`);
    if (stats.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else hash.update(stats.isSymbolicLink() ? readlinkSync(path) : readFileSync(path));
  };
  visit(folder);
  return hash.digest("hex");
}

type Expected =
  /** A person is asked, and is told a path that is really outside. */
  | "asked"
  /** No tool, in no mode. */
  | "denied"
  /** An answer in words, and nothing happened. */
  | "refused"
  /** Carried out, and it stays inside. */
  | "inside";
type Attack = readonly [way: string, tool: string, args: JsonObject, expected: Expected];

const read = (way: string, path: string, expected: Expected): Attack => [way, "read", { path }, expected];
const write = (way: string, path: string, expected: Expected): Attack => [
  way,
  "write",
  { path, content: "x\n" },
  expected,
];
const edit = (way: string, path: string, expected: Expected): Attack => [
  way,
  "edit",
  { path, oldText: "SECRET", newText: "x" },
  expected,
];
const change = (path: string) => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-SECRET\n+x\n`;
const create = (path: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
const remove = (path: string) => `--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-SECRET\n`;
const patch = (way: string, text: string, expected: Expected): Attack => [way, "patch", { patch: text }, expected];

const handle = openSync("/dev/null", "r");
/** What is not carried out leaves no trace, so that such rows share a maze; that they leave none is what is tested. */
let shared: ReturnType<typeof maze> | null = null;
async function inMaze(row: Attack): Promise<void> {
  if (row[3] !== "inside") {
    shared ??= maze();
    return await attack(shared, row);
  }
  await using at = maze();
  await attack(at, row);
}
afterAll(async () => {
  closeSync(handle);
  await shared?.[Symbol.asyncDispose]();
});

const attacks: readonly Attack[] = [
  read("a link out", "outbox/secret.txt", "asked"),
  read("a relative link out", "relative/secret.txt", "asked"),
  read("a link to a file", "sub/hidden", "asked"),
  read("a link to a link", "sub/twice/secret.txt", "asked"),
  read("a chain of links", "one/secret.txt", "asked"),
  read("a chain longer than any", "step0/secret.txt", "refused"),
  read("a chain that is just not too long", "step12/secret.txt", "asked"),
  read("a circle of links", "loop-a", "refused"),
  read("a link to itself", "self/x", "refused"),
  read("a link with .. in it", "dots/secret.txt", "asked"),
  read(".. behind a link out", "outbox/../out/secret.txt", "asked"),
  read(".. behind a link within", "inlink/../../out/secret.txt", "asked"),
  read("up by a link", "sub/up/out/secret.txt", "asked"),
  read("..", "../out/secret.txt", "asked"),
  read(".. in the middle", "sub/../../out/secret.txt", "asked"),
  read(".. behind what is not there", "nothing/../../out/secret.txt", "asked"),
  read(".. more often than there are directories", "../../../../../../../../../../../../etc/hostname", "asked"),
  read("many slashes", "..//..///../etc/hostname", "asked"),
  read("a sibling that begins with the workspace's name", "../ws-evil/x", "asked"),
  read("the same by its whole path", "BASE/ws-evil/x", "asked"),
  read("a whole path through the workspace", "BASE/ws/../out/secret.txt", "asked"),
  read("the root by a link", "rootBASE/out/secret.txt", "asked"),
  read("the parent by a link", "parent/out/secret.txt", "asked"),
  read("the link that leads to the workspace, and up", "BASE/root-link/../out/secret.txt", "asked"),
  read("the user's home", "~/.profile", "asked"),
  read("up from the user's home", "~/../../etc/hostname", "asked"),
  read("another user's home, which is only a name", "~root/.profile", "refused"),
  read("a variable, which is only a name", "$HOME/.profile", "refused"),
  read("an address, which is only a name", "file:///etc/hostname", "refused"),
  read("percent signs, which are only names", "%2e%2e/out/secret.txt", "refused"),
  read("backslashes, which are only names", "..\\out\\secret.txt", "refused"),
  read("letters that look like dots", "\u2025/out/secret.txt", "refused"),
  read("wide dots", "\uff0e\uff0e/out/secret.txt", "refused"),
  read("an accent of two characters", "e\u0301/secret.txt", "asked"),
  read("the same accent of one, which is another name", "\u00e9/secret.txt", linux ? "refused" : "asked"),
  read("capital letters, which are another name", "OUTBOX/secret.txt", linux ? "refused" : "asked"),
  read("NUL", "plain.txt\0/../../out/secret.txt", "refused"),
  read("a name that no disk takes", `${"n".repeat(300)}/../../out/secret.txt`, "refused"),
  read("a path that is too long", `${"a/../".repeat(900)}../out/secret.txt`, "refused"),
  read("a path just short enough", `${"sub/../".repeat(580)}../out/secret.txt`, "asked"),
  read("a file as a directory", "plain.txt/../../out/secret.txt", "refused"),
  read("another tab's kept output", "BASE/spill/other/1-x.txt", "asked"),
  read("the same beside one's own", "BASE/spill/tab/../other/1-x.txt", "asked"),
  write("into what a link leads to", "outbox/a", "asked"),
  write("through a dangling link", "dang", "asked"),
  write("below a dangling link", "dangdir/deeper/a", "asked"),
  write("up and beside", "../ws-evil/y", "asked"),
  write("a directory that a link stands for", "outbox/dir/new/a", "asked"),
  write("over a link that leads out, unread", "sub/hidden", "refused"),
  write("one's own kept output", "BASE/spill/tab/a", "refused"),
  write("another tab's kept output, unread", "BASE/spill/other/1-x.txt", "refused"),
  edit("through a link", "outbox/secret.txt", "asked"),
  edit("through a chain", "two/secret.txt", "asked"),
  edit("another name of a file outside: the name inside is replaced", "hard.txt", "inside"),
  patch("through a link", change("outbox/secret.txt"), "asked"),
  patch("a new file through a dangling link", create("dang"), "asked"),
  patch("a new file above", create("../out/a"), "asked"),
  patch("a deletion outside", remove("../ws-evil/x"), "asked"),
  patch("a deletion of a link out", remove("sub/hidden"), "refused"),
  patch(
    "one file inside, one outside",
    `--- a/plain.txt\n+++ b/plain.txt\n@@ -1 +1 @@\n-plain\n+x\n${change("outbox/secret.txt")}`,
    "asked",
  ),
  patch("git's own prefix as a way up", change("../out/secret.txt"), "asked"),
  patch("another name of a file outside", remove("hard.txt"), "inside"),
  ["a link out", "list", { path: "outbox" }, "asked"],
  ["the parent", "list", { path: "parent" }, "asked"],
  ["the workspace, which shows links and not what they lead to", "list", { path: "." }, "inside"],
  ["a link out", "glob", { pattern: "*", path: "outbox" }, "asked"],
  ["a pattern that goes up", "glob", { pattern: "../out/*" }, "inside"],
  ["a pattern that begins at the root", "glob", { pattern: "BASE/out/*" }, "inside"],
  ["a pattern through a link", "glob", { pattern: "outbox/**" }, "inside"],
  ["a pattern of choices", "glob", { pattern: "{..,outbox,parent}/**/secret.txt" }, "inside"],
  ["a link out", "grep", { pattern: "SECRET", path: "one" }, "asked"],
  ["a link to a file", "grep", { pattern: "SECRET", path: "sub/hidden" }, "asked"],
  ["all links of the workspace", "grep", { pattern: "SEC.ET", glob: "sub/**" }, "inside"],
  ["a glob that goes up", "grep", { pattern: "SEC.ET", glob: "../out/**" }, "inside"],
  ["a glob through a link", "grep", { pattern: "SEC.ET", glob: "outbox/**" }, "inside"],
  ["a pattern that looks like an option", "grep", { pattern: "--follow" }, "inside"],
  ["a glob that looks like an option", "grep", { pattern: "SEC.ET", glob: "--follow" }, "inside"],
];

const intoHome: readonly Attack[] = [
  read("by its path", "BASE/home/token", "denied"),
  read("by ..", "../home/token", "denied"),
  read("by a link", "home-link/token", "denied"),
  read("through what lies beside it", "outbox/../home/token", "denied"),
  read("by the root", "rootBASE/home/token", "denied"),
  read("by the parent", "parent/home/./token", "denied"),
  read("and back", "../home/../home/token", "denied"),
  read("what is not there", "../home/none", "denied"),
  write("a new file by a dangling link", "home-new", "denied"),
  write("the home itself", "../home", "denied"),
  write("a new directory in it", "home-link/a/b", "denied"),
  edit("its token", "home-link/token", "denied"),
  patch("its token", change("../home/token"), "denied"),
  patch("a new file", create("home-new"), "denied"),
  patch("without its token", remove("home-link/token"), "denied"),
  ["its names", "list", { path: "home-link" }, "denied"],
  ["its names", "glob", { pattern: "*", path: "../home" }, "denied"],
  ["its text", "grep", { pattern: "SECRET", path: "parent/home" }, "denied"],
];

const throughTheSystem: readonly Attack[] = [
  read("the root of this process", "/proc/self/rootBASE/out/secret.txt", "asked"),
  read("the root of this thread", "/proc/thread-self/rootBASE/out/secret.txt", "asked"),
  read("the root by number", `/proc/${process.pid}/rootBASE/home/token`, "denied"),
  read("the directory of this process", "/proc/self/cwd/package.json", "asked"),
  read("a link to the root of this process", "proc-rootBASE/out/secret.txt", "asked"),
  read("an open file of this process", `/proc/self/fd/${handle}`, "asked"),
  read("an open file as a device", `/dev/fd/${handle}`, "asked"),
  read("what this process was started with", "/proc/self/environ", "denied"),
  read("the memory of this process", "/proc/self/mem", "denied"),
  write("through an open directory of this process", "/proc/self/cwd/a", "asked"),
  ["the open files of this process", "list", { path: "/proc/self/fd" }, "denied"],
];

const withDirectories: readonly Attack[] = [
  read("a file of the added directory", "BASE/extra/mine.txt", "inside"),
  write("a new file there", "../extra/new.txt", "inside"),
  read("a link from there", "BASE/extra/away/secret.txt", "asked"),
  read("up from there", "BASE/extra/../out/secret.txt", "asked"),
  read("a sibling that begins with its name", "BASE/extra-evil/x", "asked"),
  write("through a link from there", "BASE/extra/away/a", "asked"),
  patch("one file here, one there through a link", `${create("n")}${create("BASE/extra/away/a")}`, "asked"),
  ["its text, links left out", "grep", { pattern: "SEC.ET", path: "BASE/extra" }, "inside"],
  read("the home, whatever was added", "BASE/extra/../home/token", "denied"),
];

const placed = (args: JsonObject, base: string): JsonObject =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replaceAll("BASE", base) : value,
    ]),
  );

async function attack(at: ReturnType<typeof maze>, [, tool, args, expected]: Attack): Promise<void> {
  const before = at.outside();
  const prepared = await at.box.get(tool)?.prepare(placed(args, at.base), at.place);
  if (prepared === undefined) throw new Error(`no tool ${tool}`);
  if ("error" in prepared) {
    expect(prepared.error).not.toContain("SECRET\n");
    expect(expected).toBe(prepared.error.includes("no tool may touch") ? "denied" : "refused");
  } else if (prepared.effect === "run") {
    expect(expected).toBe("asked");
    const named = prepared.subject.parts?.map(({ text }) => text) ?? [prepared.subject.path ?? ""];
    expect(named.some((path) => !within(at.ws, path))).toBe(true);
  } else {
    const outcome = await runPrepared(prepared);
    expect(outcome.text).not.toMatch(/SECRET|secret\.txt:/);
    expect(expected).toBe(outcome.isError ? "refused" : "inside");
  }
  expect(at.outside()).toBe(before);
}

describe("ways out of the workspace", () => {
  test.each(attacks)("[TOOL-150] %s (%s %j): %s", (...row) => inMaze(row));

  test.each(intoHome)("[TOOL-150] into the home: %s (%s %j)", (...row) => inMaze(row));

  test.runIf(linux).each(throughTheSystem)("[TOOL-150] through the system: %s (%s %j): %s", (...row) => inMaze(row));
});

describe("directories that a person added", () => {
  test.each(withDirectories)("[TOOL-151] %s (%s %j): %s", async (...row) => {
    await using at = maze();
    const place = { ...at.place, directories: [join(at.base, "extra")] };
    await attack({ ...at, place }, row);
  });

  test("[TOOL-151] one that became a link counts no more", async () => {
    await using at = maze();
    const place = { ...at.place, directories: [join(at.base, "extra")] };
    renameSync(join(at.base, "extra"), join(at.base, "was"));
    symlinkSync(join(at.base, "out"), join(at.base, "extra"));
    await attack({ ...at, place }, read("", "BASE/extra/secret.txt", "asked"));
  });
});

type Operation = "open" | "entries" | "hold" | "stage" | "replace" | "remove" | "facts";
type Race = readonly [tool: string, args: JsonObject, operation: Operation, where: string];

/** What is swapped for a link out is the first name of `where`; it happens right before this operation on `where`. */
const races: readonly Race[] = [
  ["read", { path: "sub/inner.txt" }, "open", "sub/inner.txt"],
  ["read", { path: "sub/inner.txt" }, "facts", "sub/inner.txt"],
  ["read", { path: "plain.txt" }, "open", "plain.txt"],
  ["edit", { path: "sub/inner.txt", oldText: "plain", newText: "x" }, "open", "sub/inner.txt"],
  ["edit", { path: "sub/inner.txt", oldText: "plain", newText: "x" }, "replace", "sub/inner.txt"],
  ["edit", { path: "plain.txt", oldText: "plain", newText: "x" }, "replace", "plain.txt"],
  ["write", { path: "sub/a/b", content: "x" }, "replace", "sub/a/b"],
  ["write", { path: "sub/secret.txt", content: "x" }, "facts", "sub/secret.txt"],
  ["patch", { patch: "--- a/sub/inner.txt\n+++ b/sub/inner.txt\n@@ -1 +1 @@\n-plain\n+x\n" }, "stage", "sub/inner.txt"],
  ["patch", { patch: "--- /dev/null\n+++ b/sub/new/a\n@@ -0,0 +1 @@\n+x\n" }, "stage", "sub/new/a"],
  ["patch", { patch: "--- a/sub/inner.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-plain\n" }, "remove", "sub/inner.txt"],
  ["patch", { patch: "--- a/plain.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-plain\n" }, "remove", "plain.txt"],
  ["list", { path: "sub" }, "entries", "sub"],
  ["grep", { pattern: "SEC.ET|plain", path: "sub" }, "hold", "sub"],
  ["glob", { pattern: "*", path: "sub" }, "hold", "sub"],
];

function hooked(real: FileOperations, operation: Operation, hook: (path: string) => void): FileOperations {
  const tell =
    <Rest extends readonly unknown[], T>(act: (path: string, ...rest: Rest) => Promise<T>) =>
    (path: string, ...rest: Rest): Promise<T> => {
      hook(path);
      return act(path, ...rest);
    };
  switch (operation) {
    case "open":
      return { ...real, open: tell(real.open) };
    case "entries":
      return { ...real, entries: tell(real.entries) };
    case "hold":
      return { ...real, hold: tell(real.hold) };
    case "stage":
      return { ...real, stage: tell(real.stage) };
    case "replace":
      return { ...real, replace: tell(real.replace) };
    case "remove":
      return { ...real, remove: tell(real.remove) };
    default:
      return { ...real, facts: tell(real.facts) };
  }
}

test.runIf(linux).each(races)(
  "[TOOL-152] %s %j: a link swapped in right before %s of %s",
  async (tool, args, operation, where) => {
    let armed = false;
    let swapped = 0;
    const swap = (path: string): void => {
      if (!armed || path !== join(at.ws, where)) return;
      armed = false;
      swapped += 1;
      const name = join(at.ws, where.split("/")[0] ?? "");
      renameSync(name, `${name}.was`);
      symlinkSync(
        where.includes("/") || !where.endsWith(".txt") ? join(at.base, "out") : join(at.base, "out/secret.txt"),
        name,
      );
    };
    await using at = maze({ change: (real) => ({ ...real, files: hooked(real.files, operation, swap) }) });
    // The same names as inside, so that nothing is missed for want of a name.
    writeFileSync(join(at.base, "out/inner.txt"), "plain\n");
    mkdirSync(join(at.base, "out/a"));
    rmSync(join(at.ws, "sub"), { recursive: true });
    at.file("sub/inner.txt", "plain\n");
    const prepared = await at.prepare(tool, args);
    const before = at.outside();
    armed = true;
    const outcome = await runPrepared(prepared);
    expect(swapped).toBe(1);
    expect(at.outside()).toBe(before);
    expect(outcome.text).not.toMatch(/SECRET|deep\.txt|dir\//);
    expect(existsSync(join(at.base, "out/new"))).toBe(false);
  },
);

test.runIf(linux)(
  "[TOOL-152] list: a link swapped in once the names were read shows nothing of what it leads to",
  async () => {
    await using at = maze({
      change: (real) => ({
        ...real,
        files: {
          ...real.files,
          entries: async (path, max) => {
            const found = await real.files.entries(path, max);
            renameSync(join(at.ws, "sub"), join(at.ws, "was"));
            symlinkSync(join(at.base, "out"), join(at.ws, "sub"));
            return found;
          },
        },
      }),
    });
    rmSync(join(at.ws, "sub"), { recursive: true });
    at.file("sub/inner.txt", "plain\n");
    symlinkSync("inner.txt", join(at.ws, "sub/link"));
    writeFileSync(join(at.base, "out/inner.txt"), "of another length\n");
    symlinkSync("elsewhere", join(at.base, "out/link"));
    expect((await at.call("list", { path: "sub" })).text).toBe("inner.txt (6 bytes)\nlink -> inner.txt");
  },
);

test("[TOOL-150] there are at least sixty of them", () => {
  expect(attacks.length + intoHome.length + races.length).toBeGreaterThanOrEqual(60);
});
