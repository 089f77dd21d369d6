import { calls, code, done, fileLines, firstLines, gaveUp, lastResult, type Plan, plural, tryCalls } from "./move.ts";
import { pathIn } from "./words.ts";

/** "What files are here?" */
export const listFiles: Plan = (view) => {
  const folder = pathIn(view.task)?.replace(/\/$/, "") ?? ".";
  const result = lastResult(view);
  if (result === undefined) {
    const where = folder === "." ? "this directory" : `\`${folder}\``;
    return tryCalls("A listing of one directory answers this.", `I look at what is in ${where}.`, [
      calls.list(view.tools, folder),
    ]);
  }
  if (result.isError) return gaveUp(result);
  const names = fileLines(result.text).filter((line) => line.trim() !== "");
  const folders = names.filter((name) => /\/(\s|$)/.test(name)).length;
  const counts = `${plural(folders, "folder")} and ${plural(names.length - folders, "file")}`;
  return done(`I see ${counts}:\n\n${code(firstLines(names.join("\n"), 40))}`);
};
