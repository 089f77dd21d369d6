/**
 * What can be said of a command without parsing it. Both answers err to the safe side: a command is plain only if nothing
 * in it could be more than words, and its pieces are cut wherever one program could end and another begin.
 */

/** One program with its arguments: no operator, redirection, substitution, expansion of variables, or second line. */
export const isPlainCommand = (command: string): boolean =>
  !/[;&|<>()$`\\\n\r{}]/.test(command) && !/^\s*[A-Za-z_]\w*\+?=/.test(command) && !startsOthers(command);

/** Programs whose business is to run another one: their words are not what is run. */
const starters =
  /^\s*(?:\S*\/)?(?:env|command|builtin|exec|eval|source|\.|xargs|sudo|doas|su|nohup|setsid|nice|ionice|time|timeout|stdbuf|find|parallel|watch|strace|ssh|sh|bash|dash|zsh|ksh|fish|busybox|chroot|unshare|flock|script)(?:\s|$)/;
const startsOthers = (command: string): boolean => starters.test(command);

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
