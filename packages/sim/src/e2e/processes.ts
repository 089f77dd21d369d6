/** Which processes of this machine carry a text in their command line, read from /proc. */
import { readdir, readFile } from "node:fs/promises";

/** Null where there is no /proc to look into. */
export async function processesWith(text: string): Promise<readonly number[] | null> {
  const names = await readdir("/proc").catch(() => null);
  if (names === null) return null;
  const found: number[] = [];
  for (const name of names.filter((entry) => /^\d+$/.test(entry))) {
    // A process may end while it is looked at.
    const line = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    if (line.includes(text)) found.push(Number(name));
  }
  return found;
}
