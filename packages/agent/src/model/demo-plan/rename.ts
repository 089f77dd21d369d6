import type { DemoCall, Plan, PlanView } from "./move.ts";
import { calls, done, fileLines, gaveUp, hitsOf, lastResult, plural, resultsOf, tryCalls } from "./move.ts";
import { escapeRegex, quoted } from "./words.ts";

const filesMax = 20;

/** "Rename OLD to NEW everywhere." Search, read each file, change each, search again. */
export const rename: Plan = (view) => {
  const names = namesIn(view.task);
  if (names === null) return done("Tell me both names: rename `old` to `new`.");
  const { from, to } = names;
  const result = lastResult(view);
  const word = `\\b${escapeRegex(from)}\\b`;
  if (result === undefined) {
    return tryCalls(`First I need every place that says ${from}.`, `I look for every place that says \`${from}\`.`, [
      calls.grep(view.tools, word),
    ]);
  }
  const failed = view.steps.at(-1)?.results.find((one) => one.isError);
  if (failed !== undefined && resultsOf(view, "grep").length < 2) return gaveUp(failed);
  const files = [...new Set(hitsOf(resultsOf(view, "grep")[0]?.text ?? "").map((hit) => hit.file))].slice(0, filesMax);
  if (files.length === 0) return done(`Nothing here says \`${from}\`, so there is nothing to rename.`);
  if (result.name === "grep" && view.steps.length === 1) {
    return tryCalls(
      "I read the files before I change them, so that only whole names are replaced.",
      `It stands in ${plural(files.length, "file")}: ${files.map((file) => `\`${file}\``).join(", ")}. I read them.`,
      files.map((file) => calls.read(view.tools, file)),
    );
  }
  if (result.name === "read") {
    const edits = editsFor(view, names);
    if (edits.length === 0) return done(`I found no whole word \`${from}\` to rename.`);
    return tryCalls("Only whole names are replaced.", `Now I rename it in ${plural(files.length, "file")}.`, edits);
  }
  if (result.name === "edit") {
    return tryCalls("A second search shows whether one was missed.", "I check that none is left.", [
      calls.grep(view.tools, word),
    ]);
  }
  const left = hitsOf(result.text).length;
  return done(
    left === 0
      ? `\`${from}\` is now \`${to}\` in ${plural(files.length, "file")}; no place is left.`
      : `\`${from}\` is now \`${to}\`, but ${plural(left, "place")} still ${left === 1 ? "says" : "say"} \`${from}\`.`,
  );
};

function namesIn(task: string): { readonly from: string; readonly to: string } | null {
  const [from, to] = quoted(task);
  if (from !== undefined && to !== undefined) return { from, to };
  const plain =
    /\brename\s+(?:the\s+)?(?:function|class|variable|method|constant|type|symbol|identifier)?\s*[`"']?([A-Za-z_$][\w$]*)[`"']?\s+(?:to|into|as|->|→)\s+[`"']?([A-Za-z_$][\w$]*)/i.exec(
      task,
    );
  return plain?.[1] === undefined || plain[2] === undefined ? null : { from: plain[1], to: plain[2] };
}

/** One edit a file where the name never stands inside a longer one; else one edit for each differing line. */
function editsFor(view: PlanView, names: { readonly from: string; readonly to: string }): readonly (DemoCall | null)[] {
  const word = new RegExp(`\\b${escapeRegex(names.from)}\\b`, "g");
  return resultsOf(view, "read").flatMap((result) => {
    const file = String(result.args.path ?? result.args.file ?? "");
    const lines = fileLines(result.text);
    const text = lines.join("\n");
    const whole = (text.match(word) ?? []).length;
    if (whole === 0) return [];
    if (text.split(names.from).length - 1 === whole) {
      return [calls.edit(view.tools, { file, from: names.from, to: names.to, all: true })];
    }
    const changed = [...new Set(lines.filter((line) => line.search(word) >= 0))];
    return changed.map((line) =>
      calls.edit(view.tools, { file, from: line, to: line.replace(word, () => names.to), all: true }),
    );
  });
}
