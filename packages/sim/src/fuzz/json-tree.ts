/**
 * JSON as a tree that can also hold what no value of the language can: numbers out of range, a key twice, text that only
 * looks like JSON. What is made of it is text.
 */
export type Tree = string | number | boolean | null | readonly Tree[] | Raw | Members;

/** Goes into the text as it is. */
export interface Raw {
  readonly raw: string;
}
/** Members in order; the same name may come twice. */
export interface Members {
  readonly members: readonly (readonly [name: string, value: Tree])[];
}

export const raw = (text: string): Raw => ({ raw: text });
export const membersOf = (value: Readonly<Record<string, Tree>>): Members => ({ members: Object.entries(value) });

const isMembers = (tree: Tree): tree is Members => typeof tree === "object" && tree !== null && "members" in tree;
const isRaw = (tree: Tree): tree is Raw => typeof tree === "object" && tree !== null && "raw" in tree;
const isList = (tree: Tree): tree is readonly Tree[] => Array.isArray(tree);

export function textOf(tree: Tree): string {
  if (isList(tree)) return `[${tree.map(textOf).join(",")}]`;
  if (isRaw(tree)) return tree.raw;
  if (isMembers(tree)) {
    return `{${tree.members.map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`).join(",")}}`;
  }
  return JSON.stringify(tree);
}

/** Where something stands in a tree: the positions of children from the top down. */
export type Place = readonly number[];

const childrenOf = (tree: Tree): readonly Tree[] =>
  isList(tree) ? tree : isMembers(tree) ? tree.members.map(([, value]) => value) : [];

/** Every place, the whole first. */
export function placesIn(tree: Tree, at: Place = []): readonly Place[] {
  return [at, ...childrenOf(tree).flatMap((child, index) => placesIn(child, [...at, index]))];
}

/** The tree with another subtree at a place. */
export function changedAt(tree: Tree, at: Place, change: (part: Tree) => Tree): Tree {
  const [first, ...rest] = at;
  if (first === undefined) return change(tree);
  if (isList(tree)) return tree.map((child, index) => (index === first ? changedAt(child, rest, change) : child));
  if (!isMembers(tree)) return tree;
  return {
    members: tree.members.map(([name, value], index) =>
      index === first ? [name, changedAt(value, rest, change)] : [name, value],
    ),
  };
}

/** The members of an object, for changes of the object itself; null for everything else. */
export const membersIn = (tree: Tree): Members["members"] | null => (isMembers(tree) ? tree.members : null);
