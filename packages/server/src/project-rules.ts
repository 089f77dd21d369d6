/**
 * What was answered "always in this project": rules that allow, by the real directory of the project. One file in
 * `VARVE_HOME`, which nothing that was cloned into a workspace can write:
 *
 *   { "projects": [{ "root": "/home/me/site", "allow": ["bash: npm test"] }] }
 *
 * Read and written at once, so that no other answer of this process comes between; replaced whole, so that a file which is
 * there is a whole one. One that cannot be understood makes every tool ask, and is never written over.
 */
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { allowedRule, type PermissionRule, permissionLimits } from "@varve/agent";
import { type Fault, fault, isFault } from "@varve/protocol";
import { z } from "zod";
import { codeOf, readRuleFile } from "./read-rule-file.ts";

export const projectLimits = {
  /** Bytes of the file of all projects. */
  fileBytesMax: 1024 * 1024,
  /** Directories in it, and rules of one. */
  rootsMax: 500,
  rulesMax: 200,
} as const;

/** Where the file is kept. Both act at once; `replace` leaves either the old text or the new one, whatever happens. */
export interface RuleDisk {
  /** Null when there is none; throws for one that cannot be read. */
  readonly read: (path: string, bytesMax: number) => string | null;
  readonly replace: (path: string, text: string) => void;
}

const projectSchema = z.strictObject({
  root: z.string().startsWith("/").max(4_096),
  allow: z.array(z.string().min(1).max(permissionLimits.ruleCharsMax)).max(projectLimits.rulesMax),
});
const fileSchema = z.strictObject({ projects: z.array(projectSchema).max(projectLimits.rootsMax) });
type Project = Readonly<z.infer<typeof projectSchema>>;

export interface ProjectRulesHeld {
  readonly rules: readonly PermissionRule[];
  readonly problems: readonly string[];
}

export class ProjectRules {
  readonly path: string;
  readonly #disk: RuleDisk;
  #last: { readonly text: string | null; readonly projects: readonly Project[] } = { text: null, projects: [] };

  constructor(home: string, disk: RuleDisk = nodeDisk) {
    this.path = join(home, "project-permissions.json");
    this.#disk = disk;
  }

  /** What holds for a tab whose real directory this is. */
  rulesFor(root: string): ProjectRulesHeld {
    const projects = this.#read();
    if (isFault(projects)) return { rules: [{ action: "ask", tool: "*" }], problems: [projects.message] };
    const rules: PermissionRule[] = [];
    const problems: string[] = [];
    for (const words of projects.find((project) => project.root === root)?.allow ?? []) {
      const rule = allowedRule(words);
      if (rule === null) problems.push(`${this.path}: "${words}" is left out: it is no rule.`);
      else rules.push(rule);
    }
    return { rules, problems };
  }

  all(): { readonly projects: readonly Project[]; readonly problems: readonly string[] } {
    const projects = this.#read();
    return isFault(projects) ? { projects: [], problems: [projects.message] } : { projects, problems: [] };
  }

  /** Adds rules; those that are there already stay as they are. A fault: nothing was changed. */
  add(root: string, words: readonly string[]): Fault | null {
    const projects = this.#read();
    if (isFault(projects)) return projects;
    const known = projects.find((project) => project.root === root);
    const allow = [...new Set([...(known?.allow ?? []), ...words])];
    if (known === undefined && projects.length >= projectLimits.rootsMax)
      return full(`${projectLimits.rootsMax} projects`);
    if (allow.length > projectLimits.rulesMax) return full(`${projectLimits.rulesMax} rules for ${root}`);
    if (allow.length === known?.allow.length) return null;
    const next = { root, allow };
    return this.#write(known === undefined ? [...projects, next] : projects.map((one) => (one === known ? next : one)));
  }

  /** Takes one rule back. */
  remove({ root, rule }: { readonly root: string; readonly rule: string }): Fault | null {
    const projects = this.#read();
    if (isFault(projects)) return projects;
    const known = projects.find((project) => project.root === root);
    if (known?.allow.includes(rule) !== true) {
      return fault("unknown-rule", "No such rule is kept for this directory.", "It may have been taken back already.");
    }
    const left = { root, allow: known.allow.filter((one) => one !== rule) };
    return this.#write(projects.flatMap((one) => (one !== known ? one : left.allow.length === 0 ? [] : left)));
  }

  #read(): readonly Project[] | Fault {
    try {
      const text = this.#disk.read(this.path, projectLimits.fileBytesMax);
      if (text === null) return [];
      if (text === this.#last.text) return this.#last.projects;
      const { projects } = fileSchema.parse(JSON.parse(text));
      this.#last = { text, projects };
      return projects;
    } catch {
      // Whatever is wrong with it is not quoted: the words would be those of the file.
      return fault(
        "bad-request",
        `The permission rules in ${this.path} can't be used. Until that is repaired every tool asks, and none is added.`,
        "Repair the file, or move it away.",
      );
    }
  }

  #write(projects: readonly Project[]): Fault | null {
    const text = `${JSON.stringify({ projects }, null, 2)}\n`;
    if (Buffer.byteLength(text) > projectLimits.fileBytesMax) return full("as many rules as its file may hold");
    try {
      this.#disk.replace(this.path, text);
      return null;
    } catch (error) {
      const isFull = ["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "");
      const why = isFull ? "the disk is full" : `its folder can't be written (${codeOf(error) ?? "unknown"})`;
      return fault(
        isFull ? "disk-full" : "log-unavailable",
        `The rules could not be kept: ${why}.`,
        "Nothing was changed.",
      );
    }
  }
}

const full = (what: string): Fault =>
  fault("bad-request", `There are ${what} already.`, "Take some back first. Nothing was changed.");

const nodeDisk: RuleDisk = {
  read: readRuleFile,
  replace: (path, text) => {
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      withFile(temporary, "wx", (file) => {
        writeSync(file, text);
        fsyncSync(file);
      });
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    withFile(dirname(path), "r", fsyncSync);
  },
};

function withFile(path: string, flags: "r" | "wx", act: (file: number) => void): void {
  const file = openSync(path, flags, 0o600);
  try {
    act(file);
  } finally {
    closeSync(file);
  }
}
