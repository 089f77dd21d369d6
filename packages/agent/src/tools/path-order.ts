/**
 * One order for found paths, whoever found them: directory by directory, names by their UTF-8 bytes. It is the order in
 * which ripgrep walks when it sorts, so a sorted run that stops early and a full run agree on what comes first.
 */
export function comparePaths(a: string, b: string): number {
  const left = a.split("/");
  const right = b.split("/");
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i++) {
    const order = compareNames(left[i] ?? "", right[i] ?? "");
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

export function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
