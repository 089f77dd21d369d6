/** Instruction files: what the person wants in every tab of this server and of this repository. Read once per log. */
import { join } from "node:path";
import type { InstructionFile } from "@varve/protocol";
import { wellFormedText } from "../text.ts";
import type { ContextOperations, RepositoryFacts } from "./operations.ts";

/** Characters of one file, and of all together. What is cut is said in the text and on the page. */
export const fileCharsMax = 32_000;
export const allCharsMax = 96_000;

export interface Instructions {
  /** One system block per file. */
  readonly blocks: readonly string[];
  readonly files: readonly InstructionFile[];
}

/** `$VARVE_HOME/AGENTS.md`, then AGENTS.md, else CLAUDE.md, of each folder from the repository's root down to `cwd`. */
export async function readInstructions(
  operations: Pick<ContextOperations, "readText">,
  place: { readonly home: string; readonly cwd: string; readonly repository: RepositoryFacts | null },
): Promise<Instructions> {
  const candidates = [
    [join(place.home, "AGENTS.md")],
    ...foldersDown(place.cwd, place.repository).map((folder) => [join(folder, "AGENTS.md"), join(folder, "CLAUDE.md")]),
  ];
  const blocks: string[] = [];
  const files: InstructionFile[] = [];
  let room = allCharsMax;
  for (const paths of candidates) {
    const found = await firstOf(operations, paths, Math.min(room, fileCharsMax));
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

async function firstOf(operations: Pick<ContextOperations, "readText">, paths: readonly string[], charsMax: number) {
  for (const path of paths) {
    const found = await operations.readText(path, charsMax);
    if (found !== null) return { path, ...found };
  }
  return null;
}

/** The root first, `cwd` last. Outside a repository: `cwd` alone. */
function foldersDown(cwd: string, repository: RepositoryFacts | null): readonly string[] {
  if (repository === null) return [cwd];
  const steps = repository.prefix.split("/").filter((step) => step !== "");
  return [repository.root, ...steps.map((_, depth) => join(repository.root, ...steps.slice(0, depth + 1)))];
}
