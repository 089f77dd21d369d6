/** Reads rule files from disk: bounded, never waiting for a FIFO, never through a link that appeared meanwhile. */
import { resolveReal } from "../tools/boundary.ts";
import type { FileOperations } from "../tools/operations.ts";
import { readUpTo } from "../tools/whole-file.ts";
import { permissionLimits } from "./rules.ts";

export const ruleFileReader =
  (files: FileOperations) =>
  async (path: string): Promise<string | null> => {
    const { real, facts } = await resolveReal(files, path);
    if (facts === null) return null;
    if (facts.kind !== "file") throw new Error("it is not an ordinary file");
    const file = await files.open(real);
    try {
      const bytes = await readUpTo(file, permissionLimits.fileCharsMax);
      if (bytes === null) throw new Error("it is too long");
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } finally {
      await file.close();
    }
  };
