/** Secrets that are followed through the whole product, and the search for them in whatever came out of it. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Canary {
  readonly name: string;
  readonly secret: string;
}

/** Where a canary was found that must not be there. */
export interface Sighting {
  readonly canary: string;
  readonly place: string;
  readonly around: string;
}

const aroundBytes = 40;

/** As it is, and as base64 of bytes that begin with it. */
function formsOf(secret: string): readonly Buffer[] {
  const whole = Buffer.from(secret);
  const lasting = Math.floor((whole.length * 8) / 6);
  return [whole, Buffer.from(whole.toString("base64").slice(0, lasting))];
}

export function sightings(place: string, bytes: Uint8Array | string, canaries: readonly Canary[]): readonly Sighting[] {
  const all =
    typeof bytes === "string" ? Buffer.from(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return canaries.flatMap(({ name, secret }) =>
    formsOf(secret).flatMap((form) => {
      const at = all.indexOf(form);
      if (at === -1) return [];
      const around = all.subarray(Math.max(0, at - aroundBytes), at + form.length + aroundBytes).toString("latin1");
      return [{ canary: name, place, around }];
    }),
  );
}

/** All files below a folder, byte by byte. `may`: which canary a file is there to hold. */
export async function sightingsBelow(
  folder: string,
  canaries: readonly Canary[],
  may: Readonly<Record<string, string>> = {},
): Promise<readonly Sighting[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const found = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        const asked = canaries.filter(({ name }) => may[entry.name] !== name);
        return sightings(path, await readFile(path), asked);
      }),
  );
  return found.flat();
}
