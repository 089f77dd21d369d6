/** Which plan a sentence asks for, by plain rules, and the sequence of plans when a steer adds another task. Pure. */
import { createFile } from "./create-file.ts";
import { findText } from "./find-text.ts";
import { listFiles } from "./list-files.ts";
import { done, type Move, type Plan } from "./move.ts";
import { readFile } from "./read-file.ts";
import { rename } from "./rename.ts";
import { replaceText } from "./replace-text.ts";
import { explainFailure, runTests } from "./run-tests.ts";
import { todoComments } from "./todo-comments.ts";
import type { DemoStep, DemoView } from "./view.ts";
import { pathIn } from "./words.ts";

/** The first rule that fits wins: the narrow ones stand in front. */
const rules: readonly (readonly [fits: (task: string) => boolean, plan: Plan])[] = [
  [(task) => /\brename\b/i.test(task), rename],
  [(task) => /\b(to-?dos?|fixmes?)\b/i.test(task), todoComments],
  [
    (task) =>
      /\b(why|explain|what|understand|diagnose|reason|look into)\b/i.test(task) &&
      /\b(fail\w*|error|broken|breaks|crash\w*|red)\b/i.test(task),
    explainFailure,
  ],
  [
    (task) =>
      /\btests?\b|\btest suite\b|\bspecs\b/i.test(task) && /\b(run|execute|start|pass|green|check|try)\b/i.test(task),
    runTests,
  ],
  [
    (task) => /\b(replace|swap|substitute)\b|\bchange\b.+\b(to|into|with)\b|\bedit\b.+\b(to|into|say)\b/is.test(task),
    replaceText,
  ],
  [
    (task) => /\b(create|write|make|add|new)\b/i.test(task) && (/\bfile\b/i.test(task) || pathIn(task) !== null),
    createFile,
  ],
  [
    (task) => /\b(where|find|search|locate|grep|look for|occurrences?|usages?|who (calls|uses))\b/i.test(task),
    findText,
  ],
  [
    (task) =>
      /\b(list|show|what|which|see|tree|ls)\b/i.test(task) &&
      /\b(files?|folders?|director(y|ies)|structure|layout|here|in this project|contents?)\b/i.test(task) &&
      !/\.\w{1,5}\b/.test(task),
    listFiles,
  ],
  [
    (task) =>
      /\b(read|show|open|explain|describe|summari[sz]e|what|tell|look at|cat|print)\b/i.test(task) &&
      pathIn(task) !== null,
    readFile,
  ],
];

const canDo = `I am the **demo model**: plain rules, no AI, so I only know a few kinds of work. But I do them with the real tools, in your directory. Try one of these:

- *list the TODO comments in this project and fix the first one*
- *where is \`someName\` defined?*
- *explain README.md*, or any file by its name
- *what files are here?*
- *create a file notes.md with "hello"*
- *replace "old text" with "new text" in a file*
- *rename \`oldName\` to \`newName\` everywhere*
- *run the tests*, or *why do the tests fail?*

For anything else add a key or a local model in the settings.`;

const whatICan: Plan = () => done(canDo, "No rule of mine fits this request.");

export function planFor(task: string): Plan | null {
  return rules.find(([fits]) => fits(task))?.[1] ?? null;
}

const ends = /^\s*(please\s+)?(stop|enough|cancel|never ?mind|leave it|that'?s? (is )?enough|forget it)\b/i;

/**
 * The next move. Tasks are worked on one after another: the request's own, then each steer that is a task of its own. A
 * task's steps are those made before its plan said that it was done.
 */
export function nextMove(view: DemoView): Move {
  const heard = view.steps.at(-1)?.steers ?? [];
  const answer = heard.map(answerTo).join(" ");
  if (heard.some((steer) => ends.test(steer))) {
    return done(
      `You said “${clip(heard.find((steer) => ends.test(steer)) ?? "")}”, so I stop here. What was done so far stays.`,
    );
  }
  const steers = view.steps.flatMap((step) => step.steers).filter((steer) => planFor(steer) !== null);
  const move = moveOf([view.task, ...steers], view);
  const opening = view.steps.length === 0 ? "*Demo model: plain rules, no AI.* " : "";
  return { ...move, say: [answer === "" ? "" : `${answer}\n\n`, opening, move.say].join("") };
}

function moveOf(tasks: readonly string[], view: DemoView): Move {
  let steps: readonly DemoStep[] = view.steps;
  const said: string[] = [];
  for (const [index, task] of tasks.entries()) {
    const plan = planFor(task) ?? whatICan;
    const used = stepsUntilDone(plan, task, { ...view, steps });
    const move = plan({ task, tools: view.tools, steps: steps.slice(0, used) });
    if (move.calls.length > 0 || index === tasks.length - 1) return { ...move, say: [...said, move.say].join("\n\n") };
    // Steps behind the end belong to the tasks that follow; the end itself is told once, when nothing followed it yet.
    if (used === steps.length) said.push(move.say, "Now to what you asked meanwhile.");
    steps = steps.slice(used);
  }
  return done(said.join("\n\n"));
}

/** How many of the steps this plan took before it was done; all of them when it is not. */
function stepsUntilDone(plan: Plan, task: string, view: DemoView): number {
  for (let count = 0; count < view.steps.length; count++) {
    if (plan({ task, tools: view.tools, steps: view.steps.slice(0, count) }).calls.length === 0) return count;
  }
  return view.steps.length;
}

function answerTo(steer: string): string {
  const said = `You said meanwhile: “${clip(steer)}”.`;
  return planFor(steer) === null
    ? `${said} I read it, but no rule of mine fits it, so I go on with what I was doing.`
    : `${said} I do that right after this.`;
}

const clip = (text: string): string => {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
};
