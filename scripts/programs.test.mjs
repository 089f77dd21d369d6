import { afterEach, expect, test } from "vitest";
import { chooseProgram, programsIn } from "./lib/programs.mjs";
import { tempFolder } from "./lib/temp-folder.mjs";

const folders = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function checkout() {
  const folder = tempFolder({
    "bench/one.ts": "",
    "bench/two/main.ts": "",
    "bench/lib/shared.ts": "",
    "bench/one.test.ts": "",
  });
  folders.push(folder);
  return folder.path;
}

test("a program is a file or a folder with a main file; shared code and tests are none", () => {
  expect(programsIn("bench", checkout())).toEqual(["one", "two"]);
  expect(programsIn("nowhere", checkout())).toEqual([]);
});

test("a name is found, an unknown one is refused with the list, none prints the list", () => {
  const ask = (name) => chooseProgram({ folder: "bench", name, command: "npm run bench", root: checkout() });
  expect(ask("one").file).toMatch(/one\.ts$/);
  expect(ask("two").file).toMatch(/two[/\\]main\.ts$/);
  expect(ask("three")).toEqual({ sentence: "bench has no program named three. There is: one, two.", code: 2 });
  expect(ask(undefined)).toEqual({ sentence: "npm run bench -- NAME [flags]. There is: one, two.", code: 0 });
});
