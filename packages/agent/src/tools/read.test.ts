import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toolLimits } from "./limits.ts";
import { pngOf as png } from "./testing/png.ts";
import { scratch } from "./testing/scratch.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join("");

describe("read", () => {
  test("[TOOL-40] lines come with their numbers, without byte order mark and line ends", async () => {
    await using at = scratch();
    at.file("f", "\ufeffone\r\ntwo\n\n  four");
    const outcome = await at.call("read", { path: "f" });
    expect(outcome).toEqual({
      text: "1\tone\n2\ttwo\n3\t\n4\t  four",
      isError: false,
      details: { summary: "4 lines", path: "f", lines: 4 },
    });
  });

  test.each([
    { offset: 1, limit: 2, text: "1\tline 1\n2\tline 2", next: 3 },
    { offset: 9, limit: 5, text: "9\tline 9\n10\tline 10", next: null },
    { offset: 10, limit: 1, text: "10\tline 10", next: null },
    { offset: 4, limit: 1, text: "4\tline 4", next: 5 },
  ])("[TOOL-41] a window from $offset of $limit lines", async ({ offset, limit, text, next }) => {
    await using at = scratch();
    at.file("f", numbered(10));
    const note = next === null ? "" : `\n⟨more follows: go on with offset ${next}; 10 lines in all⟩`;
    expect((await at.call("read", { path: "f", offset, limit })).text).toBe(text + note);
  });

  test("[TOOL-41] a window after the end says how long the file is", async () => {
    await using at = scratch();
    at.file("f", numbered(3));
    expect(await at.call("read", { path: "f", offset: 4 })).toMatchObject({
      isError: true,
      text: "f ends before line 4: it has 3 lines.",
    });
  });

  test("[TOOL-41] windows put together are the file, wherever blocks and bounds fall", async () => {
    await using at = scratch();
    const lines = Array.from({ length: 3_000 }, (_, i) => `${"ü".repeat((i * 37) % 120)}${i}`);
    at.file("f", lines.join("\n"));
    const seen: string[] = [];
    let offset: number | null = 1;
    while (offset !== null) {
      const { text } = await at.call("read", { path: "f", offset });
      const parts = text.split("\n");
      const more = /offset (\d+)/.exec(parts.at(-1)?.startsWith("⟨") === true ? (parts.pop() ?? "") : "");
      seen.push(...parts.map((part) => part.slice(part.indexOf("\t") + 1)));
      expect(text.length).toBeLessThan(toolLimits.resultCharsMax);
      offset = more === null ? null : Number(more[1]);
    }
    expect(seen).toEqual(lines);
  });

  test("[TOOL-42] a long line is cut and says how long it was, never within a character", async () => {
    await using at = scratch();
    at.file("f", `${"𝄞".repeat(5_000)}\nnext\n`);
    const [first, second] = (await at.call("read", { path: "f" })).text.split("\n");
    expect(first).toBe(`1\t${"𝄞".repeat(1_000)}⟨line cut, 20000 bytes⟩`);
    expect(second).toBe("2\tnext");
  });

  test("[TOOL-43] a file of 3 GB is windowed without reading it whole", async () => {
    await using at = scratch();
    const fd = openSync(join(at.ws, "huge"), "w");
    writeSync(fd, numbered(5_000));
    ftruncateSync(fd, 3 * 1024 ** 3);
    closeSync(fd);
    const before = process.memoryUsage();
    const outcome = await at.call("read", { path: "huge", limit: 2 });
    const grown = process.memoryUsage().rss - before.rss;
    expect(outcome.text).toBe(
      `1\tline 1\n2\tline 2\n⟨more follows: go on with offset 3; the file has ${3 * 1024 ** 3} bytes⟩`,
    );
    expect(grown).toBeLessThan(50 * 1024 ** 2);
  });

  test.each([
    { name: "sparse", bytes: new Uint8Array(5_000), words: /binary file, 5000 bytes/ },
    { name: "program", bytes: Buffer.from("7f454c4602010100000000000000", "hex"), words: /binary file/ },
    { name: "text by name.txt", bytes: Buffer.from([1, 0, 2, 0, 255, 254, 0]), words: /binary file/ },
    { name: "utf16.txt", bytes: Buffer.from("\ufeffhello", "utf16le"), words: /UTF-16.*iconv/ },
    { name: "bitmap.png", bytes: Buffer.concat([Buffer.from("BM"), new Uint8Array(60)]), words: /Convert it to PNG/ },
  ])("[TOOL-44] content decides, not the name: $name", async ({ name, bytes, words }) => {
    await using at = scratch();
    at.file(name, bytes);
    expect(await at.call("read", { path: name })).toMatchObject({ isError: true, text: expect.stringMatching(words) });
  });

  test("[TOOL-44] bytes that are no UTF-8 are shown and noted", async () => {
    await using at = scratch();
    at.file("f", Buffer.from("636166e90a", "hex"));
    expect((await at.call("read", { path: "f" })).text).toMatch(/^1\tcaf\ufffd\n⟨not UTF-8/);
  });

  test.each([
    ["missing", /does not exist/],
    ["folder", /is a directory. Use "list"/],
    ["pipe", /named pipe/],
    ["link-to-zero", /device/],
  ])("[TOOL-45] %s is refused in words, at once", async (path, words) => {
    await using at = scratch();
    mkdirSync(join(at.ws, "folder"));
    execFileSync("mkfifo", [join(at.ws, "pipe")]);
    symlinkSync("/dev/zero", join(at.ws, "link-to-zero"));
    expect(await at.call("read", { path })).toMatchObject({ isError: true, text: expect.stringMatching(words) });
  });

  test("[TOOL-40] an empty file is said to be one", async () => {
    await using at = scratch();
    at.file("f", "");
    expect((await at.call("read", { path: "f" })).text).toBe("⟨empty file⟩");
  });

  test("[TOOL-46] an image by its content comes as an image", async () => {
    await using at = scratch();
    const bytes = png(3, 2);
    at.file("picture.txt", bytes);
    const outcome = await at.call("read", { path: "picture.txt" });
    expect(outcome).toMatchObject({ isError: false, details: { width: 3, height: 2 } });
    expect(outcome.images).toEqual([{ bytes: new Uint8Array(bytes), mediaType: "image/png" }]);
    expect(outcome.text).toContain("3 × 2 pixels");
  });

  test.each([
    { name: "cut off", bytes: png(3, 2).subarray(0, 40), words: /damaged/ },
    { name: "no size", bytes: png(0, 2), words: /damaged/ },
  ])("[TOOL-46] an image that a provider would refuse never leaves the tool: $name", async ({ bytes, words }) => {
    await using at = scratch();
    at.file("p.png", bytes);
    const outcome = await at.call("read", { path: "p.png" });
    expect(outcome).toMatchObject({ isError: true, text: expect.stringMatching(words) });
    expect(outcome.images).toBeUndefined();
  });

  test("[TOOL-149] a file that grows while it is read ends where its bounds are", async () => {
    await using at = scratch({
      change: (real) => ({
        ...real,
        files: {
          ...real.files,
          // Whatever is asked for, more has been written meanwhile.
          open: async (path) => ({
            ...(await real.files.open(path)),
            read: async (into) => Buffer.from(into.buffer).fill("more\n").length,
          }),
        },
      }),
    });
    at.file("log", "short\n");
    const outcome = await at.call("read", { path: "log" });
    expect(outcome.isError).toBe(false);
    expect(outcome.text.length).toBeLessThan(toolLimits.resultCharsMax);
  });

  test.runIf(process.platform === "linux")("[TOOL-149] a file that says size 0 and holds text is read", async () => {
    await using at = scratch();
    expect((await at.call("read", { path: "/proc/version" })).text).toMatch(/^1\tLinux version/);
  });

  test("[TOOL-5] a stopped call ends in words", async () => {
    await using at = scratch();
    at.file("f", "x");
    const outcome = await at.call("read", { path: "f" }, { signal: AbortSignal.abort("stopped") });
    expect(outcome).toEqual({ text: "⟨stopped before it began⟩", isError: true });
  });
});
