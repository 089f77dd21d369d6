/**
 * The common path of `write` and `edit`, parts of it also of `patch`: the change is computed once for the prompt and again, from the bytes then on disk,
 * when it runs. In between the file may only have been changed by this tab's own calls.
 */
import { noSecrets, type Secrets } from "../secrets/known-secrets.ts";
import { secretMark } from "../secrets/matcher.ts";
import { isGuarded, type Located, locate } from "./boundary.ts";
import type { ToolContext } from "./context.ts";
import { diffOf, type FileDiff } from "./file-diff.ts";
import { hasChanged, hashOf, type KnownFile, knownFrom } from "./known-files.ts";
import { succeed, ToolFault } from "./outcome.ts";
import { refuseSpecial } from "./read.ts";
import { bytesOf, type FileText, textOf } from "./text-bytes.ts";
import type { PreparedCall, ToolOutcome, ToolPlace } from "./tool.ts";
import { readWhole } from "./whole-file.ts";

export interface Standing {
  readonly file: FileText;
  readonly hash: string;
}

export interface FileChange {
  readonly tool: "write" | "edit";
  readonly path: string;
  /** The new text from the old; null where no file stands. Throws `ToolFault` where it can't be done. */
  readonly change: (standing: Standing | null, located: Located) => { readonly file: FileText; readonly note: string };
  /** An existing file must have been read in this tab. */
  readonly mustKnow: boolean;
}

export async function prepareChange(context: ToolContext, place: ToolPlace, wish: FileChange): Promise<PreparedCall> {
  const { files } = context.operations;
  const { known } = context.memory(place.tabId);
  const located = await locate(files, place, wish.path);
  const { real } = located;
  if (located.where === "spill") throw new ToolFault(`${real} is kept output, which can be read and not changed.`);
  const standing = await look(context, located, wish.tool);
  refuseUnknown(wish, located, { standing, known: known.get(real) });
  const { file } = wish.change(standing, located);
  refuseMarks(place.secrets ?? noSecrets, located, { standing, file });
  return {
    effect: located.where === "inside" && !isGuarded(located) ? "write" : "run",
    subject: { tool: wish.tool, key: real, path: real, diff: fileDiff(located, standing, file).diff },
    lock: real,
    run: async () => {
      const now = await look(context, located, wish.tool);
      // What this tab wrote since is known; anything else that changed the file makes the shown diff untrue.
      const mine = known.get(real)?.hash ?? null;
      if (now?.hash !== standing?.hash && (now === null || now.hash !== mine)) throw new ToolFault(staleWords(located));
      return await apply(context, { place, located, wish, now });
    },
  };
}

/** What stands at a place now. For `edit` it must be there, as UTF-8 text. */
export async function look(context: ToolContext, located: Located, tool: "write" | "edit"): Promise<Standing | null> {
  const { files } = context.operations;
  const facts = await files.facts(located.real);
  if (facts === null) {
    if (tool === "edit") throw new ToolFault(`${located.shown} does not exist.`);
    return null;
  }
  refuseSpecial(facts, located.shown);
  const { bytes } = await readWhole(files, located.real, located.shown);
  const file = textOf(bytes);
  if (file === null && tool === "edit") {
    throw new ToolFault(
      `${located.shown} is not UTF-8 text, so it can't be edited without damage. Nothing was changed.`,
    );
  }
  return { file: file ?? { text: "", marked: false }, hash: hashOf(bytes) };
}

export const staleWords = (located: Located): string =>
  `${located.shown} changed on disk since it was read (stale). Nothing was changed. Read it again, then repeat the change.`;

/** Throws where the file is not what this tab last read or wrote, and, if it must be known, where the tab never did. */
export function refuseUnknown(
  wish: Pick<FileChange, "mustKnow">,
  located: Located,
  { standing, known }: { readonly standing: Standing | null; readonly known: KnownFile | undefined },
): void {
  if (standing === null) return;
  if (known === undefined) {
    if (!wish.mustKnow) return;
    throw new ToolFault(`${located.shown} exists and was not read in this tab. Read it before you replace it.`);
  }
  const now: KnownFile = {
    hash: standing.hash,
    size: located.facts?.size ?? 0,
    modified: located.facts?.modified ?? "",
  };
  if (hasChanged(known, now)) throw new ToolFault(staleWords(located));
}

/** A file that was shown without its secrets would lose them when it is written as it was shown. */
function refuseMarks(
  secrets: Secrets,
  located: Located,
  { standing, file }: { readonly standing: Standing | null; readonly file: FileText },
): void {
  if (standing === null || secrets.text(standing.file.text) === standing.file.text) return;
  const marks = ({ text }: FileText): number => text.split(secretMark).length - 1;
  if (marks(file) <= marks(standing.file)) return;
  throw new ToolFault(
    `${located.shown} holds a secret that is shown as ${secretMark}; with this change the file would hold the mark in its place. Nothing was changed. Use edit on other lines.`,
  );
}

export const fileDiff = (located: Located, standing: Standing | null, file: FileText): FileDiff =>
  diffOf(located.shown, standing?.file.text ?? "", file.text);

interface Applying {
  readonly place: ToolPlace;
  readonly located: Located;
  readonly wish: FileChange;
  readonly now: Standing | null;
}

async function apply(context: ToolContext, { place, located, wish, now }: Applying): Promise<ToolOutcome> {
  const { file, note } = wish.change(now, located);
  const bytes = bytesOf(file);
  const facts = await context.operations.files.replace(located.real, bytes);
  context.memory(place.tabId).known.remember(located.real, knownFrom(facts, hashOf(bytes)));
  const { diff, added, removed } = fileDiff(located, now, file);
  const summary = `+${added} −${removed}`;
  return succeed(`${note} (${summary} lines).`, { summary, path: located.shown, diff, added, removed });
}
