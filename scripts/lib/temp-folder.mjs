import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder for one test with the given files (path -> text) in it; it goes when the `using` block ends. */
export function tempFolder(files = {}) {
  const path = mkdtempSync(join(tmpdir(), "varve-scripts-"));
  const write = (name, text) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), typeof text === "string" ? text : JSON.stringify(text));
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { path, write, remove: () => rmSync(path, { recursive: true, force: true }) };
}
