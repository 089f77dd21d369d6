/** The token of a home: `VARVE_TOKEN`, else made once and kept in a file that only its owner can read. */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type Fault, fault, type RandomBytes } from "@varve/protocol";
import { newSecret } from "./secrets.ts";

const shortest = 16;
/** A header must carry it beside all the others. */
const longest = 1_000;
/** What a header can carry: printable, in ASCII, without spaces. */
const sayable = /^[\x21-\x7e]+$/;

const isUsable = (token: string): boolean => token.length >= shortest && token.length <= longest && sayable.test(token);

/** The token of a home that has one; null when there is none yet. */
export async function readToken(path: string, given: string | undefined): Promise<string | null | Fault> {
  if (given !== undefined && given !== "") {
    if (isUsable(given)) return given;
    return fault("bad-request", `VARVE_TOKEN must have ${shortest} to ${longest} characters of ASCII, and no spaces.`);
  }
  try {
    const kept = (await readFile(path, "utf8")).trim();
    return isUsable(kept) ? kept : null;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? null : unreadable(path, error);
  }
}

/** The same, and a new one is made when there is none. */
export async function loadToken(
  path: string,
  ports: { readonly given: string | undefined; readonly random: RandomBytes },
): Promise<string | Fault> {
  const kept = await readToken(path, ports.given);
  if (kept !== null) return kept;
  const token = newSecret(ports.random);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, `${token}\n`, { mode: 0o600 });
    await chmod(path, 0o600);
    return token;
  } catch (error) {
    return unreadable(path, error);
  }
}

const unreadable = (path: string, error: unknown): Fault =>
  fault(
    "log-unavailable",
    `The token file ${path} cannot be read or written (${error instanceof Error ? error.message : "unknown"}).`,
    "Give the home directory to the user that runs Varve, or name another one with --home.",
  );
