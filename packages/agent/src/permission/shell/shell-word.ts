/** Words of a command: what the shell will make of one, as far as that is known before it runs. */
import { type Assignment, forEachChild, type SyntaxNode, type Word } from "unbash";

export interface ShellWord {
  /** As it is written, quotes and all. */
  readonly source: string;
  /** What the program will get; null when only the running shell knows, or when it may become several words or none. */
  readonly value: string | null;
  /** The start of `value` that is sure: every word that this one becomes begins with it, unless it `splits`. */
  readonly sure: string;
  /** The start of `source` that says so. */
  readonly sureSource: string;
  /** A part of it may become words of their own. */
  readonly splits: boolean;
}

/** What a program adds to the words of another one that it starts: any number of any words. */
export const addedWords: ShellWord = { source: "…", value: null, sure: "", sureSource: "", splits: true };

export const plainWord = (source: string, value: string): ShellWord => ({
  source,
  value,
  sure: value,
  sureSource: source,
  splits: false,
});

export function shellWord(word: Word, source: string): ShellWord {
  const text = source.slice(word.pos, word.end);
  // A tilde is somebody's home, by the environment of the shell.
  if (text.startsWith("~")) return { source: text, value: null, sure: "/", sureSource: "~", splits: false };
  const parts = word.parts ?? [];
  let sure = "";
  let end = word.pos;
  for (const part of parts) {
    const { value, start } = staticText(part);
    if (value === null) {
      const splits = parts.some(splitsWords);
      return { source: text, value: null, sure: sure + start, sureSource: source.slice(word.pos, end), splits };
    }
    sure += value;
    end = part.end;
  }
  return plainWord(text, parts.length === 0 ? word.value : sure);
}

/** An assignment in the place of an argument is a word as well: `export A=b`. */
export function assignmentWord(assignment: Assignment, source: string): ShellWord {
  const text = source.slice(assignment.pos, assignment.end);
  const { name, append, value, index } = assignment;
  const start = `${name}${append === true ? "+" : ""}=`;
  const right = value.type === "Word" ? shellWord(value, source) : null;
  if (right?.value !== null && right !== null && index === undefined) return plainWord(text, start + right.value);
  return { source: text, value: null, sure: name, sureSource: name, splits: false };
}

interface Static {
  /** What the part stands for, or null when only the running shell knows. */
  readonly value: string | null;
  /** With null: how it begins in any case. */
  readonly start: string;
}

function staticText(part: SyntaxNode): Static {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return { value: part.value, start: part.value };
    case "DoubleQuoted": {
      let start = "";
      let isKnown = true;
      forEachChild(part, (child) => {
        if (child.type !== "Literal") isKnown = false;
        else if (isKnown) start += child.value;
      });
      return { value: isKnown ? start : null, start };
    }
    default:
      return { value: null, start: "" }; // Expansions, globs, braces; `$"..."`, which a catalogue may translate.
  }
}

function splitsWords(part: SyntaxNode): boolean {
  switch (part.type) {
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
      return true;
    case "DoubleQuoted":
      // Only all arguments, or all elements, are several words in spite of their quotes.
      return /\$@|\$\{@|\[@\]|@\}/.test(part.text);
    case "BraceExpansion":
    case "ExtendedGlob":
      return part.text.includes("$") || part.text.includes("`");
    default:
      return false;
  }
}
