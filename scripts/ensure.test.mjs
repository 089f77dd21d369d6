import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { buildTarget } from "./lib/build.mjs";
import { buildPlan } from "./lib/build-plan.mjs";
import { holdsLock, installState } from "./lib/install.mjs";
import { withLock } from "./lib/lock-folder.mjs";
import { tempFolder } from "./lib/temp-folder.mjs";

const folders = [];
function checkout(files) {
  const folder = tempFolder(files);
  folders.push(folder);
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

const LOCK = {
  packages: {
    "": { name: "root" },
    "packages/a": {},
    "node_modules/@varve/a": { link: true, resolved: "packages/a" },
    "node_modules/one": { version: "1.0.0" },
    "node_modules/tool": { version: "2.0.0", dev: true },
    "node_modules/only-elsewhere": { version: "3.0.0", optional: true },
  },
};
const record = (packages) => ({ packages });
const PROD = record({ "node_modules/one": { version: "1.0.0" } });
const FULL = record({ "node_modules/one": { version: "1.0.0" }, "node_modules/tool": { version: "2.0.0" } });

describe("what is installed", () => {
  test.each([
    ["everything, tools wanted", FULL, true, true],
    ["no tools, none wanted", PROD, false, true],
    ["no tools, but wanted", PROD, true, false],
    ["another version", record({ "node_modules/one": { version: "1.0.1" } }), false, false],
    ["nothing", record({}), false, false],
  ])("%s", (_name, installed, dev, holds) => expect(holdsLock(LOCK, installed, { dev })).toBe(holds));

  test("an empty checkout is missing its packages, one installed by hand is ready, a changed lock makes it stale", () => {
    const { path, write } = checkout({ "package-lock.json": LOCK });
    expect(installState({ dev: false, root: path })).toBe("missing");
    write("node_modules/.package-lock.json", PROD);
    expect(installState({ dev: false, root: path })).toBe("ready");
    expect(installState({ dev: true, root: path })).toBe("tools");
    write("package-lock.json", { packages: { ...LOCK.packages, "node_modules/two": { version: "1.0.0" } } });
    expect(installState({ dev: false, root: path })).toBe("stale");
  });

  test("an install made by another Node major is stale", () => {
    const { path, write } = checkout({ "package-lock.json": LOCK, "node_modules/.package-lock.json": FULL });
    write("node_modules/.varve-install.json", { lock: "x", runtime: "8-linux-x64", dev: true });
    expect(installState({ dev: false, root: path })).toBe("stale");
  });
});

describe("what is built", () => {
  const sources = {
    "packages/cli/src/main.ts": 'import("./lazy.ts").then((lazy) => console.log(lazy.word, typeof __VARVE_BUILD__));\n',
    "packages/cli/src/lazy.ts": "export const word: string = 'lazy';\n",
    "packages/cli/src/main.test.ts": "first\n",
    "package-lock.json": "{}",
  };
  const stale = (root) => buildPlan(root).stale.map((target) => target.name);

  test("a build is fresh until a source changes or its result goes; tests are not sources", async () => {
    const { path, write } = checkout(sources);
    expect(buildPlan(path)).toMatchObject({ stale: [{ name: "server" }], absent: ["web"] });
    await buildTarget(buildPlan(path).stale[0], path);
    expect(stale(path)).toEqual([]);
    write("packages/cli/src/main.test.ts", "second\n");
    expect(stale(path)).toEqual([]);
    write("packages/cli/src/lazy.ts", "export const word: string = 'changed';\n");
    expect(stale(path)).toEqual(["server"]);
    await buildTarget(buildPlan(path).stale[0], path);
    rmSync(join(path, "dist/server/main.mjs"));
    expect(stale(path)).toEqual(["server"]);
  });

  test("the lazy files of the build before stay, those of older builds go", async () => {
    const { path, write } = checkout(sources);
    const filesOf = () => JSON.parse(readFileSync(join(path, "dist/.stamp"), "utf8")).server.files;
    const builds = [];
    for (const word of ["one", "two", "three"]) {
      write("packages/cli/src/lazy.ts", `export const word: string = '${word}';\n`);
      await buildTarget(buildPlan(path).stale[0], path);
      builds.push(filesOf().find((file) => file.startsWith("lazy-")));
    }
    expect(new Set(builds).size).toBe(3);
    expect(builds.map((file) => existsSync(join(path, "dist/server", file)))).toEqual([false, true, true]);
  });
});

describe("the lock between two starts", () => {
  test("one at a time, and the folder is gone afterwards", async () => {
    const lock = join(checkout().path, "state/lock");
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all([withLock(lock, work), withLock(lock, work), withLock(lock, work)]);
    expect(most).toBe(1);
    expect(existsSync(lock)).toBe(false);
  });

  test("a lock of a dead process is taken over, also when the work fails", async () => {
    const { path, write } = checkout({ "lock/owner": "999999999 t1" });
    await expect(withLock(join(path, "lock"), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(existsSync(join(path, "lock"))).toBe(false);
    write("lock/owner", "999999999 t2 999999998");
    expect(await withLock(join(path, "lock"), () => Promise.resolve(7))).toBe(7);
  });

  test("a lock is held while the child of its dead owner runs, and a waiting start says for whom it waits", async () => {
    const lock = join(checkout({ "lock/owner": `999999999 t1 ${process.pid}` }).path, "lock");
    const heard = [];
    const waiting = withLock(
      lock,
      () => Promise.resolve("mine"),
      (pid) => {
        heard.push(pid);
        writeFileSync(join(lock, "owner"), "999999999 t1");
      },
    );
    expect(await waiting).toBe("mine");
    expect(heard).toEqual([999999999]);
  });
});
