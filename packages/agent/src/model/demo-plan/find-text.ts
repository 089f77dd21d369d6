import { calls, done, gaveUp, hitsOf, lastResult, type Plan, plural, tryCalls } from "./move.ts";
import { escapeRegex, subjectIn } from "./words.ts";

const shownMax = 12;

/** "Where is X?" */
export const findText: Plan = (view) => {
  const subject = subjectIn(view.task);
  if (subject === null) return done("Tell me what to look for, best in quotes.");
  const result = lastResult(view);
  if (result === undefined) {
    return tryCalls(
      `The request is about "${subject}": a search over all files finds its places.`,
      `I search for \`${subject}\`.`,
      [calls.grep(view.tools, escapeRegex(subject))],
    );
  }
  if (result.isError) return gaveUp(result);
  const hits = hitsOf(result.text);
  if (hits.length === 0) return done(`Nothing in this directory holds \`${subject}\`.`);
  const files = new Set(hits.map((hit) => hit.file));
  const named = escapeRegex(subject);
  const definition = hits.find((hit) =>
    new RegExp(`\\b(function|class|const|let|var|def|fn|func|interface|type|enum|struct)\\s+${named}\\b`).test(
      hit.text,
    ),
  );
  const lines = hits.slice(0, shownMax).map((hit) => `- \`${hit.file}:${hit.line}\` ${hit.text.slice(0, 120)}`);
  const more = hits.length > shownMax ? `\n- … and ${hits.length - shownMax} more` : "";
  const where = definition === undefined ? "" : `It is defined in \`${definition.file}\` at line ${definition.line}. `;
  return done(
    `${where}\`${subject}\` stands in ${plural(hits.length, "line")} of ${plural(files.size, "file")}:\n\n${lines.join("\n")}${more}`,
  );
};
