/**
 * `patch`: a unified diff over several files. All hunks of all files fit exactly, or nothing is changed: the new bytes of each
 * file are on disk beside it before the first takes its place, and what was done is undone where a later one fails.
 */
import { z } from "zod";
import { isGuarded, type Located, locate } from "./boundary.ts";
import { look, refuseUnknown, type Standing, staleWords } from "./change-file.ts";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import { bounded, diffOf, type FileDiff } from "./file-diff.ts";
import { hashOf, knownFrom } from "./known-files.ts";
import { toolLimits } from "./limits.ts";
import { type FileOperations, type StagedFile, WorldFault } from "./operations.ts";
import { count, faultWords, isWellFormed, succeed, ToolFault } from "./outcome.ts";
import { applyHunks } from "./patch-lines.ts";
import { type FilePatch, parsePatch } from "./patch-text.ts";
import { bytesOf, type FileText } from "./text-bytes.ts";
import type { PreparedCall, Tool, ToolOutcome, ToolPlace } from "./tool.ts";
import { readWhole } from "./whole-file.ts";

const schema = z.strictObject({
  patch: z.string().min(1).max(toolLimits.writeCharsMax).describe("A unified diff"),
});

interface Planned {
  readonly located: Located;
  readonly action: FilePatch["action"];
  readonly standing: Standing | null;
  /** Null: the file goes. */
  readonly after: FileText | null;
  readonly diff: FileDiff;
}

export function patchTool(context: ToolContext): Tool {
  return defineTool({
    name: "patch",
    schema,
    prepare: async (args, place) => {
      if (!isWellFormed(args.patch)) {
        throw new ToolFault(
          "The text holds half of a surrogate pair, which no UTF-8 file can hold. Nothing was changed.",
        );
      }
      const files = parsePatch(args.patch);
      return prepared(context, { place, files, plans: await planAll(context, place, files) });
    },
  });
}

interface Patching {
  readonly place: ToolPlace;
  readonly files: readonly FilePatch[];
  readonly plans: readonly Planned[];
}

function prepared(context: ToolContext, patching: Patching): PreparedCall {
  const { place, files, plans } = patching;
  const paths = plans.map(({ located }) => located.real).sort();
  const [only] = paths;
  const writes = plans.every(({ located }) => located.where === "inside" && !isGuarded(located));
  return {
    effect: writes ? "write" : "run",
    subject: {
      tool: "patch",
      key: paths.join("\n"),
      ...(paths.length === 1 && only !== undefined && { path: only }),
      diff: wholeDiff(plans),
      parts: paths.map((text) => ({ text, asks: true })),
    },
    lock: paths,
    run: async () => {
      const now = await planAll(context, place, files);
      refuseStale(context, patching, now);
      return await carryOut(context, place, now);
    },
  };
}

const wholeDiff = (plans: readonly Planned[]): string => bounded(plans.map(({ diff }) => diff.diff).join(""));

/** Every file that does not fit is named, so that one more call can put all of them right. */
async function planAll(
  context: ToolContext,
  place: ToolPlace,
  files: readonly FilePatch[],
): Promise<readonly Planned[]> {
  const plans: Planned[] = [];
  const problems: string[] = [];
  let total = 0;
  for (const file of files) {
    try {
      const plan = await planOne(context, place, file);
      if (plans.some(({ located }) => located.real === plan.located.real)) {
        throw new ToolFault(`${plan.located.shown} stands in the patch more than once. Put its hunks together.`);
      }
      total += (plan.standing?.file.text.length ?? 0) + (plan.after?.text.length ?? 0);
      if (total > toolLimits.patchTotalCharsMax) {
        throw new ToolFault("The files of this patch are too large together. Use several patches.");
      }
      plans.push(plan);
    } catch (thrown) {
      if (thrown instanceof ToolFault) problems.push(thrown.message.replaceAll(" Nothing was changed.", ""));
      else if (thrown instanceof WorldFault) problems.push(faultWords(thrown.message, thrown.code));
      else throw thrown;
    }
  }
  if (problems.length > 0) throw new ToolFault(misfitWords(problems));
  return plans;
}

function misfitWords(problems: readonly string[]): string {
  const lines = problems.flatMap((problem) => problem.split("\n"));
  const more = lines.length - toolLimits.patchProblemsMax;
  const shown = lines.slice(0, toolLimits.patchProblemsMax);
  return ["Nothing was changed, in no file.", ...shown, ...(more > 0 ? [`... and ${more} more.`] : [])].join("\n");
}

async function planOne(context: ToolContext, place: ToolPlace, patch: FilePatch): Promise<Planned> {
  const { files } = context.operations;
  const located = await locate(files, place, patch.path);
  const { real, shown } = located;
  if (located.where === "spill") throw new ToolFault(`${real} is kept output, which can be read and not changed.`);
  if (patch.action === "create" && located.facts !== null) throw new ToolFault(`${shown} exists already.`);
  const standing = patch.action === "create" ? null : await look(context, located, "edit");
  refuseUnknown({ mustKnow: false }, located, { standing, known: context.memory(place.tabId).known.get(real) });
  const before = standing?.file ?? { text: "", marked: false };
  const applied = applyHunks(before.text, patch);
  if (applied.kind === "misfit") {
    throw new ToolFault(applied.problems.map((problem) => `${shown}, ${problem}`).join("\n"));
  }
  const diff = diffOf(shown, before.text, applied.text);
  if (patch.action !== "delete") {
    return { located, action: patch.action, standing, after: { ...before, text: applied.text }, diff };
  }
  await refuseKept(context, { patch, located, left: applied.text });
  return { located, action: "delete", standing, after: null, diff };
}

