/** What a command consists of: the programs that it runs, each to be judged by itself. */

export const shellLimits = {
  /** Characters of a command that is read; a longer one is one thing that cannot be judged. */
  charsMax: 16_384,
  /** Programs in one command. */
  partsMax: 64,
  /** Places where a substitution could begin, counted before anything is read: the grammar reads each of them anew. */
  openingsMax: 256,
  /** Commands inside of commands: `sh -c`, `eval`, `trap`. */
  depthMax: 6,
} as const;

/**
 * How clearly a rule must speak to allow a part.
 *   nothing: it runs no program and changes nothing
 *   rule:    a pattern that fits
 *   exact:   a rule that holds its very text
 *   person:  no rule over commands; a person, or a rule that allows the whole tool or the whole text
 */
export type Needs = "nothing" | "rule" | "exact" | "person";

export interface ShellPart {
  /** As it stands in the command; for a program inside a wrapper, its own words. */
  readonly text: string;
  /** Its words as they are written, one space between: what a pattern is held against. */
  readonly words: string;
  /** The start of `words` that is sure; all of it, when every word is known. */
  readonly sureWords: string;
  readonly isKnown: boolean;
  /** Assignments before it, each with a space behind. */
  readonly assigned: string;
  /** What a pattern must spell out: the assignments, and the words that say what it is. */
  readonly lead: string;
  /** What an exact rule must say: assignments, words, redirections to files, what it is given to read. */
  readonly whole: string;
  /** The values of its words, one space between, as far as they are sure: what a rule that restricts is held against. */
  readonly values: string;
  /** Files that its redirections write and read, as far as they are known. */
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  readonly needs: Needs;
  /** Why it needs more than a pattern; a short phrase for the person. */
  readonly why?: string;
}

/** Something that no rule over commands can speak of. */
export const unjudged = (text: string, why: string): ShellPart => ({
  text,
  words: text,
  sureWords: "",
  isKnown: false,
  assigned: "",
  lead: "",
  whole: text,
  values: "",
  writes: [],
  reads: [],
  needs: "person",
  why,
});

const clarity: Readonly<Record<Needs, number>> = { nothing: 0, rule: 1, exact: 2, person: 3 };

export interface Demand {
  readonly needs: Needs;
  readonly why?: string;
}

/** The strictest of several demands; of equal ones the first. */
export const strictest = (demands: readonly Demand[]): Demand =>
  demands.reduce((worst, next) => (clarity[next.needs] > clarity[worst.needs] ? next : worst), { needs: "nothing" });
