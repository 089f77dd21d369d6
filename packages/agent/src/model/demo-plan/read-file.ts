import {
  calls,
  code,
  type DemoCall,
  done,
  fileLines,
  firstLines,
  gaveUp,
  lastResult,
  type Plan,
  plural,
  resultsOf,
  tryCalls,
} from "./move.ts";
import { pathIn, quoted } from "./words.ts";

/** "What does FILE do?" A path that does not exist as it was said is looked for by its name. */
export const readFile: Plan = (view) => {
  const file = pathIn(quoted(view.task).join(" ")) ?? pathIn(view.task);
  if (file === null) return done("Tell me which file, with its name.");
  const result = lastResult(view);
  const read = (path: string): DemoCall | null => calls.read(view.tools, path);
  if (result === undefined) return tryCalls(`I need what is in ${file}.`, `I read \`${file}\`.`, [read(file)]);
  if (result.name === "read" && !result.isError) return done(describe(String(result.args.path ?? file), result.text));
  if (result.name === "read" && resultsOf(view, "glob").length === 0) {
    const name = file.split("/").at(-1) ?? file;
    return tryCalls(
      "There is no such path here; its name may stand elsewhere.",
      `\`${file}\` is not there. I look for its name.`,
      [calls.glob(view.tools, `**/${name}*`)],
    );
  }
  if (result.name !== "glob" || result.isError) return gaveUp(result);
  const found = result.text
    .split("\n")
    .find((line) => line.trim() !== "" && !/^\(|no (files|match)/i.test(line.trim()));
  if (found === undefined) return done(`I found no file called \`${file}\` in this directory.`);
  return tryCalls("One file has that name.", `I read \`${found.trim()}\`.`, [read(found.trim())]);
};

/** What plain rules can tell about a file: its size, its comment at the top, what it declares. */
function describe(path: string, text: string): string {
  const lines = fileLines(text);
  const declared = lines.flatMap((line) => declarationOf(line, path)).slice(0, 20);
  const comment = lines
    .find((line) => /^\s*(\/\/|#(?!!)|\/?\*+|--|<!--|""")\s*\w/.test(line))
    ?.replace(/^[\s/#*\-<!"]+/, "");
  const about =
    comment === undefined || /\.md$/i.test(path)
      ? ""
      : `It opens with: “${comment.replace(/\s*(\*\/|-->|""")\s*$/, "").slice(0, 160)}”. `;
  const holds = declared.length === 0 ? "" : `It declares:\n\n${declared.map((name) => `- ${name}`).join("\n")}\n\n`;
  return `\`${path}\` has ${plural(lines.length, "line")}. ${about}${holds}It begins:\n\n${code(firstLines(lines.join("\n"), 12))}`;
}

function declarationOf(line: string, path: string): readonly string[] {
  if (/\.md$/i.test(path)) return (/^#{1,3}\s+(.+)$/.exec(line)?.[1] ?? "").split("\n").filter((title) => title !== "");
  if (/\.json$/i.test(path)) return [...line.matchAll(/^ {2}"([^"]+)":/g)].map((match) => `the key \`${match[1]}\``);
  const match =
    /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:pub\s+)?(function|class|interface|type|enum|const|def|fn|func|struct)\s+([A-Za-z_$][\w$]*)/.exec(
      line,
    );
  return match === null || /^\s{3,}(const)/.test(line) ? [] : [`${match[1]} \`${match[2]}\``];
}