/** A deletion shows every line that goes, and takes the file itself, not what a link leads to. */
async function refuseKept(
  context: ToolContext,
  { patch, located, left }: { readonly patch: FilePatch; readonly located: Located; readonly left: string },
): Promise<void> {
  if (left !== "") {
    throw new ToolFault(`${located.shown} would be deleted, but the patch does not remove all of its lines.`);
  }
  const { files } = context.operations;
  const named = patch.path.startsWith("/") ? patch.path : `${located.root}/${patch.path}`;
  if ((await files.facts(named))?.kind === "link") {
    throw new ToolFault(`${patch.path} is a link; a patch deletes only files. Use a command.`);
  }
}

/** What the prompt showed is what is done: in between, only this tab's own calls may have changed a file. */
function refuseStale(context: ToolContext, { place, plans }: Patching, now: readonly Planned[]): void {
  const { known } = context.memory(place.tabId);
  for (const [i, { located, standing }] of now.entries()) {
    const shown = plans[i];
    if (shown?.located.real !== located.real) throw new ToolFault(staleWords(located));
    if (standing?.hash === shown.standing?.hash) continue;
    if (standing === null || standing.hash !== known.get(located.real)?.hash) throw new ToolFault(staleWords(located));
  }
}

async function carryOut(context: ToolContext, place: ToolPlace, plans: readonly Planned[]): Promise<ToolOutcome> {
  const { files } = context.operations;
  const staged: (StagedFile | null)[] = [];
  const begun: Planned[] = [];
  try {
    for (const { located, after } of plans) {
      staged.push(after === null ? null : await files.stage(located.real, bytesOf(after)));
    }
    for (const [i, plan] of plans.entries()) {
      const waiting = staged[i] ?? null;
      staged[i] = null;
      begun.push(plan);
      if (plan.after === null) await files.remove(plan.located.real);
      else await remember(context, place, { plan, waiting });
    }
  } catch (thrown) {
    // A file beside the others that could not be taken away must not keep them from being put back.
    await Promise.allSettled(staged.map((waiting) => waiting?.discard()));
    await undo(context, place, begun);
    throw thrown;
  }
  return outcomeOf(plans);
}

async function remember(
  context: ToolContext,
  place: ToolPlace,
  { plan, waiting }: { readonly plan: Planned; readonly waiting: StagedFile | null },
): Promise<void> {
  if (waiting === null || plan.after === null) return;
  const facts = await waiting.commit();
  context.memory(place.tabId).known.remember(plan.located.real, knownFrom(facts, hashOf(bytesOf(plan.after))));
}

/**
 * Puts back what was there. The last one begun may or may not be done: a replaced file can still fail to be synced. Where the
 * world refuses, or others have changed a file since, the fault says which files are changed.
 */
async function undo(context: ToolContext, place: ToolPlace, begun: readonly Planned[]): Promise<void> {
  const { files } = context.operations;
  const { known } = context.memory(place.tabId);
  const stuck: string[] = [];
  for (const plan of begun) {
    const { located, standing } = plan;
    try {
      if (!(await isDone(files, plan))) {
        if (plan !== begun.at(-1)) stuck.push(located.shown);
      } else if (standing === null) await files.remove(located.real);
      else {
        const facts = await files.replace(located.real, bytesOf(standing.file), located.facts?.mode);
        known.remember(located.real, knownFrom(facts, standing.hash));
      }
    } catch (thrown) {
      if (!(thrown instanceof WorldFault) && !(thrown instanceof ToolFault)) throw thrown;
      stuck.push(located.shown);
    }
  }
  if (stuck.length > 0) {
    throw new ToolFault(`The patch failed half way and could not be undone. Changed are: ${stuck.join(", ")}.`);
  }
}

/** What stands there is what this patch put there. */
async function isDone(files: FileOperations, { located, after }: Planned): Promise<boolean> {
  const facts = await files.facts(located.real);
  if (facts === null || after === null) return facts === null && after === null;
  if (facts.kind !== "file") return false;
  return hashOf((await readWhole(files, located.real, located.shown)).bytes) === hashOf(bytesOf(after));
}

const verbs = { change: "Changed", create: "Created", delete: "Deleted" } as const;

function outcomeOf(plans: readonly Planned[]): ToolOutcome {
  const sum = (of: "added" | "removed"): number => plans.reduce((total, { diff }) => total + diff[of], 0);
  const [added, removed] = [sum("added"), sum("removed")];
  const summary = `+${added} −${removed}`;
  const [only] = plans;
  const lines = plans.map(
    ({ action, located, diff }) => `${verbs[action]} ${located.shown} (+${diff.added} −${diff.removed} lines).`,
  );
  const text = plans.length === 1 ? lines.join("") : [`Patched ${count(plans.length, "file")}:`, ...lines].join("\n");
  return succeed(text, {
    summary,
    ...(plans.length === 1 && only !== undefined && { path: only.located.shown }),
    files: plans.map(({ located }) => located.shown),
    diff: wholeDiff(plans),
    added,
    removed,
  });
}
