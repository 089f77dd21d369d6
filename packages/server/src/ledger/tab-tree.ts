/** Who a tab is a child of, and which tabs are its children. Pure. */
import type { TabId } from "@varve/protocol";

export interface TreeNode {
  readonly id: TabId;
  readonly parentId: TabId | null;
}
export type Tree<N extends TreeNode = TreeNode> = ReadonlyMap<TabId, N>;

/** Generations that are looked at: a chain that is longer, or that bites its own tail, ends there. */
const generationsMax = 100;

/** The tab, its parent, and so on up. */
export function lineageOf<N extends TreeNode>(tabs: Tree<N>, tab: TabId): readonly N[] {
  const line: N[] = [];
  let node = tabs.get(tab);
  while (node !== undefined && line.length < generationsMax) {
    line.push(node);
    node = node.parentId === null ? undefined : tabs.get(node.parentId);
  }
  return line;
}

export const childrenOf = <N extends TreeNode>(tabs: Tree<N>, tab: TabId): readonly N[] =>
  [...tabs.values()].filter(({ parentId }) => parentId === tab);

/** The tab, its children, theirs, and so on down. Each stands once. */
export function familyOf(tabs: Tree, tab: TabId): ReadonlySet<TabId> {
  const family = new Set([tab]);
  let young: readonly TabId[] = [tab];
  while (young.length > 0) {
    young = [...tabs.values()].flatMap(({ id, parentId }) =>
      parentId !== null && young.includes(parentId) && !family.has(id) ? [id] : [],
    );
    for (const id of young) family.add(id);
  }
  return family;
}
