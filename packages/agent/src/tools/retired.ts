/**
 * Tools that a release had and this one has not. Their definitions live on in the frozen prefix of open logs, so a model may
 * still call them: the answer names what to use instead. A name that was released once never gets another meaning.
 */

/** By name: a sentence that names the replacement. None was retired yet. */
export const retiredTools: Readonly<Record<string, string>> = {};

export function unknownToolText(
  name: string,
  names: readonly string[],
  retired: Readonly<Record<string, string>> = retiredTools,
): string {
  const instead = Object.hasOwn(retired, name) ? retired[name] : undefined;
  if (instead !== undefined) return `The tool "${name}" is no longer there. ${instead}`;
  return `There is no tool named "${name}". The tools are: ${names.join(", ")}.`;
}
