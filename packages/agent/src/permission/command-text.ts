/**
 * A command's text cut wherever one program could end and another begin, without understanding it: rules that restrict are
 * held against these pieces beside what the grammar finds, so that a mistake of either is made good by the other.
 */

/** The whole text and all of its pieces, each without leading assignments and starters, for rules that restrict. */
export function commandPieces(command: string): readonly string[] {
  // `$'rm'` and `$"rm"` are words as well, and a line that goes on behind a backslash is one.
  const bare = command.replace(/\\\r?\n/g, "").replace(/\$(?=["'])|["'\\]/g, "");
  const cut = [command, bare].flatMap((text) => text.split(/[;&|<>()`\n\r{}]|\$\(/));
  const pieces = new Set<string>();
  for (const piece of [command, ...cut]) {
    const words = piece.trim().split(/\s+/);
    // Every tail of the words: `env X=1 timeout 5 rm -r x` is also `rm -r x`.
    for (let from = 0; from < Math.min(words.length, tailsMax); from++) {
      const tail = words.slice(from).join(" ");
      pieces.add(tail);
      // `/bin/rm -r x` is `rm -r x`.
      pieces.add(tail.replace(/^\S*\//, ""));
    }
    pieces.add(piece.trim());
  }
  pieces.delete("");
  return [...pieces];
}

/** Words from which a piece is read anew; beyond it only the piece as a whole counts. */
const tailsMax = 32;
