/**
 * Rule files for the permission engine, read when a call is about to run. Never waits: a FIFO in place of a file must not
 * stop the server.
 */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type PermissionRule, parseRules, permissionLimits, type RuleFile } from "@varve/agent";

/** Problems that were told once are not told again, up to so many. */
const toldMax = 1_000;

export function ruleReader(home: string, tell: (problem: string) => void): (cwd: string) => readonly PermissionRule[] {
  const told = new Set<string>();
  return (cwd) => {
    const root = realOr(cwd);
    const files: readonly RuleFile[] = [
      { path: join(home, "permissions.json"), owner: "person", root },
      { path: join(root, ".varve", "permissions.json"), owner: "workspace", root },
    ];
    return files.flatMap((file) => {
      const text = textOf(file.path);
      if (text === null) return [];
      const { rules, problems } = parseRules(text, file);
      for (const problem of problems) {
        if (told.has(problem)) continue;
        if (told.size < toldMax) told.add(problem);
        tell(problem);
      }
      return rules;
    });
  };
}

/** Null when there is no file. What is there and cannot be read becomes a text that no parser takes. */
function textOf(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const absent = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
    return absent ? null : unusable;
  }
  try {
    if (!fstatSync(file).isFile()) return unusable;
    // One byte more than is allowed tells that it is too long.
    const bytes = Buffer.alloc(permissionLimits.fileCharsMax + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
  } catch {
    return unusable; // Unreadable or no UTF-8: every tool asks until it is repaired.
  } finally {
    closeSync(file);
  }
}

const unusable = "unreadable";

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // A directory that is gone: the tools say so themselves.
  }
}
