import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WorldFault } from "./operations.ts";
import { runPrepared, type Scratch, scratch } from "./testing/scratch.ts";

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(" ", ""), "hex");

interface Row {
  readonly row: string;
  readonly before: Uint8Array;
  readonly edit: { readonly oldText: string; readonly newText: string; readonly replaceAll?: boolean };
  /** Bytes, or a part of the error, with which the bytes stay as they were. */
  readonly after: Uint8Array | RegExp;
}

const literal = 'log("$& ok $$ $1 $` $\'");';
const rows: readonly Row[] = [
  {
    row: "a",
    before: Buffer.from('log("done");\n'),
    edit: { oldText: 'log("done");', newText: literal },
    after: Buffer.from(`${literal}\n`),
  },
  {
    row: "b",
    before: hex("61 0d0a 62 0d0a 63 0d0a"),
    edit: { oldText: "b", newText: "B1\nB2" },
    after: hex("610d0a42310d0a42320d0a630d0a"),
  },
  {
    row: "c",
    before: hex("61 0d0a 62 0a 63 0d0a"),
    edit: { oldText: "b", newText: "B" },
    after: hex("610d0a420a630d0a"),
  },
  { row: "d", before: Buffer.from("a\r\nb\r\n"), edit: { oldText: "a\nb", newText: "X" }, after: Buffer.from("X\r\n") },
  {
    row: "e",
    before: hex("efbbbf 78 3d 31 0a"),
    edit: { oldText: "x=1", newText: "x=2" },
    after: hex("efbbbf783d320a"),
  },
  { row: "f", before: hex("63 61 66 e9 0a 78 3d 31 0a"), edit: { oldText: "x=1", newText: "x=2" }, after: /not UTF-8/ },
  { row: "g", before: Buffer.from("a\tb\nc\td\n"), edit: { oldText: " ", newText: "X" }, after: /not found/ },
  {
    row: "h",
    before: Buffer.from("foo   bar baz"),
    edit: { oldText: "foo bar", newText: "XY" },
    after: /not found.*other whitespace/,
  },
  { row: "i", before: Buffer.from("a a"), edit: { oldText: "a", newText: "b" }, after: /2 matches/ },
  {
    row: "i, all",
    before: Buffer.from("a a"),
    edit: { oldText: "a", newText: "b", replaceAll: true },
    after: Buffer.from("b b"),
  },
  {
    row: "j",
    before: Buffer.from("\tx:\n\t\ty\n"),
    edit: { oldText: "y", newText: "z" },
    after: Buffer.from("\tx:\n\t\tz\n"),
  },
  { row: "k", before: Buffer.from("any"), edit: { oldText: "", newText: "X" }, after: /empty/ },
  { row: "same text", before: Buffer.from("any"), edit: { oldText: "a", newText: "a" }, after: /same/ },
  { row: "half a pair", before: Buffer.from("any"), edit: { oldText: "a", newText: "\ud800" }, after: /surrogate/ },
  {
    row: "numbers of read",
    before: Buffer.from("one\ntwo\n"),
    edit: { oldText: "1\tone\n2\ttwo", newText: "x" },
    after: /line numbers/,
  },
  {
    row: "no final newline",
    before: Buffer.from("a\nb"),
    edit: { oldText: "b", newText: "c" },
    after: Buffer.from("a\nc"),
  },
  {
    row: "only line ends",
    before: Buffer.from("a\r\nb"),
    edit: { oldText: "a\r\n", newText: "a\n" },
    after: /line ends/,
  },
];

const bytesIn = (at: Scratch, path: string) => readFileSync(join(at.ws, path));

