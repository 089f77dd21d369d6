import { expect, test } from "vitest";
import { ensureSandbox, findBubblewrap } from "./lib/install-sandbox.mjs";

test("bubblewrap is found on PATH, in its order", () => {
  expect(findBubblewrap({ PATH: "/a:/b" }, (path) => path === "/b/bwrap")).toBe("/b/bwrap");
  expect(findBubblewrap({ PATH: "" }, () => true)).toBeUndefined();
});

test("a machine that can't have bubblewrap is told that those tests are skipped, and nothing fails", async () => {
  const said = [];
  const say = (line) => said.push(line);
  await ensureSandbox({ say, env: { PATH: "/nowhere" }, platform: "darwin" });
  await ensureSandbox({ say, env: { PATH: "/nowhere" }, platform: "linux", install: async () => 1 });
  expect(said[0]).toBe("Tests of the sandbox are skipped: bubblewrap is for Linux.");
  expect(said.at(-1)).toContain("there is no bubblewrap");
});
