import { calls, done, fileLines, gaveUp, hitsOf, lastResult, type Plan, plural, resultsOf, tryCalls } from "./move.ts";
import { escapeRegex, pathIn, quoted } from "./words.ts";

/** "Replace X by Y in FILE." Without a file it is looked for. */
export const replaceText: Plan = (view) => {
  const wanted = readTask(view.task);
  if (wanted === null) return done("Put the old text and the new one in quotes, and name the file.");
  const result = lastResult(view);
  if (result === undefined) {
    if (wanted.file !== null) {
      return tryCalls("I look at the text before I change it.", `I read \`${wanted.file}\` first.`, [
        calls.read(view.tools, wanted.file),
      ]);
    }
    return tryCalls("No file is named, so I search for the old text.", `I look for \`${wanted.from}\`.`, [
      calls.grep(view.tools, escapeRegex(wanted.from)),
    ]);
  }
  if (result.isError) return gaveUp(result);
  const file = wanted.file ?? hitsOf(resultsOf(view, "grep")[0]?.text ?? "")[0]?.file;
  if (file === undefined) return done(`\`${wanted.from}\` stands in no file here, so there is nothing to replace.`);
  if (result.name === "grep") {
    return tryCalls("The first file that holds it is meant.", `It stands in \`${file}\`. I read it first.`, [
      calls.read(view.tools, file),
    ]);
  }
  if (result.name === "edit") return done(`\`${file}\` now says \`${wanted.to}\` where it said \`${wanted.from}\`.`);
  const count = fileLines(result.text).join("\n").split(wanted.from).length - 1;
  if (count === 0) return done(`\`${file}\` does not hold \`${wanted.from}\`, so I changed nothing.`);
  return tryCalls(`The text occurs ${plural(count, "time")}.`, `I replace it (${plural(count, "place")}).`, [
    calls.edit(view.tools, { file, from: wanted.from, to: wanted.to, all: count > 1 }),
  ]);
};

function readTask(task: string): { readonly from: string; readonly to: string; readonly file: string | null } | null {
  const texts = quoted(task);
  const [from, to] = texts.filter((text) => texts.length <= 2 || pathIn(text) !== text);
  if (from !== undefined && to !== undefined) {
    const rest = [from, to].reduce((left, text) => left.replace(text, " "), task);
    return { from, to, file: pathIn(rest) };
  }
  const plain = /\b(?:replace|change|swap)\s+(\S+)\s+(?:with|by|to|for|into)\s+(\S+?)[.,]?(?:\s|$)/i.exec(task);
  if (plain?.[1] === undefined || plain[2] === undefined) return null;
  return { from: plain[1], to: plain[2], file: pathIn(task.replace(plain[0], " ")) };
}