describe("edit", () => {
  test.each(rows)("[TOOL-20] H21 bytes in, bytes out: row $row", async ({ before, edit, after }) => {
    await using at = scratch();
    at.file("f", before);
    const outcome = await at.call("edit", { path: "f", ...edit });
    if (after instanceof RegExp) {
      expect(outcome.isError).toBe(true);
      expect(outcome.text).toMatch(after);
      expect(bytesIn(at, "f").equals(before)).toBe(true);
    } else {
      expect(outcome.text).toMatch(/^Edited f: \d+ replacement/);
      expect(bytesIn(at, "f").toString("hex")).toBe(Buffer.from(after).toString("hex"));
    }
    expect(readdirSync(at.ws)).toEqual(["f"]);
  });

  test("[TOOL-24] H21 row l: a file that changed since it was read is stale and stays unchanged", async () => {
    await using at = scratch();
    at.file("f", "one\n");
    await at.call("read", { path: "f" });
    at.file("f", "one, changed\n");
    const changes: readonly (readonly [string, JsonObject])[] = [
      ["edit", { path: "f", oldText: "one", newText: "two" }],
      ["write", { path: "f", content: "two" }],
    ];
    for (const [name, args] of changes) {
      const outcome = await at.call(name, args);
      expect(outcome).toMatchObject({ isError: true, text: expect.stringContaining("stale") });
    }
    expect(bytesIn(at, "f").toString()).toBe("one, changed\n");
    await at.call("read", { path: "f" });
    expect((await at.call("edit", { path: "f", oldText: "one,", newText: "two," })).isError).toBe(false);
  });

  test("[TOOL-24] a file that was only touched is not stale", async () => {
    await using at = scratch();
    const path = at.file("f", "one\n");
    await at.call("read", { path: "f" });
    utimesSync(path, 1_000, 1_000);
    expect((await at.call("edit", { path: "f", oldText: "one", newText: "two" })).isError).toBe(false);
  });

  test("[TOOL-25] a file changed by others between the prompt and the answer stays unchanged", async () => {
    await using at = scratch();
    at.file("f", "one\n");
    const prepared = await at.prepare("edit", { path: "f", oldText: "one", newText: "two" });
    at.file("f", "one\nmore\n");
    expect(await runPrepared(prepared)).toMatchObject({ isError: true, text: expect.stringContaining("stale") });
    expect(bytesIn(at, "f").toString()).toBe("one\nmore\n");
  });

  test("[TOOL-25] edits of one step that were prepared together follow one another", async () => {
    await using at = scratch();
    at.file("f", "one\ntwo\n");
    const first = await at.prepare("edit", { path: "f", oldText: "one", newText: "1" });
    const second = await at.prepare("edit", { path: "f", oldText: "two", newText: "2" });
    expect(first.lock).toBe(second.lock);
    expect((await runPrepared(first)).isError).toBe(false);
    expect((await runPrepared(second)).isError).toBe(false);
    expect(bytesIn(at, "f").toString()).toBe("1\n2\n");
  });

  test("[TOOL-26] the prompt shows the diff that will be made, and the page gets it", async () => {
    await using at = scratch();
    at.file("f", "a\nb\n");
    const prepared = await at.prepare("edit", { path: "f", oldText: "b", newText: "B\nC" });
    expect(prepared).toMatchObject({
      effect: "write",
      lock: join(at.ws, "f"),
      subject: { tool: "edit", key: join(at.ws, "f") },
    });
    expect(prepared.subject.diff).toContain("@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n");
    expect(bytesIn(at, "f").toString()).toBe("a\nb\n");
    const { details } = await runPrepared(prepared);
    expect(details).toEqual({ summary: "+2 −1", path: "f", diff: prepared.subject.diff, added: 2, removed: 1 });
  });

  test("[TOOL-27] a replaced file keeps its mode and the link that leads to it", async () => {
    await using at = scratch();
    const path = at.file("dir/f", "one\n");
    chmodSync(path, 0o751);
    symlinkSync("dir/f", join(at.ws, "link"));
    expect((await at.call("edit", { path: "link", oldText: "one", newText: "two" })).isError).toBe(false);
    expect(lstatSync(join(at.ws, "link")).isSymbolicLink()).toBe(true);
    expect(statSync(path).mode & 0o7777).toBe(0o751);
    expect(readFileSync(path, "utf8")).toBe("two\n");
    expect(readdirSync(join(at.ws, "dir"))).toEqual(["f"]);
  });

  test("[TOOL-27] another name of the same file outside of the workspace keeps the old bytes", async () => {
    await using at = scratch();
    const outside = join(at.base, "outside");
    writeFileSync(outside, "one\n");
    linkSync(outside, join(at.ws, "f"));
    await at.call("edit", { path: "f", oldText: "one", newText: "two" });
    expect(readFileSync(outside, "utf8")).toBe("one\n");
    expect(bytesIn(at, "f").toString()).toBe("two\n");
  });

  test("[TOOL-28] a full disk leaves the old file and says so", async () => {
    await using at = scratch({
      change: (real) => ({
        ...real,
        files: { ...real.files, replace: (path) => Promise.reject(new WorldFault("ENOSPC", path)) },
      }),
    });
    at.file("f", "one\n");
    const outcome = await at.call("edit", { path: "f", oldText: "one", newText: "two" });
    expect(outcome).toMatchObject({ isError: true, text: expect.stringContaining("disk is full") });
    expect(bytesIn(at, "f").toString()).toBe("one\n");
  });

  test.each([
    ["missing", /does not exist/],
    ["folder", /is a directory/],
  ])("[TOOL-28] %s can't be edited", async (path, words) => {
    await using at = scratch();
    mkdirSync(join(at.ws, "folder"));
    const outcome = await at.call("edit", { path, oldText: "a", newText: "b" });
    expect(outcome.text).toMatch(words);
  });
});

