/**
 * The groups of nodes that reach each other, from a map node -> nodes it points at; each group once, with at least two
 * members or one that points at itself. Walks with its own stack, so that a long chain can't overflow the call stack.
 */
export function cyclesOf(edges) {
  const state = new Map();
  const stack = [];
  const groups = [];
  let count = 0;
  const enter = (node) => {
    state.set(node, { index: count, low: count, open: true, next: 0 });
    count += 1;
    stack.push(node);
    return node;
  };
  for (const start of edges.keys()) {
    if (state.has(start)) continue;
    const path = [enter(start)];
    while (path.length > 0) {
      const node = path[path.length - 1];
      const at = state.get(node);
      const target = (edges.get(node) ?? [])[at.next];
      if (target !== undefined) {
        at.next += 1;
        const seen = state.get(target);
        if (seen === undefined) path.push(enter(target));
        else if (seen.open) at.low = Math.min(at.low, seen.index);
        continue;
      }
      path.pop();
      const parent = state.get(path[path.length - 1]);
      if (parent !== undefined) parent.low = Math.min(parent.low, at.low);
      if (at.low !== at.index) continue;
      const group = stack.splice(stack.indexOf(node));
      for (const member of group) state.get(member).open = false;
      if (group.length > 1 || (edges.get(node) ?? []).includes(node)) groups.push(group);
    }
  }
  return groups;
}
