/** The built product once more under another build id: what is on disk after an update. */
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "../json.ts";
import { root } from "./child.ts";

export interface OtherBuild extends AsyncDisposable {
  /** To be started in place of the checkout's own. */
  readonly program: string;
  readonly id: string;
}

const idChars = 12;

/** `page`: whether the page is of the new build too, or still the old one, as after half an update. */
export async function makeOtherBuild(options: { readonly page: boolean }): Promise<OtherBuild> {
  const own = await ownId();
  const id = `${own[0] === "f" ? "0" : "f"}${own.slice(1)}`;
  // Inside the checkout, so that packages are found as ever.
  const folder = join(root, ".varve-build", `other-${process.pid}-${options.page}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "bin"), { recursive: true });
  for (const part of ["server", "web"])
    await cp(join(root, "dist", part), join(folder, "dist", part), { recursive: true });
  await cp(join(root, "bin"), join(folder, "bin"), { recursive: true });
  await change(join(folder, "dist/server"), [[own, id]]);
  if (options.page) {
    const assets = join(folder, "dist/web/assets");
    // Browsers keep an asset for good by its name, which tells of its contents: another build has other names.
    const names = (await readdir(assets)).map((name): [string, string] => [name, name.replace(/-/, "-other-")]);
    await change(assets, [[own, id], ...names]);
    await change(join(folder, "dist/web"), names);
    for (const [before, after] of names) await rename(join(assets, before), join(assets, after));
  }
  return {
    program: join(folder, "bin/varve.mjs"),
    id,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Every given text of the scripts and pages in that folder becomes the other. */
async function change(folder: string, texts: readonly (readonly [string, string])[]): Promise<void> {
  let changed = 0;
  for (const name of await readdir(folder)) {
    if (!/\.(m?js|html)$/.test(name)) continue;
    const before = await readFile(join(folder, name), "utf8");
    const after = texts.reduce((text, [from, to]) => text.replaceAll(from, to), before);
    if (after === before) continue;
    changed += 1;
    await writeFile(join(folder, name), after);
  }
  if (changed === 0) throw new Error(`nothing of ${texts[0]?.[0]} is in ${folder}`);
}

async function ownId(): Promise<string> {
  const stamp: unknown = JSON.parse(await readFile(join(root, "dist/.stamp"), "utf8"));
  const server = isObject(stamp) ? stamp.server : undefined;
  const key = isObject(server) ? server.key : undefined;
  if (typeof key !== "string") throw new Error("there is no build to copy");
  return key.slice(0, idChars);
}
