/**
 * Exact replacement in a text whose line ends may be LF, CRLF or both. Models see and write LF alone, so the search runs
 * over the text with every CRLF read as one LF; a match is then carried back to the text as it is, and what lies outside
 * the matches is never written anew. The n-th line end of the replacement takes the form of the n-th line end that it
 * replaces, further ones the form of the last of these, or of the line on which the match stands.
 */
export type Replaced =
  | { readonly kind: "replaced"; readonly text: string; readonly matches: number }
  | { readonly kind: "missing" }
  /** Line numbers, from 1, of the matches; the first few. */
  | { readonly kind: "several"; readonly matches: number; readonly lines: readonly number[] };

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

const shownLinesMax = 5;

/** `oldText` must not be empty. */
export function replaceText(text: string, { oldText, newText, all }: Replacement): Replaced {
  const plain = text.replaceAll("\r\n", "\n");
  const wanted = oldText.replaceAll("\r\n", "\n");
  const starts = matchesOf(plain, wanted, !all);
  const [first] = starts;
  if (first === undefined) return { kind: "missing" };
  if (!all && starts.length > 1) {
    return { kind: "several", matches: starts.length, lines: starts.slice(0, shownLinesMax).map(lineOf(plain)) };
  }
  const carry = carrier(text);
  const parts: string[] = [];
  let done = 0;
  for (const start of starts) {
    const from = carry(start);
    const to = carry(start + wanted.length);
    parts.push(text.slice(done, from), withEnds(newText, text, { from, to }));
    done = to;
  }
  parts.push(text.slice(done));
  return { kind: "replaced", text: parts.join(""), matches: starts.length };
}

/** Places where it begins; overlapping ones count when exactly one is wanted, because each could be the one meant. */
function matchesOf(text: string, wanted: string, overlapping: boolean): readonly number[] {
  const starts: number[] = [];
  const stride = overlapping ? 1 : wanted.length;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + stride)) starts.push(at);
  return starts;
}

const lineOf =
  (text: string) =>
  (at: number): number => {
    let line = 1;
    for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", end + 1)) line += 1;
    return line;
  };

/** From places in the text without CR to places in the text. To be asked with rising places. */
function carrier(text: string): (place: number) => number {
  let crlf = text.indexOf("\r\n");
  let removed = 0;
  return (place) => {
    // The n-th CRLF at `crlf` stands at `crlf - removed` in the plain text; places beyond it lie one further.
    while (crlf !== -1 && crlf - removed < place) {
      removed += 1;
      crlf = text.indexOf("\r\n", crlf + 2);
    }
    return place + removed;
  };
}

function withEnds(newText: string, text: string, match: { readonly from: number; readonly to: number }): string {
  if (!newText.includes("\n") || !text.includes("\r\n")) return newText;
  const replaced = text.slice(match.from, match.to).match(/\r?\n/g) ?? [];
  const further = replaced.at(-1) ?? endAround(text, match.to);
  let n = 0;
  return newText.replace(/\r?\n/g, () => replaced[n++] ?? further);
}

/** The end of the line on which `place` stands, else of the line before it. */
function endAround(text: string, place: number): string {
  const next = text.indexOf("\n", place);
  const end = next === -1 ? text.lastIndexOf("\n") : next;
  return text[end - 1] === "\r" ? "\r\n" : "\n";
}
