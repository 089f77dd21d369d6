import type { DemoCall, Hit, Move, Plan, PlanView } from "./move.ts";
import { calls, done, fileLines, gaveUp, hitsOf, lastResult, plural, quoteShell, resultsOf, tryCalls } from "./move.ts";

const shownMax = 15;

/** "List the TODO comments (and fix the first one)." */
export const todoComments: Plan = (view) => {
  const result = lastResult(view);
  if (result === undefined) {
    return tryCalls("TODO comments are found by a search.", "I search the project for TODO comments.", [
      calls.grep(view.tools, "\\b(TODO|FIXME)\\b"),
    ]);
  }
  const search = resultsOf(view, "grep")[0];
  if (search === undefined || search.isError) return gaveUp(result);
  const hits = hitsOf(search.text);
  const [first] = hits;
  if (first === undefined) return done("There is no TODO or FIXME comment in this project.");
  const list = listing(hits);
  if (!/\b(fix|resolve|do|implement|address|handle|solve|complete|clean)\b/i.test(view.task)) return done(list);
  if (result.name === "grep") {
    return tryCalls(
      "The first one is to be fixed: I read its file.",
      `${list}\n\nI take the first one and read \`${first.file}\`.`,
      [calls.read(view.tools, first.file)],
    );
  }
  if (result.name === "bash") return finish(view, first, result.isError ? "" : result.text);
  if (result.isError) return gaveUp(result);
  if (result.name === "read") return fix(view, first, fileLines(result.text));
  return tryCalls("A quick check shows whether the file is still sound.", "The file is changed. I check it.", [
    calls.bash(view.tools, checkCommand(first.file)),
  ]);
};

function listing(hits: readonly Hit[]): string {
  const lines = hits.slice(0, shownMax).map((hit) => `- \`${hit.file}:${hit.line}\` ${hit.text.slice(0, 140)}`);
  const more = hits.length > shownMax ? `\n- … and ${hits.length - shownMax} more` : "";
  return `I found ${plural(hits.length, "TODO comment")}:\n\n${lines.join("\n")}${more}`;
}

interface Fix {
  readonly from: string;
  readonly to: string;
  readonly all: boolean;
  /** What is done, for the person. */
  readonly what: string;
}

function fix(view: PlanView, hit: Hit, lines: readonly string[]): Move {
  const at = lines.findIndex((line, index) => /\b(TODO|FIXME)\b/.test(line) && Math.abs(index + 1 - hit.line) <= 1);
  const line = lines[at];
  if (line === undefined) return done("The comment is not where the search saw it, so I changed nothing.");
  const chosen = fixFor(line, at, lines);
  return tryCalls(`The comment says: ${hit.text}`, chosen.what, [edit(view, hit.file, chosen)]);
}

const edit = (view: PlanView, file: string, { from, to, all }: Fix): DemoCall | null =>
  calls.edit(view.tools, { file, from, to, all });

/** The few instructions that plain rules can carry out; for all else the comment is marked as read, and that is said. */
function fixFor(line: string, at: number, lines: readonly string[]): Fix {
  const text = line.replace(/^.*?\b(TODO|FIXME)\b(\([^)]*\))?:?\s*/, "").replace(/\s*(\*\/|-->)\s*$/, "");
  const before = lines[at - 1];
  const below = lines[at + 1] ?? "";
  // The line above makes the place unique where the same comment stands twice.
  const anchored = (inner: string): string =>
    lines.filter((other) => other === line).length > 1 && before !== undefined ? `${before}\n${inner}` : inner;
  const swap = /\b(?:change|replace|rename)\s+[`"']?(.+?)[`"']?\s+(?:to|with|by)\s+[`"']?(.+?)[`"']?\s*\.?$/i.exec(
    text,
  );
  if (swap?.[1] !== undefined && swap[2] !== undefined && below.includes(swap[1])) {
    const fixed = below.replaceAll(swap[1], swap[2]);
    return {
      from: `${line}\n${below}`,
      to: fixed,
      all: false,
      what: `I carry it out: \`${swap[1]}\` becomes \`${swap[2]}\`, and the comment goes.`,
    };
  }
  const returns = /\b(?:should\s+)?return(?:s)?\s+(.+?)\.?$/i.exec(text)?.[1];
  const statement = /^(\s*)return\b.*?(;?)$/.exec(below);
  if (returns !== undefined && statement !== null) {
    const fixed = `${statement[1]}return ${returns}${statement[2]}`;
    return {
      from: `${line}\n${below}`,
      to: fixed,
      all: false,
      what: `I carry it out: the line below returns \`${returns}\` now, and the comment goes.`,
    };
  }
  if (
    /^(remove|delete|drop)\s+(this|the next|the following)?\s*(line|statement|log|call)?\b/i.test(text) &&
    below.trim() !== ""
  ) {
    const next = lines[at + 2];
    const tail = next === undefined ? "" : `\n${next}`;
    return {
      from: `${line}\n${below}${tail}`,
      to: next ?? "",
      all: false,
      what: `I carry it out: the line \`${below.trim()}\` goes, and the comment with it.`,
    };
  }
  const marked = line.replace(/\b(TODO|FIXME)\b(\([^)]*\))?:?/, "NOTE (looked at by the demo model):");
  return {
    from: anchored(line),
    to: anchored(marked),
    all: false,
    what: "Writing the code that it asks for is beyond plain rules. What I can do honestly is to mark the comment as looked at.",
  };
}

function checkCommand(file: string): string {
  const quotedFile = quoteShell(file);
  if (/\.[cm]?js$/.test(file)) return `node --check ${quotedFile} && echo "syntax is fine"`;
  if (/\.sh$/.test(file)) return `bash -n ${quotedFile} && echo "syntax is fine"`;
  return `grep -nE 'TODO|FIXME' ${quotedFile} || echo "no TODO left in this file"`;
}

function finish(view: PlanView, hit: Hit, output: string): Move {
  const told = output.trim() === "" ? "" : ` The check says: \`${output.trim().split("\n")[0]}\`.`;
  const edited = resultsOf(view, "edit")[0];
  const state = edited?.isError === true ? "was not changed" : "is changed";
  return done(
    `\`${hit.file}\` ${state} at line ${hit.line}.${told} You can see the difference in the card of the edit.`,
  );
}
