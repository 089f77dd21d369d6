/** Where a command's redirections lead. */
import type { Redirection } from "unbash";
import type { Demand } from "./shell-part.ts";
import { shellWord } from "./shell-word.ts";
import { isLocalName } from "./variables.ts";

export interface RedirectionFacts extends Demand {
  readonly source: string;
  /** The file that is written or read, as far as its name is known. */
  readonly writes?: string;
  readonly reads?: string;
  /** What the program is given to read, as it is written: an exact rule holds it too. Not known: it is expanded. */
  readonly input?: { readonly text: string; readonly isKnown: boolean };
}

/** Places that lead nowhere, or to where the output goes anyway. */
const harmlessPlaces = /^\/dev\/(null|stdin|stdout|stderr|fd\/\d+|zero)$/;
/** Bash opens connections under these names. */
const connection = /^\/dev\/(tcp|udp)\//;

export function redirectionFacts(node: Redirection, source: string): RedirectionFacts {
  const text = source.slice(node.pos, node.end);
  const harmless: RedirectionFacts = { source: text, needs: "nothing" };
  const { descriptor } = node;
  if (descriptor?.type === "FileDescriptorVariable" && !isLocalName(descriptor.name)) {
    return { source: text, needs: "person", why: `sets ${descriptor.name}` };
  }
  if (node.type === "HereString") {
    const isKnown = node.target !== undefined && shellWord(node.target, source).value !== null;
    return { ...harmless, input: { text, isKnown } };
  }
  if (node.type === "HereDoc") {
    if (node.closing === undefined) return { source: text, needs: "person", why: "its input has no end" };
    const isKnown = (node.body.parts ?? []).every(({ type }) => type === "Literal");
    return { ...harmless, input: { text: `${text}\n${source.slice(node.body.pos, node.closing.end)}`, isKnown } };
  }
  if (node.target === undefined) return { source: text, needs: "person", why: "leads nowhere" };
  const target = shellWord(node.target, source);
  const isCopy = node.operator === ">&" || node.operator === "<&";
  if (isCopy && target.value !== null && /^(\d+-?|-)$/.test(target.value)) return harmless;
  const reads = node.operator === "<" || node.operator === "<&";
  const what = reads ? "reads" : "writes";
  if (target.value === null) return { source: text, needs: "person", why: `${what} a file that is not known yet` };
  if (harmlessPlaces.test(target.value)) return harmless;
  if (connection.test(target.value)) return { source: text, needs: "person", why: "opens a connection" };
  if (!reads) return { source: text, needs: "exact", why: `writes ${target.value}`, writes: target.value };
  const isInside = !target.value.startsWith("/") && !target.value.split("/").includes("..");
  const read = { source: text, reads: target.value };
  return isInside ? { ...read, needs: "nothing" } : { ...read, needs: "exact", why: `reads ${target.value}` };
}
