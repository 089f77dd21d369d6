/** Instruction files: what the person wants in every tab of this server and of this repository. Read once per log. */
import { join } from "node:path";
import type { InstructionFile } from "@varve/protocol";
import { wellFormedText } from "../text.ts";
import type { ContextOperations, ReadFence, RepositoryPlace } from "./operations.ts";

/** Characters of one file, and of all together. What is cut is said in the text and on the page. */
export const fileCharsMax = 32_000;
export const allCharsMax = 96_000;

export interface Instructions {
  /** One system block per file. */
  readonly blocks: readonly string[];
  readonly files: readonly InstructionFile[];
}

/**
 * `$VARVE_HOME/AGENTS.md`, then AGENTS.md, else CLAUDE.md, of each folder from the repository's root down to `cwd`. A folder
 * may come from anybody: a link in it that leads out of it would put any file of the person's before the model, unasked.
 */
export async function readInstructions(
  operations: Pick<ContextOperations, "readText">,
  place: { readonly home: string; readonly cwd: string; readonly repository: RepositoryPlace | null },
): Promise<Instructions> {
  const candidates: readonly Candidate[] = [
    { paths: [join(place.home, "AGENTS.md")] },
    ...foldersDown(place.cwd, place.repository).map((folder) => ({
      paths: [join(folder, "AGENTS.md"), join(folder, "CLAUDE.md")],
      fence: { inside: folder, never: place.home },
    })),
  ];
  const blocks: string[] = [];
  const files: InstructionFile[] = [];
  let room = allCharsMax;
  for (const candidate of candidates) {
    const found = await firstOf(operations, candidate, Math.min(room, fileCharsMax));
    if (found === null || files.some((file) => file.path === found.path)) continue;
    const text = wellFormedText(found.text).trim();
    if (text === "" && !found.clipped) continue;
    room -= text.length;
    const cut = found.clipped ? "\n[The file goes on; the rest was left out because of its length.]" : "";
    blocks.push(`<instructions path="${found.path.replaceAll('"', "'")}">\n${text}${cut}\n</instructions>`);
    files.push({ path: found.path, bytes: found.bytes, clipped: found.clipped });
  }
  return { blocks, files };
}

interface Candidate {
  readonly paths: readonly string[];
  readonly fence?: ReadFence;
}

async function firstOf(operations: Pick<ContextOperations, "readText">, { paths, fence }: Candidate, charsMax: number) {
  for (const path of paths) {
    const found = await operations.readText(path, fence === undefined ? { charsMax } : { charsMax, fence });
    if (found !== null) return { path, ...found };
  }
  return null;
}

/** The root first, `cwd` last. Outside a repository: `cwd` alone. */
function foldersDown(cwd: string, repository: RepositoryPlace | null): readonly string[] {
  if (repository === null) return [cwd];
  const steps = repository.prefix.split("/").filter((step) => step !== "");
  return [repository.root, ...steps.map((_, depth) => join(repository.root, ...steps.slice(0, depth + 1)))];
}
