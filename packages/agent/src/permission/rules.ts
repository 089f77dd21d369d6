/**
 * Permission rules from files: `$VARVE_HOME/permissions.json` is the person's and may allow; `.varve/permissions.json` in a
 * workspace comes with whatever was cloned there, so it may only ask or deny. A file looks like this:
 *
 *   { "allow": ["bash: npm test", "write: /home/me/notes/**"], "ask": ["fetch"], "deny": ["read: **\/.env", "bash: rm *"] }
 *
 * A file that is there and can't be understood makes every tool ask until it is repaired: one of its rules may have been
 * the one that denies.
 */
import { z } from "zod";
import type { PermissionRule } from "./decide-contract.ts";

export const permissionLimits = {
  /** Bytes of a rule file, rules in it, characters of one; beyond any the file is not taken. */
  fileCharsMax: 64 * 1024,
  rulesMax: 500,
  ruleCharsMax: 1_000,
} as const;

export interface RuleFile {
  readonly path: string;
  readonly owner: "person" | "workspace";
  /** Patterns of a workspace that are not absolute begin here. */
  readonly root: string;
}

export interface LoadedRules {
  readonly rules: readonly PermissionRule[];
  /** Sentences for the person: what is wrong and what holds instead. */
  readonly problems: readonly string[];
}

const listSchema = z
  .array(z.string().min(1).max(permissionLimits.ruleCharsMax))
  .max(permissionLimits.rulesMax)
  .optional();
const fileSchema = z.strictObject({ allow: listSchema, ask: listSchema, deny: listSchema });

const actions = ["deny", "ask", "allow"] as const;
const byPath = new Set(["read", "write", "edit", "patch", "list", "glob", "grep", "*"]);

export function parseRules(text: string, file: RuleFile): LoadedRules {
  if (text.length > permissionLimits.fileCharsMax) return unusable(file, "it is too long");
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (thrown) {
    return unusable(file, `it is not JSON${placeOf(thrown)}`);
  }
  const parsed = fileSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return unusable(file, `${issue?.path.join(".") || "the whole"}: ${issue?.message ?? "not right"}`);
  }
  const rules: PermissionRule[] = [];
  const problems: string[] = [];
  for (const action of actions) {
    for (const entry of parsed.data[action] ?? []) {
      const rule = ruleFrom(action, entry, file);
      if (typeof rule === "string") problems.push(`${file.path}: "${entry}" ${rule}`);
      else rules.push(rule);
    }
  }
  return { rules, problems };
}

/** Where the parser stopped, without its quotation: a workspace's file may be a link to anything. */
function placeOf(thrown: unknown): string {
  const place =
    thrown instanceof Error ? /\b(?:at )?position \d+(?: \(line \d+ column \d+\))?/.exec(thrown.message) : null;
  return place === null ? "" : `, ${place[0]}`;
}

function unusable(file: RuleFile, why: string): LoadedRules {
  return {
    rules: [{ action: "ask", tool: "*" }],
    problems: [`The permission rules in ${file.path} can't be used (${why}). Until that is repaired every tool asks.`],
  };
}

/** A rule, or what is wrong with it. */
function ruleFrom(action: PermissionRule["action"], entry: string, file: RuleFile): PermissionRule | string {
  if (action === "allow" && file.owner === "workspace") {
    return "is left out: files of a workspace may ask or deny, not allow.";
  }
  const cut = entry.indexOf(":");
  const tool = (cut === -1 ? entry : entry.slice(0, cut)).trim();
  if (!/^([a-z][a-z0-9_-]*|\*)$/i.test(tool)) return "is left out: a rule begins with a tool's name.";
  if (cut === -1) return { action, tool };
  const pattern = entry.slice(cut + 1).trim();
  if (pattern === "") return "is left out: its pattern is empty.";
  if (!byPath.has(tool) || pattern.startsWith("/") || pattern.startsWith("**/")) return { action, tool, pattern };
  if (tool === "*") return { action, tool, pattern };
  if (file.owner === "workspace") return { action, tool, pattern: `${file.root.replace(/\/$/, "")}/${pattern}` };
  if (action === "allow") return "is left out: a path that is allowed begins with / or **/.";
  return { action, tool, pattern: `**/${pattern}` };
}

/** A rule that a person allowed in an answer, in the words of a rule file; null for words that are none. */
export function allowedRule(entry: string): PermissionRule | null {
  const rule = ruleFrom("allow", entry, { path: "", owner: "person", root: "/" });
  return typeof rule === "string" ? null : rule;
}

/** A rule in the words of a rule file. */
export const ruleWords = ({ tool, pattern }: PermissionRule): string =>
  pattern === undefined ? tool : `${tool}: ${pattern}`;

export interface RulePlaces {
  readonly home: string;
  /** The tab's real directory. */
  readonly root: string;
}

/**
 * The rules that hold for a tab. `readText` answers null when no file is there and fails when there is one that can't be
 * read, which counts as one that can't be understood.
 */
export async function loadRules(
  readText: (path: string) => Promise<string | null>,
  { home, root }: RulePlaces,
): Promise<LoadedRules> {
  const files: readonly RuleFile[] = [
    { path: `${home}/permissions.json`, owner: "person", root },
    { path: `${root}/.varve/permissions.json`, owner: "workspace", root },
  ];
  const loaded = await Promise.all(files.map((file) => loadFile(readText, file)));
  return { rules: loaded.flatMap(({ rules }) => rules), problems: loaded.flatMap(({ problems }) => problems) };
}

async function loadFile(readText: (path: string) => Promise<string | null>, file: RuleFile): Promise<LoadedRules> {
  try {
    const text = await readText(file.path);
    return text === null ? { rules: [], problems: [] } : parseRules(text, file);
  } catch (thrown) {
    return unusable(file, `it can't be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}
