import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { type Fault, fault } from "@varve/protocol";
import type { Database } from "../driver.ts";
import { faultOrThrow } from "../home.ts";

/** Backups of one name kept beside each other; with as many there, something else is wrong, and nothing is migrated. */
const backupsMax = 100;

/** A whole copy under the name, or under `name.2`, `name.3` ... The name appears only when the copy is complete. */
export function backUp(database: Database, name: string): string | Fault {
  const numbers = Array.from({ length: backupsMax }, (_, at) => (at === 0 ? name : `${name}.${at + 1}`));
  const target = numbers.find((path) => !existsSync(path));
  if (target === undefined) return fault("log-unavailable", `There are ${backupsMax} copies like ${name} already.`);
  const unfinished = `${target}.writing`;
  try {
    rmSync(unfinished, { force: true });
    database.prepare("VACUUM INTO ?").run(unfinished);
    const file = openSync(unfinished, "r+");
    fsyncSync(file);
    closeSync(file);
    renameSync(unfinished, target);
    return target;
  } catch (error) {
    return faultOrThrow(error, unfinished);
  }
}
