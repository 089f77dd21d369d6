import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "./lib/root.mjs";
import { runChild } from "./lib/run-child.mjs";
import { tempFolder } from "./lib/temp-folder.mjs";

/** Runs a script with Node and answers with its exit code and what it said. */
function run(args, env = process.env) {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      said[name] += text;
    });
  }
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...said })));
}

describe("npm start, before it does anything", () => {
  test("a word instead of a flag ends with 2 and one sentence", async () => {
    expect(await run([join(ROOT, "scripts/start.mjs"), "foo"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "flags go after `--`: npm start -- --port 5000\n",
    });
  });

  test("so does a flag that npm kept for itself", async () => {
    const { code, stderr } = await run([join(ROOT, "scripts/start.mjs")], { ...process.env, npm_config_port: "5000" });
    expect({ code, stderr }).toEqual({ code: 2, stderr: "flags go after `--`: npm start -- --port 5000\n" });
  });
});

describe("bin/varve.mjs", () => {
  const checkout = (main) => {
    const folder = tempFolder(main === undefined ? {} : { "dist/server/main.mjs": main });
    mkdirSync(join(folder.path, "bin"));
    copyFileSync(join(ROOT, "bin/varve.mjs"), join(folder.path, "bin/varve.mjs"));
    return folder;
  };

  test("says how to build when there is no build", async () => {
    const folder = checkout();
    const { code, stdout, stderr } = await run([join(folder.path, "bin/varve.mjs")]);
    folder.remove();
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe("Varve is not built yet: run `npm start` in this checkout once, which builds it.\n");
  });

  test("runs the build in its own process, with its arguments, and silences one warning only", async () => {
    const folder = checkout(`
      process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
      process.emitWarning("this one matters", "ExperimentalWarning");
      console.log(process.argv.slice(2).join(" "));
    `);
    const { code, stdout, stderr } = await run([join(folder.path, "bin/varve.mjs"), "--port", "0"]);
    folder.remove();
    expect({ code, stdout }).toEqual({ code: 0, stdout: "--port 0\n" });
    expect(stderr).toContain("this one matters");
    expect(stderr).not.toContain("SQLite");
  });
});

describe("a child program", () => {
  test.each([
    ["its exit code", "process.exit(3)", 3],
    ["the signal that ended it", "process.kill(process.pid, 'SIGKILL')", "SIGKILL"],
  ])("is answered with %s", async (_name, program, expected) => {
    const started = [];
    const ended = await runChild(process.execPath, ["-e", program], { cwd: ROOT, onStart: (pid) => started.push(pid) });
    expect(ended).toBe(expected);
    expect(started).toHaveLength(1);
  });

  test("that can't be started rejects", async () => {
    await expect(runChild("/no/such/program", [], { cwd: ROOT })).rejects.toThrow("ENOENT");
  });
});
