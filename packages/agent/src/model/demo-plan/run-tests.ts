import type { Move, Plan, PlanView } from "./move.ts";
import { calls, code, done, fileLines, firstLines, gaveUp, lastResult, plural, resultsOf, tryCalls } from "./move.ts";

/** "Run the tests." The directory tells how: nothing about it is assumed. */
export const runTests: Plan = (view) => {
  const ran = testRun(view);
  if ("move" in ran) return ran.move;
  const failed = ran.isError || looksFailed(ran.text);
  const end = lastLines(ran.text, 15);
  return done(
    `${failed ? "The tests **fail**" : "The tests **pass**"} (\`${ran.command}\`). The end of the output:\n\n${code(end)}`,
  );
};

/** "Why does it fail?" Runs the tests, then reads the place that the output names. */
export const explainFailure: Plan = (view) => {
  const ran = testRun(view);
  if ("move" in ran) return ran.move;
  if (!ran.isError && !looksFailed(ran.text)) {
    return done(`I ran \`${ran.command}\` and nothing fails:\n\n${code(lastLines(ran.text, 8))}`);
  }
  const place = placeIn(ran.text);
  const reads = resultsOf(view, "read").filter((result) => String(result.args.path ?? "") === place?.file);
  if (place !== null && reads.length === 0) {
    return tryCalls(
      `The output names ${place.file} at line ${place.line}: the reason should stand there.`,
      `It fails. The output points at \`${place.file}\`, line ${place.line}. I read it.`,
      [calls.read(view.tools, place.file)],
    );
  }
  return done(explain(ran, place, reads[0]?.text));
};

interface TestRun {
  readonly command: string;
  readonly text: string;
  readonly isError: boolean;
}

/** The finished test run, or the move that leads to it. */
function testRun(view: PlanView): TestRun | { readonly move: Move } {
  const ran = resultsOf(view, "bash")[0];
  if (ran !== undefined) {
    if (ran.isError && /refused|denied|not allowed|read.?only|stopped/i.test(ran.text.split("\n")[0] ?? "")) {
      return { move: gaveUp(ran) };
    }
    return { command: String(ran.args.command ?? ""), text: ran.text, isError: ran.isError };
  }
  const result = lastResult(view);
  const listing = resultsOf(view, "list")[0];
  if (result === undefined || listing === undefined) {
    const look = [calls.list(view.tools, ".")];
    return {
      move: tryCalls("The files here tell which test runner is used.", "I look how this project runs its tests.", look),
    };
  }
  if (listing.isError) return { move: gaveUp(listing) };
  const hasPackage = /(^|\s)package\.json\b/m.test(listing.text);
  if (hasPackage && resultsOf(view, "read").length === 0) {
    const read = [calls.read(view.tools, "package.json")];
    return {
      move: tryCalls("package.json names the test script.", "There is a `package.json`; I read its scripts.", read),
    };
  }
  const command = commandFor(listing.text, hasPackage ? (resultsOf(view, "read")[0]?.text ?? "") : "");
  if (command === null) return { move: done("I see no test runner that I know in this directory, so I ran nothing.") };
  return {
    move: tryCalls(`The tests run with ${command}.`, `I run \`${command}\`.`, [calls.bash(view.tools, command)]),
  };
}

function commandFor(listing: string, packageJson: string): string | null {
  const has = (name: RegExp): boolean => name.test(listing);
  if (/"test"\s*:/.test(fileLines(packageJson).join("\n"))) return "npm test --silent";
  if (has(/\bCargo\.toml\b/)) return "cargo test";
  if (has(/\bgo\.mod\b/)) return "go test ./...";
  if (has(/\b(pytest\.ini|pyproject\.toml|setup\.py)\b/)) return "python3 -m pytest -q";
  if (has(/\bMakefile\b/)) return "make test";
  return /\.test\.m?js\b/.test(listing) || packageJson !== "" ? "node --test" : null;
}

const looksFailed = (text: string): boolean =>
  /exit(ed with)?( code)?:? [1-9]|\b[1-9]\d* (failed|failing|failures?)\b|\bfail [1-9]|✗|not ok\b|AssertionError/i.test(
    text,
  );

interface Place {
  readonly file: string;
  readonly line: number;
}

/** The first place of this project that the output names. */
function placeIn(text: string): Place | null {
  const found = [
    ...text.matchAll(
      /(?:file:\/\/)?((?:\/|\.{1,2}\/)?[\w@.+-]+(?:\/[\w@.+-]+)*\.[A-Za-z]{1,4})(?::(\d+)|", line (\d+))/g,
    ),
  ];
  const own = found.find((match) => !/node_modules|node:|^internal\//.test(match[1] ?? ""));
  return own === undefined ? null : { file: own[1] ?? "", line: Number(own[2] ?? own[3]) };
}

function explain(run: TestRun, place: Place | null, source: string | undefined): string {
  const telling = run.text
    .split("\n")
    .filter((line) => /error|expected|actual|assert|fail|not ok|!==|===|received/i.test(line) && line.trim().length > 3)
    .slice(0, 10);
  const said = telling.length > 0 ? telling.join("\n") : lastLines(run.text, 10);
  const lines = source === undefined ? [] : fileLines(source);
  const from = place === null ? 0 : Math.max(0, place.line - 4);
  const around = place === null ? "" : lines.slice(from, place.line + 3).join("\n");
  const where =
    place === null || around === ""
      ? ""
      : `\n\nThat is \`${place.file}\`, line ${place.line} (${plural(lines.length, "line")} in all):\n\n${code(around)}`;
  return `\`${run.command}\` fails. What it says:\n\n${code(firstLines(said, 10))}${where}\n\nPlain rules find the place; the fix needs a real model, or you.`;
}

const lastLines = (text: string, max: number): string => text.trimEnd().split("\n").slice(-max).join("\n");
