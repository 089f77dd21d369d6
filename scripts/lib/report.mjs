import { fileURLToPath } from "node:url";

/** Runs a checker when its file is the program: prints each problem on a line and exits with 1 if there is any. */
export function runAsProgram(url, problems) {
  if (process.argv[1] !== fileURLToPath(url)) return;
  const found = problems();
  for (const line of found) process.stdout.write(`${line}\n`);
  if (found.length > 0) process.exitCode = 1;
}