const piece = fc.oneof(
  fc.constantFrom("a", "\n", "\r\n", "\r", "\t", " ", "\0", "$&", "$1", "\ufeff", "é", "e\u0301", "中", "𝄞", "\u2028"),
  fc.string({ unit: "binary", maxLength: 4 }).map((text) => text.toWellFormed()),
);
const text = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(""));

test("[TOOL-23] whatever bytes a file holds: those outside of the match are the same afterwards, those of the new text literal", async () => {
  await using at = scratch();
  await fc.assert(
    fc.asyncProperty(fc.boolean(), text, text, text, async (marked, head, tail, fresh) => {
      // The first character of a marked file is its mark, and one that looks like it behind that is text.
      const start = `${marked ? "\ufeff" : ""}${head.replace(/^\ufeff+/, "")}`;
      fc.pre(!`${start}${tail}`.includes("⟪"));
      const path = at.file("f", `${start}⟪old⟫${tail}`);
      await at.box.closePlace(at.place.tabId);
      const outcome = await at.call("edit", { path: "f", oldText: "⟪old⟫", newText: `<${fresh}>` });
      expect(outcome).toMatchObject({ isError: false });
      const after = readFileSync(path);
      const [before, behind] = [Buffer.from(start), Buffer.from(tail)];
      expect(after.subarray(0, before.length).equals(before)).toBe(true);
      expect(after.subarray(after.length - behind.length).equals(behind)).toBe(true);
      const written = after.subarray(before.length, after.length - behind.length).toString();
      const asLf = (some: string) => some.replaceAll("\r\n", "\n");
      expect(asLf(written)).toBe(asLf(`<${fresh}>`));
    }),
    { numRuns: 200 },
  );
});

test("[TOOL-28] whatever bytes a file holds: what is no UTF-8 is not changed", async () => {
  await using at = scratch();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 30 }), fc.constantFrom(0xff, 0xc0, 0xf8), async (bytes, wrong) => {
      const before = Buffer.concat([bytes, Buffer.from([wrong]), Buffer.from("⟪old⟫")]);
      const path = at.file("f", before);
      expect((await at.call("edit", { path: "f", oldText: "⟪old⟫", newText: "new" })).text).toMatch(/not UTF-8/);
      expect(readFileSync(path).equals(before)).toBe(true);
    }),
    { numRuns: 50 },
  );
});
