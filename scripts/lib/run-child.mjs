import { spawn } from "node:child_process";

const PASSED_ON = ["SIGINT", "SIGTERM"];

/**
 * Runs a program quietly (what it says on stderr shows) and resolves to its exit code, or to the signal that ended it. A
 * signal that asks this process to end is passed on, and this process ends after the child: nothing is left running.
 * `onStart(pid)` hears who the child is.
 */
export function runChild(command, args, { cwd, env = process.env, shell = false, onStart = () => {} }) {
  const child = spawn(command, args, { cwd, env, shell, stdio: ["ignore", "ignore", "inherit"] });
  let asked;
  const passOn = (signal) => {
    asked = signal;
    child.kill(signal);
  };
  for (const signal of PASSED_ON) process.on(signal, passOn);
  if (child.pid !== undefined) onStart(child.pid);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal ?? code));
  }).finally(() => {
    for (const signal of PASSED_ON) process.off(signal, passOn);
    if (asked !== undefined) process.kill(process.pid, asked);
  });
}
