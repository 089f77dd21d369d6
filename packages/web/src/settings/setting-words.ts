/** A setting that is a list of texts; null when this server has no such setting. */
export function wordsOf(value: unknown): readonly string[] | null {
  if (value === null) return [];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : null;
}
