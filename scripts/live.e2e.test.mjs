import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./lib/root.mjs";

/** Without any key and any address: whatever this machine has, nothing can leave it. */
function live(...args) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_API_KEY$|_BASE_URL$/.test(name)));
  const child = spawn(process.execPath, [join(ROOT, "scripts/live.mjs"), ...args], { cwd: ROOT, env });
  let output = "";
  child.stdout.on("data", (bytes) => {
    output += bytes;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve({ code, lines: output.trimEnd().split("\n") }));
  });
}

test("without a key it says what it would ask and cost, sends nothing and ends well, also with --yes", async () => {
  const { code, lines } = await live("anthropic", "--yes");
  expect(code).toBe(0);
  expect(lines[0]).toMatch(/^anthropic\/claude-[\w-]+: \d+ requests, at most \$\d+\.\d+/);
  expect(lines.at(-2)).toContain("ANTHROPIC_API_KEY is not set");
  expect(JSON.parse(lines.at(-1))).toMatchObject({ live: "plan", providers: [{ provider: "anthropic" }] });
});

test("a provider that there is not ends with 2", async () => {
  const { code, lines } = await live("nobody");
  expect(code).toBe(2);
  expect(lines.join("\n")).toContain("Providers: anthropic");
});
