/** Garbage against the product as a person starts it: a process of its own, its environment, its command line. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runVarve } from "../e2e/child.ts";
import { Product } from "../e2e/product.ts";
import { createPrng } from "../prng.ts";
import { makeProject } from "../project.ts";
import { oddText } from "./garbage.ts";
import { bombard, logProblem } from "./run-fuzz.ts";
import { alarms, Caller } from "./target.ts";

const slowMs = 10_000;

test("[SIM-71] the process answers everything, writes no alarm, ends well, and its log is sound", async () => {
  await using project = await makeProject("empty");
  await using product = await Product.start();
  const caller = new Caller(Number(new URL(product.url).port), product.api.token);
  let read = 0;
  const alarm = (): string | null => {
    const fresh = product.lines.slice(read);
    read = product.lines.length;
    return fresh.split("\n").find((line) => alarms.test(line)) ?? null;
  };
  const options = { seed: 20_261_202, inputs: 300, slowMs, elapsed: () => performance.now() };
  const figures = await bombard({ caller, alarm, project: project.dir }, options);
  caller.close();
  expect(figures.failures).toEqual([]);
  expect(await product.stop()).toMatchObject({ code: 0 });
  expect(await logProblem(product.home)).toBeNull();
});

const starts: readonly [string, Readonly<Record<string, string>>][] = [
  ["a host that is none", { VARVE_HOST: "\u202e..%" }],
  ["a port that is none", { VARVE_PORT: "1e400" }],
  ["a token that no header carries", { VARVE_TOKEN: "\u{1f600}".repeat(10) }],
  ["a home that is a file", { VARVE_HOME: "" }],
];

test.each(starts)("[SIM-72] a start with %s ends with one sentence and a code, without a stack", async (_what, env) => {
  await using place = await makeProject("empty");
  await writeFile(join(place.dir, "file"), "no directory");
  const home = env.VARVE_HOME === undefined ? place.path("state") : place.path("file");
  const { code, out, err } = await runVarve({
    args: ["--no-open", ...(env.VARVE_PORT === undefined ? ["--port", "0"] : [])],
    env: { ...env, VARVE_HOME: home },
  });
  expect([1, 2], err).toContain(code);
  expect(out).toBe("");
  expect(err).toMatch(/^varve: .{10,}/);
  expect(err).not.toMatch(/\n\s+at .+:\d+/);
});

test("[SIM-72] a command line of garbage is answered with the usage", async () => {
  const prng = createPrng(20_261_203);
  await using place = await makeProject("empty");
  const words = Array.from({ length: 4 }, () => oddText(prng).replaceAll("\0", "").slice(0, 500).toWellFormed());
  for (const args of [words, ["send", ...words], ["--port", "x"], ["--home"]]) {
    const { code, err } = await runVarve({ args, env: { VARVE_HOME: place.path("state") } });
    expect(code, err).not.toBe(0);
    expect(err).not.toMatch(/\n\s+at .+:\d+/);
    expect(err).toMatch(/^varve: /);
  }
});
