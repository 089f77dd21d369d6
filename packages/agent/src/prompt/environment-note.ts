/** The note about a tab's surroundings: everything that differs by tab and time and must not stand in the prefix. Pure. */
import type { StoredRow } from "@varve/protocol";
import { wellFormedText } from "../text.ts";
import { isKind } from "../turn-rows.ts";
import type { RepositoryFacts } from "./operations.ts";

export const environmentTopic = "environment";
/** Names of the top level that are listed; the rest is counted. */
export const listedMax = 60;

export interface EnvironmentFacts {
  readonly cwd: string;
  readonly system: string;
  readonly shell: string;
  readonly now: number;
  readonly repository: RepositoryFacts | null;
  readonly listing: { readonly names: readonly string[]; readonly more: number } | null;
}

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** The day where the server stands. */
export function localDay(now: number): string {
  const at = new Date(now);
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} (${weekdays[at.getDay()]})`;
}

export function environmentText(facts: EnvironmentFacts): string {
  const lines = [
    `Directory: ${facts.cwd}`,
    `Date: ${localDay(facts.now)}`,
    `Git: ${gitText(facts.repository)}`,
    `System: ${facts.system}, shell ${facts.shell}`,
    ...(facts.listing === null ? [] : [`Top level: ${listingText(facts.listing)}`]),
  ];
  return wellFormedText(lines.map((line) => line.replace(/[\r\n]+/g, " ")).join("\n"));
}

function gitText(repository: RepositoryFacts | null): string {
  if (repository === null) return "no repository";
  const branch = repository.branch === null ? "no branch" : `branch ${repository.branch}`;
  const changed = repository.changed === 0 ? "clean" : `${repository.changed} changed`;
  return `${branch}, ${changed}, root ${repository.root}`;
}

function listingText({ names, more }: { readonly names: readonly string[]; readonly more: number }): string {
  if (names.length === 0) return "(empty)";
  return more === 0 ? names.join(" ") : `${names.join(" ")} and ${more} more`;
}

/** What a new note is written for: directory, day and branch. How many files changed is not one of them. */
export function environmentKey(text: string): string {
  const line = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1] ?? "";
  const git = line("Git").replace(/, (clean|\d+ changed)(?=,|$)/, "");
  return [line("Directory"), line("Date"), git].join("\n");
}

/** The newest environment note of the log, or null. */
export function lastEnvironment(rows: readonly StoredRow[]): string | null {
  const row = rows.findLast((candidate) => isKind(candidate, "note") && candidate.data.topic === environmentTopic);
  return row !== undefined && isKind(row, "note") ? row.data.text : null;
}
