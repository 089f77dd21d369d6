/** Permission rules from files, for the engine and for whoever wants to see them. Read when a call is about to run. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { type PermissionRule, parseRules, permissionLimits, type RuleFile, ruleWords } from "@varve/agent";
import type { Fault, PermissionsBody, RuleSource, TabPermissionsBody } from "@varve/protocol";
import { ProjectRules } from "./project-rules.ts";
import { readRuleFile } from "./read-rule-file.ts";

/** Problems that were told once are not told again, up to so many. */
const toldMax = 1_000;

export interface PermissionFiles {
  /** The rules that hold for a tab on this directory. */
  readonly rules: (cwd: string) => readonly PermissionRule[];
  /** The same with their sources and what is wrong with them. */
  readonly look: (cwd: string) => Pick<TabPermissionsBody, "root" | "projectPath" | "rules" | "problems">;
  readonly all: () => PermissionsBody;
  /** Keeps rules for the directory's project from now on. A fault: nothing was kept. */
  readonly keep: (cwd: string, words: readonly string[]) => Fault | null;
  readonly takeBack: (of: { readonly root: string; readonly rule: string }) => Fault | null;
}

interface Held {
  readonly source: RuleSource;
  readonly rules: readonly PermissionRule[];
  readonly problems: readonly string[];
}

export function permissionFiles(
  home: string,
  tell: (problem: string) => void,
  projects: ProjectRules = new ProjectRules(home),
): PermissionFiles {
  const told = new Set<string>();
  const person = (root: string): Held =>
    heldIn("person", { path: join(home, "permissions.json"), owner: "person", root });
  const held = (root: string): readonly Held[] => [
    person(root),
    { source: "project", ...projects.rulesFor(root) },
    heldIn("workspace", { path: join(root, ".varve", "permissions.json"), owner: "workspace", root }),
  ];
  return {
    rules: (cwd) => {
      const all = held(realOr(cwd));
      for (const problem of all.flatMap(({ problems }) => problems)) {
        if (told.has(problem)) continue;
        if (told.size < toldMax) told.add(problem);
        tell(problem);
      }
      return all.flatMap(({ rules }) => rules);
    },
    look: (cwd) => {
      const root = realOr(cwd);
      const all = held(root);
      const rules = all.flatMap(({ source, rules: of }) => of.map((rule) => ({ ...inWords(rule), source })));
      return { root, projectPath: projects.path, rules, problems: all.flatMap(({ problems }) => [...problems]) };
    },
    all: () => {
      const { rules, problems } = person("/");
      const kept = projects.all();
      return {
        person: { path: join(home, "permissions.json"), rules: rules.map(inWords), problems: [...problems] },
        projects: {
          path: projects.path,
          problems: [...kept.problems],
          roots: kept.projects.map(({ root, allow }) => ({ root, rules: [...allow] })),
        },
      };
    },
    keep: (cwd, words) => projects.add(realOr(cwd), words),
    takeBack: (of) => projects.remove(of),
  };
}

const inWords = (rule: PermissionRule) => ({ action: rule.action, rule: ruleWords(rule) });

function heldIn(source: RuleSource, file: RuleFile): Held {
  const text = textOf(file.path);
  return { source, ...(text === null ? { rules: [], problems: [] } : parseRules(text, file)) };
}

/** Null when there is no file. What is there and cannot be read becomes a text that no parser takes. */
function textOf(path: string): string | null {
  try {
    return readRuleFile(path, permissionLimits.fileCharsMax);
  } catch {
    return "unreadable"; // Every tool asks until it is repaired.
  }
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // A directory that is gone: the tools say so themselves.
  }
}
