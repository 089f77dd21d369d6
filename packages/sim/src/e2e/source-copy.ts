/** A copy of a part of this repository's own source, for a job to work on. */
import { execFile } from "node:child_process";
import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeProject, type Project } from "../project.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const run = promisify(execFile);

/** `folder` from the repository's root, with the files that git knows; `await using` removes the copy. */
export async function copySource(folder: string): Promise<Project> {
  const { stdout } = await run("git", ["ls-files", "-z", folder], { cwd: root });
  const files = stdout.split("\0").filter((file) => file !== "");
  if (files.length === 0) throw new Error(`git knows no files in ${folder}`);
  const project = await makeProject("empty");
  for (const file of files) {
    const target = join(project.dir, file);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(root, file), target);
  }
  return project;
}
