/** One program with its words, assignments and redirections, as a part to be judged. */
import { programFacts } from "./program-facts.ts";
import type { RedirectionFacts } from "./redirections.ts";
import { type Demand, type ShellPart, strictest, unjudged } from "./shell-part.ts";
import type { ShellWord } from "./shell-word.ts";
import { isLocalName, steersPrograms } from "./variables.ts";

export interface Assigned {
  readonly name: string;
  readonly source: string;
}

interface Simple {
  readonly words: readonly ShellWord[];
  readonly assigns: readonly Assigned[];
  readonly redirections: readonly RedirectionFacts[];
  readonly text: string;
}

export function partOf({ words, assigns, redirections, text }: Simple): ShellPart {
  const { sureWords, values, isKnown } = sureOf(words);
  const { named, runsAny, ...program } = programFacts(words);
  // `echo` runs nothing, but what is asked of its variables and files counts all the same.
  const demand = strictest([...redirections, ...assigns.map(prefixDemand), program]);
  const assigned = assigns.map(({ source }) => `${source} `).join("");
  const plain = words.map(({ source }) => source);
  const led = redirections.flatMap(({ needs, source, input }) => input?.text ?? (needs === "nothing" ? [] : source));
  return {
    text,
    words: plain.join(" "),
    sureWords,
    isKnown: isKnown && assigns.every(isSettled) && redirections.every(({ input }) => input?.isKnown !== false),
    assigned,
    lead: assigned + plain.slice(0, named).join(" "),
    whole: [assigned + plain.join(" "), ...led].join(" "),
    values: runsAny && !isKnown ? "" : values,
    ...filesOf(redirections),
    needs: demand.needs,
    ...(demand.why !== undefined && { why: demand.why }),
  };
}

export const filesOf = (redirections: readonly RedirectionFacts[]): Pick<ShellPart, "writes" | "reads"> => ({
  writes: redirections.flatMap(({ writes }) => writes ?? []),
  reads: redirections.flatMap(({ reads }) => reads ?? []),
});

const isSettled = ({ source }: Assigned): boolean => !/[$`]/.test(source);

/** Assignments that stand alone, or null when they concern nobody but the shell's own variables. */
export function assignedPart(assigns: readonly Assigned[], text: string): ShellPart | null {
  const told = assigns.filter(({ name }) => !isLocalName(name));
  const [first] = told;
  if (first === undefined) return null;
  const steers = told.find(({ name }) => steersPrograms(name));
  return {
    ...unjudged(text, `sets ${(steers ?? first).name} for what follows`),
    words: "",
    isKnown: assigns.every(isSettled),
    needs: steers === undefined ? "exact" : "person",
  };
}

const prefixDemand = ({ name }: Assigned): Demand =>
  steersPrograms(name) ? { needs: "person", why: `sets ${name}, which can change what is run` } : { needs: "rule" };

function sureOf(words: readonly ShellWord[]): Pick<ShellPart, "sureWords" | "values" | "isKnown"> {
  const at = words.findIndex(({ value }) => value === null);
  const known = at === -1 ? words : words.slice(0, at);
  const unclear = at === -1 ? undefined : words[at];
  const sources = known.map(({ source }) => source);
  const values = known.map(({ value }) => value ?? "");
  if (unclear === undefined) return { sureWords: sources.join(" "), values: values.join(" "), isKnown: true };
  return {
    sureWords: [...sources, unclear.sureSource].join(" "),
    values: [...values, unclear.sure].join(" "),
    isKnown: false,
  };
}
