import { calls, code, done, firstLines, gaveUp, lastResult, type Plan, tryCalls } from "./move.ts";
import { pathIn, quoted } from "./words.ts";

/** "Create FILE with CONTENT." */
export const createFile: Plan = (view) => {
  const wanted = readTask(view.task);
  if (wanted === null) return done("Tell me the file's name, and in quotes what it shall hold.");
  const result = lastResult(view);
  if (result === undefined) {
    return tryCalls(
      `A new file ${wanted.file} is asked for; writing it is one call.`,
      `I write \`${wanted.file}\`:\n\n${code(firstLines(wanted.content, 20))}`,
      [calls.write(view.tools, wanted.file, wanted.content)],
    );
  }
  if (result.isError) return gaveUp(result);
  return done(`\`${wanted.file}\` is written.`);
};

/** The content is a code block, a quoted text, or what follows "with", "containing" or a colon. */
function readTask(task: string): { readonly file: string; readonly content: string } | null {
  const block = /```[^\n]*\n([\s\S]*?)```/.exec(task)?.[1];
  const outside = task.replace(/```[\s\S]*?```/g, " ");
  const texts = quoted(outside);
  const file =
    pathIn(outside.replace(/(?:with|containing|contains|saying|says|that reads)\b[\s\S]*$/i, "")) ?? pathIn(outside);
  if (file === null) return null;
  const said = texts.find((text) => text !== file);
  const rest =
    /(?:with(?: the)?(?: content| contents| text| line)?|containing|that (?:says|contains|reads)|saying)\s*:?\s+([\s\S]+)$/i.exec(
      outside,
    )?.[1];
  const content =
    block ?? said ?? rest?.trim().replace(/\.$/, "") ?? `# ${(file.split("/").at(-1) ?? file).replace(/\.[^.]*$/, "")}`;
  return { file, content: content.endsWith("\n") ? content : `${content}\n` };
}
