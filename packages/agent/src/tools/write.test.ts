import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runPrepared, scratch } from "./testing/scratch.ts";

describe("write", () => {
  test("[TOOL-30] creates a file and its directories with exactly these bytes", async () => {
    await using at = scratch();
    const content = "a\r\nb\n\tc $& é𝄞";
    const outcome = await at.call("write", { path: "new/deep/f.txt", content });
    expect(outcome).toMatchObject({ isError: false, text: "Created new/deep/f.txt (+3 −0 lines)." });
    expect(readFileSync(join(at.ws, "new/deep/f.txt"), "utf8")).toBe(content);
    expect(readdirSync(join(at.ws, "new/deep"))).toEqual(["f.txt"]);
  });

  test("[TOOL-31] an existing file that was not read is not replaced", async () => {
    await using at = scratch();
    at.file("f", "precious\n");
    expect(await at.call("write", { path: "f", content: "x" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("not read in this tab"),
    });
    expect(readFileSync(join(at.ws, "f"), "utf8")).toBe("precious\n");
    await at.call("read", { path: "f" });
    expect((await at.call("write", { path: "f", content: "x" })).text).toBe("Replaced f (+1 −1 lines).");
  });

  test("[TOOL-31] what this tab wrote it may write again", async () => {
    await using at = scratch();
    await at.call("write", { path: "f", content: "1" });
    expect((await at.call("write", { path: "f", content: "2" })).isError).toBe(false);
    expect(readFileSync(join(at.ws, "f"), "utf8")).toBe("2");
  });

  test("[TOOL-31] a forgotten tab has read nothing", async () => {
    await using at = scratch();
    at.file("f", "precious\n");
    await at.call("read", { path: "f" });
    await at.box.closePlace(at.place.tabId);
    expect((await at.call("write", { path: "f", content: "x" })).isError).toBe(true);
  });

  test.each([
    { name: "CRLF kept", before: "a\r\nb\r\n", content: "a\nc\n", after: "a\r\nc\r\n" },
    { name: "mixed ends give way", before: "a\r\nb\n", content: "a\nc\n", after: "a\nc\n" },
    { name: "own CR is literal", before: "a\r\nb\r\n", content: "a\r\nc\n", after: "a\r\nc\n" },
    { name: "byte order mark kept", before: "\ufeffa\n", content: "b\n", after: "\ufeffb\n" },
    { name: "byte order mark not doubled", before: "\ufeffa\n", content: "\ufeffb\n", after: "\ufeffb\n" },
  ])("[TOOL-32] what read does not show is kept: $name", async ({ before, content, after }) => {
    await using at = scratch();
    at.file("f", before);
    await at.call("read", { path: "f" });
    expect((await at.call("write", { path: "f", content })).isError).toBe(false);
    expect(readFileSync(join(at.ws, "f"), "utf8")).toBe(after);
  });

  test("[TOOL-26] the prompt shows a new file as added lines", async () => {
    await using at = scratch();
    const prepared = await at.prepare("write", { path: "f", content: "a\nb\n" });
    expect(prepared.effect).toBe("write");
    expect(prepared.subject.diff).toContain("@@ -0,0 +1,2 @@\n+a\n+b\n");
    expect(readdirSync(at.ws)).toEqual([]);
  });

  test("[TOOL-25] a file that appeared between the prompt and the answer is not replaced", async () => {
    await using at = scratch();
    const prepared = await at.prepare("write", { path: "f", content: "mine" });
    at.file("f", "theirs");
    expect((await runPrepared(prepared)).isError).toBe(true);
    expect(readFileSync(join(at.ws, "f"), "utf8")).toBe("theirs");
  });

  test("[TOOL-26] a huge change has a bounded diff that says it goes on", async () => {
    await using at = scratch();
    const lines = (word: string) => Array.from({ length: 6_000 }, (_, i) => `${word} ${i}`).join("\n");
    at.file("f", lines("old"));
    await at.call("read", { path: "f", limit: 1 });
    const outcome = await at.call("write", { path: "f", content: lines("new") });
    expect(outcome.details).toMatchObject({ added: 6_000, removed: 6_000 });
    const diff = String(outcome.details?.diff);
    expect(diff.length).toBeLessThan(41_000);
    expect(diff.endsWith("too long to show.\n")).toBe(true);
  });

  test.each([
    { path: ".git/hooks/pre-commit", effect: "run" },
    { path: "sub/.git/config", effect: "run" },
    { path: ".varve/permissions.json", effect: "run" },
    { path: ".GIT/config", effect: "run" },
    { path: ".gitignore", effect: "write" },
    { path: "src/.gitx/x", effect: "write" },
  ])("[TOOL-33] $path: what would run later counts as running", async ({ path, effect }) => {
    await using at = scratch();
    expect((await at.prepare("write", { path, content: "x" })).effect).toBe(effect);
  });

  test("[TOOL-28] a directory and half a surrogate pair are refused", async () => {
    await using at = scratch();
    mkdirSync(join(at.ws, "folder"));
    expect((await at.call("write", { path: "folder", content: "x" })).text).toMatch(/is a directory/);
    expect((await at.call("write", { path: "f", content: "a\udc00" })).text).toMatch(/surrogate/);
    expect(readdirSync(at.ws)).toEqual(["folder"]);
  });
});
