import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** `tasks`: a small package with TODO comments and one failing test. `empty`: a directory with nothing in it. */
export type ProjectKind = "tasks" | "empty";

export interface Project extends AsyncDisposable {
  /** Real path of the project's directory. */
  readonly dir: string;
  path(relative: string): string;
  write(relative: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

const run = promisify(execFile);

/** A directory of its own for one test; `await using` removes it with everything in it. */
export async function makeProject(kind: ProjectKind = "tasks"): Promise<Project> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "varve-project-")));
  const write = async (relative: string, text: string): Promise<void> => {
    const file = join(dir, relative);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  const remove = (): Promise<void> => rm(dir, { recursive: true, force: true, maxRetries: 3 });
  if (kind === "tasks") {
    for (const [relative, text] of Object.entries(TASKS)) await write(relative, text);
    await commitAll(dir);
  }
  return { dir, path: (relative) => join(dir, relative), write, remove, [Symbol.asyncDispose]: remove };
}

/** One commit with a fixed author and time, so that its hash is the same in every run. */
async function commitAll(dir: string): Promise<void> {
  const moment = "2026-01-01T00:00:00Z";
  const env = {
    PATH: process.env.PATH,
    HOME: dir,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Test",
    GIT_AUTHOR_EMAIL: "test@example.invalid",
    GIT_COMMITTER_NAME: "Test",
    GIT_COMMITTER_EMAIL: "test@example.invalid",
    GIT_AUTHOR_DATE: moment,
    GIT_COMMITTER_DATE: moment,
  };
  const git = (...args: string[]) => run("git", args, { cwd: dir, env });
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "--all");
  await git("commit", "--quiet", "--message=first version");
}

const TASKS: Readonly<Record<string, string>> = {
  "README.md": `# tasks

A list of things to do, kept in a file.

- \`src/list.js\` adds, finishes and sorts tasks
- \`src/format.js\` prints them
- \`npm test\` runs the tests; one of them fails at present
`,
  "package.json": `${JSON.stringify(
    { name: "tasks", version: "0.1.0", private: true, type: "module", scripts: { test: "node --test" } },
    null,
    2,
  )}
`,
  ".gitignore": "node_modules/\n",
  "src/list.js": `/** Adds a task at the end of the list. */
export function addTask(tasks, title) {
  // TODO: refuse an empty title
  return [...tasks, { title, done: false }];
}

/** Marks the task of that title as done. */
export function finishTask(tasks, title) {
  return tasks.map((task) => (task.title === title ? { ...task, done: true } : task));
}

/** How many tasks are left. */
export function countOpen(tasks) {
  return tasks.length;
}
`,
  "src/format.js": `// TODO: show finished tasks in a column of their own
export function formatTask(task) {
  return \`[\${task.done ? "x" : " "}] \${task.title}\`;
}

export function formatAll(tasks) {
  return tasks.map(formatTask).join("\\n");
}
`,
  "test/list.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAll } from "../src/format.js";
import { addTask, countOpen, finishTask } from "../src/list.js";

test("a task is added at the end", () => {
  assert.deepEqual(addTask([], "write"), [{ title: "write", done: false }]);
});

test("tasks are printed one a line", () => {
  assert.equal(formatAll([{ title: "a", done: true }, { title: "b", done: false }]), "[x] a\\n[ ] b");
});

test("a finished task is not open", () => {
  const tasks = finishTask(addTask(addTask([], "a"), "b"), "a");
  assert.equal(countOpen(tasks), 1);
});
`,
};
